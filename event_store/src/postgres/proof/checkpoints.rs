//! The checkpoints of a log, in their order, as far as they can be read.

use super::reader::LogReader;
use crate::{checkpoint::Checkpoint, codec, port::StoreError, recorded::StreamName};

/// Read at once: some kilobytes each.
const PAGE: u32 = 100;

/// Goes through them from the first one on.
pub(super) struct Checkpoints<'a> {
    reader: &'a LogReader,
    next: u64,
    page: std::vec::IntoIter<(u64, Option<Checkpoint>)>,
    is_last: bool,
}

impl<'a> Checkpoints<'a> {
    pub fn new(reader: &'a LogReader) -> Self {
        Self { reader, next: 1, page: vec![].into_iter(), is_last: false }
    }

    /// The next event's version, and what it says if it can be read.
    pub async fn next(&mut self) -> Result<Option<(u64, Option<Checkpoint>)>, StoreError> {
        if self.page.len() == 0 && !self.is_last {
            // One that has lost its body must not hide the others.
            let page = match self.reader.events(&StreamName::Checkpoint, self.next, PAGE).await {
                Err(StoreError::Corrupt { .. }) => self.one_by_one().await?,
                page => {
                    let page = page?;
                    self.is_last = page.len() < PAGE as usize;
                    let read = |it| (codec::decode_checkpoint(it)).ok();
                    page.iter().map(|it| (it.header.version, read(it))).collect()
                }
            };
            self.next = page.last().map_or(self.next, |(version, _)| version + 1);
            self.page = page.into_iter();
        }
        Ok(self.page.next())
    }

    async fn one_by_one(&mut self) -> Result<Vec<(u64, Option<Checkpoint>)>, StoreError> {
        let last = head(self.reader).await?;
        let mut page = vec![];
        for version in self.next..=last.min(self.next + u64::from(PAGE) - 1) {
            page.push((version, one(self.reader, version).await?));
        }
        self.is_last = page.last().is_none_or(|(version, _)| *version >= last);
        Ok(page)
    }
}

/// How many there are.
pub(super) async fn head(reader: &LogReader) -> Result<u64, StoreError> {
    Ok(reader.stream_head(&StreamName::Checkpoint).await?.version)
}

/// The newest checkpoint of a log, if there is one that can be read.
pub async fn newest(reader: &LogReader) -> Result<Option<Checkpoint>, StoreError> {
    one(reader, head(reader).await?).await
}

/// The one with this number, if it can be read.
pub(super) async fn one(reader: &LogReader, number: u64) -> Result<Option<Checkpoint>, StoreError> {
    match reader.events(&StreamName::Checkpoint, number, 1).await {
        Ok(events) => {
            let event = events.first().filter(|it| it.header.version == number);
            Ok(event.and_then(|it| codec::decode_checkpoint(it).ok()))
        }
        Err(StoreError::Corrupt { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

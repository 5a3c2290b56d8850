//! The bytes of a full bucket: one zstd frame of its hundred messages, each preceded by its length.

use std::{cell::RefCell, io};

use domain::bucket::BUCKET_SIZE;
use zstd::bulk::{Compressor, Decompressor};

use super::message::{Damaged, Reader, put};

const FORMAT: u8 = 1;

/// zstd's default: higher levels gain two or three percent on a bucket for several times the work.
const LEVEL: i32 = 3;

/// Far above a hundred of the largest messages; what claims more is damaged and is not unpacked.
const UNPACKED_BYTES_MAX: usize = 256 << 20;

/// Why a bucket was not sealed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SealError {
    /// The hundredth has come, but others are not there.
    #[error("seal a bucket: it holds {0} messages of a hundred")]
    Gap(usize),
    /// Its messages are larger than messages may be.
    #[error("seal a bucket: it is larger than {UNPACKED_BYTES_MAX} bytes")]
    TooLarge,
    /// The compressor fails.
    #[error("seal a bucket")]
    Compress(#[from] io::Error),
}

/// Packs exactly a hundred stored messages, in order of their slots.
pub(crate) fn seal<'a>(messages: impl ExactSizeIterator<Item = &'a [u8]>) -> Result<Vec<u8>, SealError> {
    if messages.len() as u64 != BUCKET_SIZE {
        return Err(SealError::Gap(messages.len()));
    }
    let mut unpacked = Vec::new();
    for message in messages {
        put(&mut unpacked, message.len() as u64);
        unpacked.extend(message);
    }
    if unpacked.len() > UNPACKED_BYTES_MAX {
        return Err(SealError::TooLarge);
    }
    let mut bytes = vec![FORMAT];
    put(&mut bytes, unpacked.len() as u64);
    bytes.extend(pack(&unpacked)?);
    Ok(bytes)
}

/// An unpacked bucket.
pub(crate) struct Opened(Vec<u8>);

/// Unpacks a sealed bucket.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, Damaged> {
    let mut rest = Reader(bytes);
    if rest.byte()? != FORMAT {
        return Err(Damaged("its bucket's format is not known"));
    }
    let length = rest.number()? as usize;
    if length > UNPACKED_BYTES_MAX {
        return Err(Damaged("its bucket is too large"));
    }
    let unpacked = unpack(rest.0, length).map_err(|_| Damaged("its bucket does not unpack"))?;
    Ok(Opened(unpacked))
}

thread_local! {
    /// Its tables are some MB at most. To make them anew for each bucket was a hundredth of the server's work under load.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    /// Its tables are 100 KB. Making them anew for each bucket took longer than unpacking it.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn pack(messages: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        compressor.compress(messages)
    })
}

fn unpack(frame: &[u8], length: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(kept) => kept,
            None => kept.insert(Decompressor::new()?),
        };
        decompressor.decompress(frame, length)
    })
}

impl Opened {
    /// The stored messages, in order of their slots.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Result<&[u8], Damaged>> {
        let mut rest = Reader(&self.0);
        (0..BUCKET_SIZE).map(move |_| {
            let length = rest.number()? as usize;
            rest.take(length)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_go_in_and_come_out() {
        let messages: Vec<Vec<u8>> = (0..100u8).map(|n| vec![n; n.into()]).collect();
        let opened = open(&seal(messages.iter().map(Vec::as_slice)).unwrap()).unwrap();
        let out: Vec<Vec<u8>> = opened.messages().map(|message| message.unwrap().to_vec()).collect();
        assert_eq!(out, messages, "the empty one too: its body is erased");
    }

    #[test]
    fn ninety_nine_are_no_bucket() {
        let messages = vec![&b"x"[..]; 99];
        assert!(matches!(seal(messages.into_iter()), Err(SealError::Gap(99))));
    }

    #[test]
    fn one_that_is_damaged_leaves_the_next_one_readable() {
        let whole = seal(vec![&b"hello"[..]; 100].into_iter()).unwrap();
        for cut in [10, whole.len() / 2, whole.len() - 1] {
            assert!(open(&whole[..cut]).is_err(), "cut at {cut}");
            assert_eq!(open(&whole).unwrap().messages().next().unwrap().unwrap(), b"hello");
        }
    }

    #[test]
    fn damage_is_noticed() {
        assert!(open(&[]).is_err() && open(&[2, 0]).is_err() && open(&[1, 5, 1, 2, 3]).is_err());
        assert!(open(&[1, 255, 255, 255, 255, 255, 255, 1]).is_err(), "claims to be huge");
    }
}

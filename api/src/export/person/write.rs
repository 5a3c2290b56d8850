//! Writes the files of a person's export.
//!
//! `conversations.ndjson` has a line for each conversation with the hash of its file below `messages/`; `manifest.json`,
//! which comes last, has the hash of that one and of `notifications.ndjson`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use domain::{NotificationId, Seq, Uid};
use event_store::hex;
use projections::{
    notification::{Bounds, InboxItem},
    query::{PageLimit, QueryError, Range, Summary},
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::{
    super::{
        TOOL,
        part::{FileError, Part},
    },
    Models,
    list::{Beginning, Conversation, Counts, List, Listed, There},
};
use crate::rest::answers::ItemAnswer;

/// Of this layout.
const FORMAT: u32 = 1;
/// The longest line that is read again: the largest content that may be configured, escaped at its worst.
pub(super) const LINE_BYTES_MAX: u64 = 16 << 20;
/// Passes over the list of conversations. One that is written to meanwhile moves ahead of where a pass stands.
const PASSES_MAX: u32 = 5;

pub(super) const CONVERSATIONS: &str = "conversations.ndjson";
const NOTIFICATIONS: &str = "notifications.ndjson";
const MANIFEST: &str = "manifest.json";
pub(super) const MESSAGES: &str = "messages";

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum PersonError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The read models.
    #[error("read what the person may see")]
    Query(#[from] QueryError),
    /// What is there is of something else.
    #[error("go on with {path}: it is not an export of {uid} from this log")]
    Other {
        /// The file.
        path: PathBuf,
        /// Who was asked for.
        uid: Uid,
    },
}

/// What it is made from.
pub struct PersonExport<'a> {
    /// Answers.
    pub models: &'a Models,
    /// Whose.
    pub uid: Uid,
    /// Of which log.
    pub log_id: Uuid,
}

/// What there is, with the hashes of the files that say more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of this layout.
    pub format: u32,
    /// Whose.
    pub uid: u64,
    /// Of which log.
    pub log_id: Uuid,
    /// How many conversations.
    pub conversations: u64,
    /// How many messages in all of them, the deleted and expired ones counted.
    pub items: u64,
    /// How many notifications.
    pub notifications: u64,
    /// Conversations of the log, of whomever, that could not be asked: some of theirs may be missing.
    pub parked: u64,
    /// The files that name and hash the others.
    pub files: Vec<Listed>,
    /// Files that belong to the messages. quipu keeps none yet.
    pub media: Vec<String>,
    /// When it was finished, in unix ms.
    pub at: i64,
    /// Which program made it.
    pub tool: String,
}

/// A line of notifications.
#[derive(Serialize)]
struct Notification<'a> {
    id: u64,
    category: &'a str,
    content: &'a RawValue,
    at: i64,
}

/// The export of this person that is already complete there.
pub(super) fn finished(out: &Path, uid: Uid) -> Result<Option<Manifest>, PersonError> {
    let path = out.join(MANIFEST);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(FileError { doing: "read", path, source }.into()),
    };
    let manifest = serde_json::from_slice::<Manifest>(&text).ok().filter(|it| it.uid == uid.get());
    manifest.map(Some).ok_or(PersonError::Other { path, uid })
}

/// Numbers, strings and JSON: serialising these into memory cannot fail.
fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

fn listed(name: &str, part: &Part) -> Listed {
    let blake3 = hex::encode(part.hasher.finalize().as_bytes());
    Listed { file: name.to_owned(), bytes: part.bytes, blake3 }
}

impl PersonExport<'_> {
    /// Writes what is not there yet.
    pub async fn write(&self, out: &Path) -> Result<Manifest, PersonError> {
        let list = self.conversations(out).await?;
        let (notifications, told) = self.notifications(out).await?;
        let manifest = Manifest {
            format: FORMAT,
            uid: self.uid.get(),
            log_id: self.log_id,
            conversations: list.done.len() as u64,
            items: list.items,
            notifications: told,
            parked: self.models.parked(),
            files: vec![list.file, notifications],
            media: vec![],
            at: self.models.clock.now(),
            tool: TOOL.to_owned(),
        };
        let path = out.join(MANIFEST);
        if let Some(mut part) = Part::open(&path, 0, |_| ())? {
            part.line(&line(&manifest))?;
            part.finish()?;
        }
        Ok(manifest)
    }

    async fn conversations(&self, out: &Path) -> Result<List, PersonError> {
        let path = out.join(CONVERSATIONS);
        let mut there = There::default();
        let part = Part::open(&path, LINE_BYTES_MAX, |line| there.note(line))?;
        let beginning = Beginning { uid: self.uid.get(), log_id: self.log_id };
        let other = || PersonError::Other { path: path.clone(), uid: self.uid };
        let Some(mut part) = part else {
            // Finished by a run that was interrupted later.
            return List::read(&path, &beginning)?.ok_or_else(other);
        };
        match &there.beginning {
            None if part.lines == 0 => part.line(&line(&beginning))?,
            Some(begun) if *begun == beginning => {}
            None | Some(_) => return Err(other()),
        }
        for _ in 0..PASSES_MAX {
            let before = there.list.done.len();
            self.pass(out, &mut part, &mut there.list).await?;
            if there.list.done.len() == before {
                break;
            }
        }
        there.list.file = listed(CONVERSATIONS, &part);
        part.finish()?;
        Ok(there.list)
    }

    /// Everything in the list that is not done yet.
    async fn pass(&self, out: &Path, part: &mut Part, list: &mut List) -> Result<(), PersonError> {
        let mut after = None;
        loop {
            let limit = PageLimit::new(PageLimit::MAX).unwrap_or_default();
            let page = self.models.conversations.summaries(self.uid, limit, after).await?;
            for summary in &page.conversations {
                if !list.done.contains(summary.conv.as_str())
                    && let Some(done) = self.conversation(out, summary).await?
                {
                    part.line(&line(&done))?;
                    part.flush()?;
                    list.add(&done);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// None where the person is not in it any more, or it was parked just now.
    async fn conversation(&self, out: &Path, summary: &Summary) -> Result<Option<Conversation>, PersonError> {
        let conv = &summary.conv;
        let name = format!("{MESSAGES}/{conv}.ndjson");
        let path = out.join(&name);
        // Written by a run that was interrupted before it was noted in the list.
        remove(&path)?;
        let mut counts = Counts::default();
        let Some(mut part) = Part::open(&path, LINE_BYTES_MAX, |line| counts.note_line(line))? else {
            return Ok(None);
        };
        let mut last = counts.last_seq.map(Seq::new).unwrap_or(Seq::new(0));
        loop {
            let range = Range { before_seq: None, after_seq: Some(last) };
            let limit = PageLimit::new(PageLimit::MAX).unwrap_or_default();
            let page = match self.models.conversations.page(conv, self.uid, range, limit).await {
                Err(QueryError::NotAMember | QueryError::Parked) => {
                    drop(part);
                    remove(&out.join(format!("{name}.part")))?;
                    return Ok(None);
                }
                page => page?,
            };
            for item in page.items {
                last = item.seq;
                counts.note(item.seq.get(), &item.state);
                part.line(&line(&ItemAnswer::from(item)))?;
            }
            part.flush()?;
            // What is said after the list was read is for another export.
            if !page.has_more || last >= summary.max_seq {
                break;
            }
        }
        let file = listed(&name, &part);
        part.finish()?;
        Ok(Some(counts.of(summary, self.uid, self.models.clock.now(), file)))
    }

    async fn notifications(&self, out: &Path) -> Result<(Listed, u64), PersonError> {
        let path = out.join(NOTIFICATIONS);
        // They are few: an interrupted file begins anew.
        remove(&path)?;
        remove(&out.join(format!("{NOTIFICATIONS}.part")))?;
        let Some(mut part) = Part::open(&path, 0, |_| ())? else {
            return Err(PersonError::Other { path, uid: self.uid });
        };
        let mut last = NotificationId::default();
        loop {
            let bounds = Bounds { after: Some(last), before: None };
            let limit = PageLimit::new(PageLimit::MAX).unwrap_or_default();
            let page = self.models.inboxes.page(self.uid, bounds, limit).await?;
            for InboxItem { id, category, content, at } in &page.items {
                last = *id;
                if let Ok(content) = serde_json::from_str(content) {
                    part.line(&line(&Notification { id: id.get(), category, content, at: *at }))?;
                }
            }
            if !page.has_more {
                break;
            }
        }
        let (file, told) = (listed(NOTIFICATIONS, &part), part.lines);
        part.finish()?;
        Ok((file, told))
    }
}

pub(super) fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(FileError { doing: "begin anew", path: path.to_owned(), source })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

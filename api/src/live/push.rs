//! The JSON of pushes. Their texts are shared between all who get them; the cursor, which is bound to a person, is
//! set in when a frame is written.

use std::sync::Arc;

use domain::{ConvId, Event, GroupChange, History, Invite, Ms, Seq, Settings, Uid};
use event_store::Vector;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    rest::answers::ItemAnswer,
    sync_cursor::{SyncCursors, Unsealed},
};

/// What happened.
#[derive(Debug, Serialize)]
#[serde(tag = "push", rename_all = "snake_case")]
pub enum What<'a> {
    /// A message, as this class of viewers sees it.
    Message {
        /// Where.
        conv_id: &'a str,
        /// As on a page of the history.
        item: ItemAnswer,
    },
    /// A message was taken back.
    Recalled {
        /// Where.
        conv_id: &'a str,
        /// Which one.
        seq: u64,
        /// By whom.
        recalled_by: u64,
        /// When.
        recalled_at: Ms,
    },
    /// Messages are gone, for everybody: these, or everything below `min_seq`.
    Expired {
        /// Where.
        conv_id: &'a str,
        /// Which ones: erased.
        #[serde(skip_serializing_if = "Option::is_none")]
        seqs: Option<Vec<u64>>,
        /// Nothing below is there any more: retention. The viewer's own may be higher.
        #[serde(skip_serializing_if = "Option::is_none")]
        min_seq: Option<u64>,
    },
    /// Somebody has read up to here: the viewer on another device, or another member.
    Read {
        /// Where.
        conv_id: &'a str,
        /// Who.
        uid: u64,
        /// Up to and with this one.
        read_seq: u64,
        /// When.
        read_at: Ms,
    },
    /// The viewer has deleted messages.
    Deleted {
        /// Where.
        conv_id: &'a str,
        /// Which ones.
        seqs: Vec<u64>,
    },
    /// The viewer has restored messages.
    Restored {
        /// Where.
        conv_id: &'a str,
        /// Which ones.
        seqs: Vec<u64>,
    },
    /// The viewer has cleared the history.
    Cleared {
        /// Where.
        conv_id: &'a str,
        /// The lowest seq that they may still see.
        min_seq: u64,
    },
    /// The viewer has taken the conversation out of the list, until its next message.
    Hidden {
        /// Which one.
        conv_id: &'a str,
        /// The lowest seq that they may still see.
        min_seq: u64,
    },
    /// The viewer wants the conversation otherwise in the list.
    Settings {
        /// Which one.
        conv_id: &'a str,
        /// Ahead of the others?
        pinned: bool,
        /// Without noise?
        muted: bool,
    },
    /// People came in or went, or became something else.
    Member {
        /// Where.
        conv_id: &'a str,
        /// Who came in.
        joined: Vec<u64>,
        /// Who is not in any more.
        left: Vec<u64>,
        /// Who is something else now.
        #[serde(skip_serializing_if = "Option::is_none")]
        changed: Option<MemberRole>,
        /// Who did it.
        by: u64,
    },
    /// A group is not any more what it was; only what has changed is named.
    Group {
        /// Which one.
        conv_id: &'a str,
        /// What it is called now.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What its members see now.
        #[serde(skip_serializing_if = "Option::is_none")]
        history: Option<&'static str>,
        /// Do only its owner and admins speak now?
        #[serde(skip_serializing_if = "Option::is_none")]
        mute_all: Option<bool>,
        /// Who brings people in now.
        #[serde(skip_serializing_if = "Option::is_none")]
        invite: Option<&'static str>,
        /// Is it over?
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        dissolved: bool,
        /// Who did it.
        by: u64,
    },
    /// Somebody else is typing. Is not in the log and has no cursor.
    Typing {
        /// Where.
        conv_id: &'a str,
        /// Who.
        uid: u64,
    },
    /// This connection ends: another one has taken its place. Has no cursor.
    Replaced {
        /// The device that has; none where its token names none.
        by: Option<&'a str>,
    },
    /// The operator tells something, to the viewer or to everybody.
    Notification {
        /// Its number in the inbox.
        id: u64,
        /// What it is about.
        category: &'a str,
        /// What it says.
        content: Box<RawValue>,
        /// When it was told.
        create_at: Ms,
    },
    /// The viewer has read notifications.
    NotificationsRead {
        /// Up to and with this one.
        read_id: u64,
    },
    /// Pushes are missing from the cursor on: fetch from there.
    Resync {},
}

/// What a member is now.
#[derive(Debug, Serialize)]
pub struct MemberRole {
    uid: u64,
    role: &'static str,
}

/// A push that is ready but for its cursor.
#[derive(Debug, Clone)]
pub struct Push {
    /// JSON without the closing brace.
    pub text: Arc<str>,
    /// Where the consumer stands with it.
    cursor: Cursor,
}

#[derive(Debug, Clone)]
enum Cursor {
    /// To be sealed for whoever gets it.
    Unsealed(Arc<Unsealed>),
    /// The consumer's own, given back.
    Given(Arc<str>),
}

impl Push {
    /// Of something at or below a vector.
    pub fn new(what: &What<'_>, cursor: &Arc<Unsealed>) -> Self {
        Self { text: open(what), cursor: Cursor::Unsealed(Arc::clone(cursor)) }
    }

    /// Everything from a cursor on is to be fetched.
    pub fn resync(cursor: &Arc<Unsealed>) -> Self {
        Self::new(&What::Resync {}, cursor)
    }

    /// Everything from the consumer's own cursor on is to be fetched.
    pub fn resync_from(cursor: &str) -> Self {
        Self { text: open(&What::Resync {}), cursor: Cursor::Given(cursor.into()) }
    }

    /// The frame for one person.
    pub fn frame(&self, cursors: &SyncCursors, to: Uid) -> String {
        // Sealed cursors are of letters, digits, - and _.
        const BEFORE: &str = ",\"cursor\":\"";
        const BEHIND: &str = "\"}";
        let chars = match &self.cursor {
            Cursor::Unsealed(cursor) => cursor.sealed_chars(),
            Cursor::Given(cursor) => cursor.len(),
        };
        // Exactly as long as it gets: so the socket takes it without another allocation.
        let mut frame = String::with_capacity(self.text.len() + BEFORE.len() + chars + BEHIND.len());
        frame.push_str(&self.text);
        frame.push_str(BEFORE);
        match &self.cursor {
            Cursor::Unsealed(cursor) => cursors.seal(to, cursor, &mut frame),
            Cursor::Given(cursor) => frame.push_str(cursor),
        }
        frame.push_str(BEHIND);
        frame
    }
}

/// A vector as a cursor, for many people.
pub fn unsealed(cursors: &SyncCursors, at: &Vector) -> Arc<Unsealed> {
    Arc::new(cursors.at(at))
}

fn numbers(seqs: &[Seq]) -> Vec<u64> {
    seqs.iter().map(|seq| seq.get()).collect()
}

fn people(uids: &[Uid]) -> Vec<u64> {
    uids.iter().map(|uid| uid.get()).collect()
}

/// Who hears of something, of those who are in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    /// Everybody.
    All,
    /// Who may see this message.
    Sees(Seq),
    /// Who may see any of the messages that the event names, and of those only.
    SeesSome,
    /// This person, on all devices.
    Only(Uid),
    /// This person, and in small conversations the others.
    Reader(Uid),
}

/// What an event says that is not a message, and to whom. No `_` arm: a new event stops the build until somebody says
/// who may know of it.
pub fn later<'a>(conv_id: &'a str, event: &Event) -> Option<(What<'a>, Whom)> {
    Some(match event {
        Event::MessageSent { .. } | Event::HoldPlaced { .. } | Event::HoldLifted { .. } => return None,
        Event::HistoryExpired { up_to_seq } => {
            (What::Expired { conv_id, seqs: None, min_seq: Some(up_to_seq.next().get()) }, Whom::All)
        }
        Event::BodiesErased { uid: _, seqs } => {
            (What::Expired { conv_id, seqs: Some(numbers(seqs)), min_seq: None }, Whom::SeesSome)
        }
        Event::MessageRecalled { seq, by, at } => {
            let (recalled_by, recalled_at) = (by.get(), *at);
            (What::Recalled { conv_id, seq: seq.get(), recalled_by, recalled_at }, Whom::Sees(*seq))
        }
        Event::MessagesDeletedFor { uid, seqs } => {
            (What::Deleted { conv_id, seqs: numbers(seqs) }, Whom::Only(*uid))
        }
        Event::MessagesRestoredFor { uid, seqs } => {
            (What::Restored { conv_id, seqs: numbers(seqs) }, Whom::Only(*uid))
        }
        Event::ReadAdvanced { uid, read_seq, at } => {
            (read(conv_id, *uid, *read_seq, *at), Whom::Reader(*uid))
        }
        Event::HistoryCleared { uid, up_to_seq } => {
            (What::Cleared { conv_id, min_seq: up_to_seq.next().get() }, Whom::Only(*uid))
        }
        Event::ConversationHidden { uid, up_to_seq } => {
            (What::Hidden { conv_id, min_seq: up_to_seq.next().get() }, Whom::Only(*uid))
        }
        Event::SettingsChanged { uid, settings: Settings { pinned, muted } } => {
            (What::Settings { conv_id, pinned: *pinned, muted: *muted }, Whom::Only(*uid))
        }
        Event::RoleChanged { uid, role, by } => {
            let changed = Some(MemberRole { uid: uid.get(), role: role.name() });
            (What::Member { conv_id, joined: vec![], left: vec![], changed, by: by.get() }, Whom::All)
        }
        Event::GroupChanged { change, by } => (group(conv_id, change.clone(), false, *by), Whom::All),
        Event::GroupDissolved { by } => (group(conv_id, GroupChange::default(), true, *by), Whom::All),
        Event::GroupCreated { owner, .. } => (member(conv_id, &[*owner], &[], *owner), Whom::All),
        Event::MembersJoined { uids, by, .. } => (member(conv_id, uids, &[], *by), Whom::All),
        Event::MemberLeft { uid, by, .. } => (member(conv_id, &[], &[*uid], *by), Whom::All),
    })
}

/// Of a read position.
pub fn read(conv_id: &str, uid: Uid, read_seq: Seq, read_at: Ms) -> What<'_> {
    What::Read { conv_id, uid: uid.get(), read_seq: read_seq.get(), read_at }
}

fn member<'a>(conv_id: &'a str, joined: &[Uid], left: &[Uid], by: Uid) -> What<'a> {
    What::Member { conv_id, joined: people(joined), left: people(left), changed: None, by: by.get() }
}

fn group(conv_id: &str, change: GroupChange, dissolved: bool, by: Uid) -> What<'_> {
    let GroupChange { name, history, mute_all, invite } = change;
    let (history, invite) = (history.map(History::name), invite.map(Invite::name));
    What::Group { conv_id, name, history, mute_all, invite, dissolved, by: by.get() }
}

/// Of a message.
pub fn message(conv: &ConvId, item: ItemAnswer) -> What<'_> {
    What::Message { conv_id: conv.as_str(), item }
}

/// A frame without a cursor, of something that is not in the log.
pub fn passing(what: &What<'_>) -> String {
    // Plain values: serialising these into memory cannot fail.
    serde_json::to_string(what).unwrap_or_default()
}

fn open(what: &What<'_>) -> Arc<str> {
    let mut text = passing(what);
    text.pop();
    text.into()
}

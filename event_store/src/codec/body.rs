//! The bodies' JSON. Field names are part of the data: never renamed, only added to with a new schema version.

use domain::{
    ClientMsgId, Content, Event, Flags, GroupChange, History, Invite, MsgId, MsgType, Reason, Role, Sender,
    Seq, Settings, Source, Uid, ids::Ms,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use super::{DecodeError, EventType};
use crate::recorded::Header;

/// What the header does not say of a message.
#[derive(Serialize, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Recalled {
    seq: u64,
    by: u64,
    at: Ms,
}

#[derive(Serialize, Deserialize)]
struct Seqs {
    uid: u64,
    seqs: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct Read {
    uid: u64,
    read_seq: u64,
    at: Ms,
}

#[derive(Serialize, Deserialize)]
struct Cleared {
    uid: u64,
    up_to_seq: u64,
}

/// Where an imported membership comes from.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    conv: String,
    at: Ms,
    nth: u64,
}

#[derive(Serialize, Deserialize)]
struct Created {
    name: String,
    owner: u64,
    history: String,
    announced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Line>,
}

#[derive(Serialize, Deserialize)]
struct Joined {
    uids: Vec<u64>,
    joined_seq: u64,
    by: u64,
    announced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Line>,
}

#[derive(Serialize, Deserialize)]
struct Left {
    uid: u64,
    by: u64,
    announced: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Line>,
}

#[derive(Serialize, Deserialize)]
struct Settled {
    uid: u64,
    pinned: bool,
    muted: bool,
}

#[derive(Serialize, Deserialize)]
struct RoleOf {
    uid: u64,
    role: String,
    by: u64,
}

/// What stays is left out.
#[derive(Serialize, Deserialize)]
struct Changed {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mute_all: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invite: Option<String>,
    by: u64,
}

#[derive(Serialize, Deserialize)]
struct Expired {
    up_to_seq: u64,
}

/// `by` is 0 for an operator at the command line.
#[derive(Serialize, Deserialize)]
struct Held {
    by: u64,
    reason: String,
    at: Ms,
}

#[derive(Serialize, Deserialize)]
struct By {
    by: u64,
}

impl From<&Source> for Line {
    fn from(source: &Source) -> Self {
        Self { conv: source.conv.clone(), at: source.at, nth: source.nth }
    }
}

impl From<Line> for Source {
    fn from(line: Line) -> Self {
        Self { conv: line.conv, at: line.at, nth: line.nth }
    }
}

pub(super) fn write(event: &Event) -> Vec<u8> {
    match event {
        Event::MessageSent { content, mentions, reply_to, .. } => message(content, mentions, *reply_to),
        Event::MessageRecalled { seq, by, at } => json(&Recalled { seq: seq.get(), by: by.get(), at: *at }),
        Event::MessagesDeletedFor { uid, seqs } | Event::MessagesRestoredFor { uid, seqs } => {
            json(&Seqs { uid: uid.get(), seqs: seqs.iter().map(|seq| seq.get()).collect() })
        }
        Event::ReadAdvanced { uid, read_seq, at } => {
            json(&Read { uid: uid.get(), read_seq: read_seq.get(), at: *at })
        }
        Event::HistoryCleared { uid, up_to_seq } | Event::ConversationHidden { uid, up_to_seq } => {
            json(&Cleared { uid: uid.get(), up_to_seq: up_to_seq.get() })
        }
        Event::SettingsChanged { uid, settings: Settings { pinned, muted } } => {
            json(&Settled { uid: uid.get(), pinned: *pinned, muted: *muted })
        }
        Event::HistoryExpired { up_to_seq } => json(&Expired { up_to_seq: up_to_seq.get() }),
        Event::BodiesErased { uid, seqs } => {
            json(&Seqs { uid: uid.get(), seqs: seqs.iter().map(|seq| seq.get()).collect() })
        }
        Event::HoldPlaced { by, reason, at } | Event::HoldLifted { by, reason, at } => {
            json(&Held { by: by.get(), reason: reason.as_str().to_owned(), at: *at })
        }
        Event::GroupCreated { name, owner, history, announced, source } => json(&Created {
            name: name.clone(),
            owner: owner.get(),
            history: history.name().into(),
            announced: *announced,
            source: source.as_ref().map(Line::from),
        }),
        Event::MembersJoined { uids, joined_seq, by, announced, source } => json(&Joined {
            uids: uids.iter().map(|uid| uid.get()).collect(),
            joined_seq: joined_seq.get(),
            by: by.get(),
            announced: *announced,
            source: source.as_ref().map(Line::from),
        }),
        Event::MemberLeft { uid, by, announced, source } => json(&Left {
            uid: uid.get(),
            by: by.get(),
            announced: *announced,
            source: source.as_ref().map(Line::from),
        }),
        Event::RoleChanged { uid, role, by } => {
            json(&RoleOf { uid: uid.get(), role: role.name().into(), by: by.get() })
        }
        Event::GroupChanged { change: GroupChange { name, history, mute_all, invite }, by } => {
            json(&Changed {
                name: name.clone(),
                history: history.map(|history| history.name().into()),
                mute_all: *mute_all,
                invite: invite.map(|invite| invite.name().into()),
                by: by.get(),
            })
        }
        Event::GroupDissolved { by } => json(&By { by: by.get() }),
    }
}

/// The content goes in as the text that it already is, without being parsed again.
fn message(content: &Content, mentions: &[Uid], reply_to: Option<Seq>) -> Vec<u8> {
    let mut body = Vec::with_capacity(content.json().len() + 16);
    body.extend_from_slice(b"{\"content\":");
    body.extend_from_slice(content.json().as_bytes());
    if !mentions.is_empty() {
        body.extend_from_slice(b",\"mentions\":");
        body.extend_from_slice(&json(&mentions.iter().map(|uid| uid.get()).collect::<Vec<_>>()));
    }
    if let Some(seq) = reply_to {
        body.extend_from_slice(format!(",\"reply_to\":{seq}").as_bytes());
    }
    body.push(b'}');
    body
}

/// Numbers, strings and lists of them: serialising these into memory cannot fail.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

pub(super) fn read(event_type: EventType, header: &Header, bytes: &[u8]) -> Result<Event, DecodeError> {
    Ok(match event_type {
        EventType::MessageSent => read_message(header, serde_json::from_slice(bytes)?)?,
        EventType::MessageRecalled => {
            let Recalled { seq, by, at } = serde_json::from_slice(bytes)?;
            Event::MessageRecalled { seq: seq_of(seq)?, by: uid_of(by)?, at }
        }
        EventType::MessagesDeletedFor => {
            let Seqs { uid, seqs } = serde_json::from_slice(bytes)?;
            Event::MessagesDeletedFor { uid: uid_of(uid)?, seqs: each(seqs, seq_of)? }
        }
        EventType::MessagesRestoredFor => {
            let Seqs { uid, seqs } = serde_json::from_slice(bytes)?;
            Event::MessagesRestoredFor { uid: uid_of(uid)?, seqs: each(seqs, seq_of)? }
        }
        EventType::ReadAdvanced => {
            let Read { uid, read_seq, at } = serde_json::from_slice(bytes)?;
            Event::ReadAdvanced { uid: uid_of(uid)?, read_seq: seq_of(read_seq)?, at }
        }
        EventType::HistoryCleared => {
            let Cleared { uid, up_to_seq } = serde_json::from_slice(bytes)?;
            Event::HistoryCleared { uid: uid_of(uid)?, up_to_seq: Seq::new(up_to_seq) }
        }
        EventType::ConversationHidden => {
            let Cleared { uid, up_to_seq } = serde_json::from_slice(bytes)?;
            Event::ConversationHidden { uid: uid_of(uid)?, up_to_seq: Seq::new(up_to_seq) }
        }
        EventType::SettingsChanged => {
            let Settled { uid, pinned, muted } = serde_json::from_slice(bytes)?;
            Event::SettingsChanged { uid: uid_of(uid)?, settings: Settings { pinned, muted } }
        }
        EventType::HistoryExpired => {
            let Expired { up_to_seq } = serde_json::from_slice(bytes)?;
            Event::HistoryExpired { up_to_seq: seq_of(up_to_seq)? }
        }
        EventType::BodiesErased => {
            let Seqs { uid, seqs } = serde_json::from_slice(bytes)?;
            Event::BodiesErased { uid: uid_of(uid)?, seqs: each(seqs, seq_of)? }
        }
        EventType::HoldPlaced => {
            let Held { by, reason, at } = serde_json::from_slice(bytes)?;
            Event::HoldPlaced { by: sender_of(by)?, reason: Reason::from_log(reason), at }
        }
        EventType::HoldLifted => {
            let Held { by, reason, at } = serde_json::from_slice(bytes)?;
            Event::HoldLifted { by: sender_of(by)?, reason: Reason::from_log(reason), at }
        }
        EventType::GroupCreated => {
            let Created { name, owner, history, announced, source } = serde_json::from_slice(bytes)?;
            let (history, source) = (history_of(&history)?, source.map(Source::from));
            Event::GroupCreated { name, owner: uid_of(owner)?, history, announced, source }
        }
        EventType::MembersJoined => {
            let Joined { uids, joined_seq, by, announced, source } = serde_json::from_slice(bytes)?;
            let (uids, joined_seq) = (each(uids, uid_of)?, Seq::new(joined_seq));
            let source = source.map(Source::from);
            Event::MembersJoined { uids, joined_seq, by: uid_of(by)?, announced, source }
        }
        EventType::MemberLeft => {
            let Left { uid, by, announced, source } = serde_json::from_slice(bytes)?;
            let source = source.map(Source::from);
            Event::MemberLeft { uid: uid_of(uid)?, by: uid_of(by)?, announced, source }
        }
        EventType::RoleChanged => {
            let RoleOf { uid, role, by } = serde_json::from_slice(bytes)?;
            let role = Role::parse(&role).ok_or(DecodeError::Field("role"))?;
            Event::RoleChanged { uid: uid_of(uid)?, role, by: uid_of(by)? }
        }
        EventType::GroupChanged => {
            let Changed { name, history, mute_all, invite, by } = serde_json::from_slice(bytes)?;
            let history = history.as_deref().map(history_of).transpose()?;
            let invite_of = |name: &str| Invite::parse(name).ok_or(DecodeError::Field("invite"));
            let invite = invite.as_deref().map(invite_of).transpose()?;
            Event::GroupChanged { change: GroupChange { name, history, mute_all, invite }, by: uid_of(by)? }
        }
        EventType::GroupDissolved => {
            let By { by } = serde_json::from_slice(bytes)?;
            Event::GroupDissolved { by: uid_of(by)? }
        }
    })
}

/// A body with one more field: what a step of `upcast` adds.
pub(super) fn with(body: &[u8], field: &str, value: impl Into<Value>) -> Result<Vec<u8>, DecodeError> {
    let mut fields: Map<String, Value> = serde_json::from_slice(body)?;
    fields.insert(field.to_owned(), value.into());
    Ok(json(&fields))
}

fn history_of(name: &str) -> Result<History, DecodeError> {
    History::parse(name).ok_or(DecodeError::Field("history"))
}

fn read_message(header: &Header, body: Message<'_>) -> Result<Event, DecodeError> {
    let msg_type =
        header.msg_type.and_then(|n| MsgType::new(n.into())).ok_or(DecodeError::Field("msg_type"))?;
    Ok(Event::MessageSent {
        msg_id: MsgId::new(header.msg_id.ok_or(DecodeError::Field("msg_id"))?.get()),
        sender: Sender::new(header.actor).map_err(|_| DecodeError::Field("actor"))?,
        content: Content::from_log(msg_type, body.content.get().to_owned()),
        flags: Flags::new(header.flags.ok_or(DecodeError::Field("flags"))?),
        mentions: each(body.mentions, uid_of)?,
        reply_to: body.reply_to.map(seq_of).transpose()?,
        client_msg_id: ClientMsgId::new(header.client_msg_id.ok_or(DecodeError::Field("client_msg_id"))?),
        create_at: header.create_at.ok_or(DecodeError::Field("create_at"))?,
    })
}

fn sender_of(by: u64) -> Result<Sender, DecodeError> {
    Sender::new(by).map_err(|_| DecodeError::Field("by"))
}

fn uid_of(uid: u64) -> Result<Uid, DecodeError> {
    Uid::new(uid).map_err(|_| DecodeError::Field("uid"))
}

fn seq_of(seq: u64) -> Result<Seq, DecodeError> {
    Seq::of_message(seq).map_err(|_| DecodeError::Field("seq"))
}

fn each<T>(items: Vec<u64>, check: impl Fn(u64) -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
    items.into_iter().map(check).collect()
}

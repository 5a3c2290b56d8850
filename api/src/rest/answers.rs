//! The JSON of what is answered, field by field as the contract has it. Shared with the WebSocket.

use domain::{Fact, Flags, Ms, Recall, Role, Sender, Sent, Seq, Uid};
use projections::query::{Item, ItemState, MemberRow, Page, Quote, QuoteState, ReadPosition, Summary};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use domain::ConvId;

/// To a send.
#[derive(Debug, Serialize, ToSchema)]
pub struct SentAnswer {
    conv_id: String,
    /// Its number in the conversation, from 1.
    seq: u64,
    /// Unique everywhere; never an order.
    msg_id: String,
    /// When it was said, unix ms.
    create_at: Ms,
    /// Was it there already?
    pub duplicate: bool,
}

impl SentAnswer {
    /// Of what the command handler answered.
    pub fn new(conv: &ConvId, sent: &Sent) -> Self {
        Self {
            conv_id: conv.to_string(),
            seq: sent.seq.get(),
            msg_id: sent.msg_id.to_string(),
            create_at: sent.create_at,
            duplicate: sent.duplicate,
        }
    }
}

/// A page of a history.
#[derive(Debug, Serialize, ToSchema)]
pub struct PageAnswer {
    conv_id: String,
    /// The newest message's seq; 0 where there is none.
    max_seq: u64,
    /// The lowest seq that the viewer may see; max_seq + 1 where they see none.
    min_seq: u64,
    /// Is there more that the viewer may see, further in the direction of the paging?
    has_more: bool,
    /// Ascending by seq, consecutive.
    items: Vec<ItemAnswer>,
}

impl From<Page> for PageAnswer {
    fn from(page: Page) -> Self {
        Self {
            conv_id: page.conv.to_string(),
            max_seq: page.max_seq.get(),
            min_seq: page.min_seq.get(),
            has_more: page.has_more,
            items: page.items.into_iter().map(Into::into).collect(),
        }
    }
}

/// One message as the viewer sees it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum ItemAnswer {
    /// All of it.
    Normal(MessageAnswer),
    /// Taken back: the content keeps its JSON type and is empty.
    Recalled(RecalledAnswer),
    /// Deleted by the viewer, for the viewer.
    Deleted {
        /// Its number.
        seq: u64,
    },
    /// Its body is gone.
    Expired {
        /// Its number.
        seq: u64,
    },
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
pub struct MessageAnswer {
    seq: u64,
    msg_id: String,
    /// 0 for the system.
    sender_id: u64,
    msg_type: u8,
    /// A string or an object, as msg_type has it; of the system (msg_type 10) a `SystemContent`.
    #[schema(value_type = serde_json::Value)]
    content: Json,
    /// Bit 0 recalled, bit 1 at_all.
    flags: u16,
    create_at: Ms,
    client_msg_id: String,
    mentions: Vec<u64>,
    reply_to: Option<QuoteAnswer>,
}

/// A recalled message.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecalledAnswer {
    #[serde(flatten)]
    message: MessageAnswer,
    recalled: RecallAnswer,
}

/// By whom and when a message was recalled.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecallAnswer {
    by: u64,
    at: Ms,
}

/// The quoted message as the viewer sees it.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuoteAnswer {
    seq: u64,
    /// Null where the viewer may not see it.
    sender_id: Option<u64>,
    /// Null where the viewer may not see it.
    msg_type: Option<u8>,
    /// The beginning of a text; empty once it is recalled or not to be seen.
    excerpt: String,
    /// normal, recalled, deleted, expired or hidden.
    state: &'static str,
}

/// JSON that was checked when it came in and is sent as it stands.
#[derive(Debug)]
pub struct Json(String);

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // One scan, no tree. What is not JSON cannot be in the log; if it were, it must not break the page.
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_none(),
        }
    }
}

impl From<Item> for ItemAnswer {
    fn from(item: Item) -> Self {
        let seq = item.seq.get();
        match item.state {
            ItemState::Normal(fact) => Self::Normal(MessageAnswer::new(fact, item.quote)),
            ItemState::Recalled(fact, recall) => Self::Recalled(RecalledAnswer::new(fact, recall)),
            ItemState::Deleted => Self::Deleted { seq },
            ItemState::Expired => Self::Expired { seq },
        }
    }
}

impl MessageAnswer {
    fn new(fact: Fact, quote: Option<Quote>) -> Self {
        Self {
            seq: fact.seq.get(),
            msg_id: fact.msg_id.to_string(),
            sender_id: fact.sender.get(),
            msg_type: fact.content.msg_type().get(),
            content: Json(fact.content.into_json()),
            flags: fact.flags.get(),
            create_at: fact.create_at,
            client_msg_id: fact.client_msg_id.get().to_string(),
            mentions: fact.mentions.into_iter().map(Uid::get).collect(),
            reply_to: quote.map(Into::into),
        }
    }
}

impl RecalledAnswer {
    /// Sender, type, times and flags stay; what was said, whom it named and what it answered do not.
    fn new(fact: Fact, recall: Recall) -> Self {
        let content = Json(fact.content.emptied().to_owned());
        let flags = fact.flags.with(Flags::RECALLED).get();
        let message = MessageAnswer { content, flags, mentions: vec![], ..MessageAnswer::new(fact, None) };
        Self { message, recalled: RecallAnswer { by: recall.by.get(), at: recall.at } }
    }
}

impl From<Quote> for QuoteAnswer {
    fn from(quote: Quote) -> Self {
        let state = match quote.state {
            QuoteState::Normal => "normal",
            QuoteState::Recalled => "recalled",
            QuoteState::Deleted => "deleted",
            QuoteState::Expired => "expired",
            QuoteState::Hidden => "hidden",
        };
        Self {
            seq: quote.seq.get(),
            sender_id: quote.sender.map(Sender::get),
            msg_type: quote.msg_type.map(|it| it.get()),
            excerpt: quote.excerpt,
            state,
        }
    }
}

/// A conversation as one member sees it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConversationAnswer {
    conv_id: String,
    /// single or group.
    kind: &'static str,
    /// The other one of a single chat; oneself in one's own notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_uid: Option<u64>,
    /// A group's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    max_seq: u64,
    min_seq: u64,
    read_seq: u64,
    /// How far the other one of a single chat has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_read_seq: Option<u64>,
    unread: u64,
    /// The first unread message that names the viewer or everybody.
    mention_seq: Option<u64>,
    /// The newest normal or recalled one that the viewer may see.
    last_message: Option<ItemAnswer>,
    updated_at: Ms,
    /// Does it stand ahead of the others in the viewer's list?
    pinned: bool,
    /// Does the viewer want no noise of it?
    muted: bool,
}

impl ConversationAnswer {
    /// Of one person's conversation.
    pub fn new(summary: Summary, viewer: Uid) -> Self {
        Self {
            kind: if summary.conv.is_group() { "group" } else { "single" },
            peer_uid: summary.conv.peer_of(viewer).map(Uid::get),
            conv_id: summary.conv.to_string(),
            name: summary.name,
            max_seq: summary.max_seq.get(),
            min_seq: summary.min_seq.get(),
            read_seq: summary.read_seq.get(),
            peer_read_seq: summary.peer_read_seq.map(Seq::get),
            unread: summary.unread,
            mention_seq: summary.mention_seq.map(Seq::get),
            last_message: summary.last_message.map(Into::into),
            updated_at: summary.updated_at,
            pinned: summary.settings.pinned,
            muted: summary.settings.muted,
        }
    }
}

/// How far a member has read.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadPositionAnswer {
    uid: u64,
    read_seq: u64,
    /// 0 for one who never read.
    read_at: Ms,
}

impl From<ReadPosition> for ReadPositionAnswer {
    fn from(it: ReadPosition) -> Self {
        Self { uid: it.uid.get(), read_seq: it.read_seq.get(), read_at: it.read_at }
    }
}

/// A member of a group.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemberAnswer {
    uid: u64,
    /// owner, admin or member.
    role: &'static str,
    /// The head when they joined.
    joined_seq: u64,
}

impl From<MemberRow> for MemberAnswer {
    fn from(it: MemberRow) -> Self {
        Self { uid: it.uid.get(), role: Role::name(it.role), joined_seq: it.joined_seq.get() }
    }
}

#[cfg(test)]
mod tests;

//! What the read models answer: plain values, each already seen through the viewer's eyes.

use domain::{ConvId, Fact, History, Invite, Ms, MsgType, Recall, Role, Sender, Seq, Settings, Uid};

/// Which part of a history. Both bounds are exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// Only what is below it.
    pub before_seq: Option<Seq>,
    /// Only what is above it.
    pub after_seq: Option<Seq>,
}

/// Items on a page: 1..=200, 50 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit(u32);

impl PageLimit {
    /// The most.
    pub const MAX: u32 = 200;

    /// As many as there may be.
    pub const fn most() -> Self {
        Self(Self::MAX)
    }

    /// None outside 1..=200.
    pub fn new(limit: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&limit).then_some(Self(limit))
    }

    /// The number itself.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(50)
    }
}

/// A page of a history: exactly one item for every seq that it covers, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Whose.
    pub conv: ConvId,
    /// The head.
    pub max_seq: Seq,
    /// The lowest seq that the viewer may see.
    pub min_seq: Seq,
    /// Is there more that the viewer may see, further in the direction of the paging?
    pub has_more: bool,
    /// Consecutive, ascending.
    pub items: Vec<Item>,
}

/// One message as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its number.
    pub seq: Seq,
    /// What is seen.
    pub state: ItemState,
    /// Of a normal message that answers another.
    pub quote: Option<Quote>,
}

/// What is seen of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemState {
    /// All of it.
    Normal(Fact),
    /// The header; the body must not leave.
    Recalled(Fact, Recall),
    /// Deleted by this viewer.
    Deleted,
    /// Its body is gone.
    Expired,
}

/// The quoted message, as this viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Its number.
    pub seq: Seq,
    /// From whom; none where the viewer may not see it.
    pub sender: Option<Sender>,
    /// Its type; none where the viewer may not see it.
    pub msg_type: Option<MsgType>,
    /// The beginning of its text; empty once it is recalled or not to be seen.
    pub excerpt: String,
    /// What became of it.
    pub state: QuoteState,
}

/// What became of a quoted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteState {
    /// As it was.
    Normal,
    /// Taken back.
    Recalled,
    /// Deleted by this viewer.
    Deleted,
    /// Gone.
    Expired,
    /// Outside of what this viewer may see.
    Hidden,
}

/// A conversation as one member sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Which one.
    pub conv: ConvId,
    /// A group's name.
    pub name: Option<String>,
    /// The head.
    pub max_seq: Seq,
    /// The lowest seq that the viewer may see.
    pub min_seq: Seq,
    /// How far the viewer has read.
    pub read_seq: Seq,
    /// How far the other one of a single chat has read.
    pub peer_read_seq: Option<Seq>,
    /// What the viewer has not read.
    pub unread: u64,
    /// The first unread message that names the viewer or everybody.
    pub mention_seq: Option<Seq>,
    /// The newest normal or recalled one that the viewer may see.
    pub last_message: Option<Item>,
    /// When the last message was appended, or the group was created or joined; 0 where nothing ever happened.
    pub updated_at: Ms,
    /// How the viewer wants it in their list.
    pub settings: Settings,
}

/// Where a conversation stands in somebody's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlace {
    /// Pinned ones come first.
    pub pinned: bool,
    /// Then the newest activity.
    pub at: Ms,
    /// Then by id.
    pub conv: ConvId,
}

/// A page of conversations: pinned ones first, then the newest activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryPage {
    /// The conversations.
    pub conversations: Vec<Summary>,
    /// Where the next page begins: after this place.
    pub next: Option<ListPlace>,
}

/// How far one member has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPosition {
    /// Who.
    pub uid: Uid,
    /// How far.
    pub read_seq: Seq,
    /// When it was last raised; 0 for one who never read.
    pub read_at: Ms,
}

/// Who has read a message: of the members now who may see it, without its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readers {
    /// How many have.
    pub read_count: u64,
    /// How many have not.
    pub unread_count: u64,
    /// A page of those who have, ascending by uid.
    pub read: Vec<Uid>,
    /// A page of those who have not, ascending by uid.
    pub unread: Vec<Uid>,
    /// Where the next page begins: after this uid.
    pub next: Option<Uid>,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    /// Who.
    pub uid: Uid,
    /// As what.
    pub role: Role,
    /// The head when they joined.
    pub joined_seq: Seq,
}

/// A group's own facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    /// What it is called.
    pub name: String,
    /// What members see.
    pub history: History,
    /// May only the owner and the admins send?
    pub mute_all: bool,
    /// Who may bring people in.
    pub invite: Invite,
    /// Is it over?
    pub dissolved: bool,
    /// How many are in it.
    pub members: u64,
    /// Who owns it; none where the last owner has left.
    pub owner: Option<Uid>,
    /// What the viewer is in it.
    pub role: Role,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// Also where there is no such conversation.
    #[error("you are not a member of this conversation")]
    NotAMember,
    /// Nothing has this seq, or nothing that the viewer may see.
    #[error("there is no such message here that you may see")]
    MessageNotFound,
    /// An event of this conversation could not be applied; it waits for an operator.
    #[error("this conversation is parked")]
    Parked,
    /// The read models did not reach the log in time.
    #[error("the read models are behind the log")]
    Behind,
    /// The database is away.
    #[error("{doing}: the read models are unavailable")]
    Unavailable {
        /// What we were doing.
        doing: &'static str,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

//! Limits on how fast commands may come. Who hands a command over counts; here it is only known that this one is over
//! a limit, because a repeat is recognised before limits, and only the worker recognises one.

/// Of what there were too many commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// One person's, in all conversations.
    Person,
    /// Everybody's, in one conversation.
    Conversation,
}

impl Limit {
    /// As metrics name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Conversation => "conversation",
        }
    }
}

/// A command came too early. It may only be answered if nothing is appended for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many commands: the limit of this {}", .limit.name())]
pub struct OverLimit {
    /// Which limit.
    pub limit: Limit,
    /// When there is room again, in seconds; at least 1.
    pub retry_after_s: u32,
}

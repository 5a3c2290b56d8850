//! Compliance: whoever looks at what other people said is recorded before the answer goes out, in the `audit` stream,
//! and so is whoever was refused. At the command line it is the operator, named by the account of the machine.

pub mod as_of;
pub mod bar;
pub mod checkpointer;
pub mod hold;
pub mod key;
pub mod line;
pub mod program;
pub mod replay;
pub mod session;
pub mod transcript;
pub mod verify;

use domain::Sender;
use event_store::{Access, AccessError, Accessor, Action};
use serde_json::{Map, Value};

pub use session::Session;

use crate::{
    app::App,
    auth::Caller,
    problem::{Code, Problem},
};

/// What is looked at, and what else was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// A conv_id, a uid, a msg_id; none for all.
    pub subject: Option<String>,
    /// Bounds, viewer, reason.
    pub detail: Map<String, Value>,
}

impl Asked {
    /// About this.
    pub fn about(subject: impl ToString) -> Self {
        Self { subject: Some(subject.to_string()), detail: Map::new() }
    }

    /// And this; none is left out.
    pub fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        self.detail.extend(value.map(|value| (name.to_owned(), value.into())));
        self
    }

    /// As it is recorded.
    pub fn access(self, action: Action, allowed: bool) -> Access {
        let Self { subject, detail } = self;
        Access { action: action.name().to_owned(), subject, detail, allowed }
    }
}

impl Caller {
    /// As they stand in the record of accesses.
    pub fn accessor(&self) -> Accessor {
        let (device, correlation_id) = (self.device.clone(), self.correlation_id);
        Accessor { by: Sender::Person(self.uid), device, correlation_id }
    }
}

impl App {
    /// Records that a caller does something that wants the role `compliance`. To be called before anything is looked
    /// up, so that a refusal tells nothing.
    pub async fn record_access(&self, caller: &Caller, action: Action, asked: Asked) -> Result<(), Problem> {
        self.record_access_of(caller, caller.roles.compliance, action, asked).await
    }

    /// The same where other roles may, too.
    pub async fn record_access_of(
        &self,
        caller: &Caller,
        allowed: bool,
        action: Action,
        asked: Asked,
    ) -> Result<(), Problem> {
        self.accesses.record(caller.accessor(), asked.access(action, allowed)).await?;
        if allowed { Ok(()) } else { Err(Problem::new(Code::NotAllowed, "this wants the role compliance")) }
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        let code = match error {
            AccessError::Busy => Code::TooManyRequests,
            AccessError::Unavailable => Code::Unavailable,
        };
        Self::new(code, error)
    }
}

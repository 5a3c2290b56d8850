//! What went wrong, told apart by code: refused data, an unknown outcome, or no answer at all.

use std::{error::Error, fmt, sync::Arc};

use tokio_postgres::error::SqlState;

use crate::port::StoreError;

type Source = Box<dyn Error + Send + Sync>;

/// Nothing was done.
pub(super) fn unavailable(doing: &'static str, source: impl Into<Source>) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
}

/// It may have been done.
pub(super) fn unknown(doing: &'static str, source: impl Into<Source>) -> StoreError {
    StoreError::Unknown { doing, source: source.into() }
}

/// One failure of what several were waiting for.
pub(super) struct Shared(Arc<StoreError>);

impl Shared {
    pub fn new(error: StoreError) -> Self {
        Self(Arc::new(error))
    }

    /// The same for one more of them.
    pub fn again(&self) -> StoreError {
        let source = || Source::from(Cause(Arc::clone(&self.0)));
        match &*self.0 {
            StoreError::Unavailable { doing, .. } => StoreError::Unavailable { doing, source: source() },
            StoreError::Unknown { doing, .. } => StoreError::Unknown { doing, source: source() },
            StoreError::Refused { doing, .. } => StoreError::Refused { doing, source: source() },
            StoreError::Corrupt { doing, what } => StoreError::Corrupt { doing, what: what.clone() },
        }
    }
}

/// What lies behind a failure, said as it says it itself.
#[derive(Debug)]
struct Cause(Arc<StoreError>);

impl Cause {
    fn cause(&self) -> &(dyn Error + 'static) {
        self.0.source().unwrap_or(&*self.0)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.cause(), f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().source()
    }
}

/// What came back makes no sense.
pub(super) fn corrupt(doing: &'static str, what: String) -> StoreError {
    StoreError::Corrupt { doing, what }
}

/// A statement of an append failed. All of its transaction was already on its way, COMMIT too.
pub(super) fn of_append(doing: &'static str, error: tokio_postgres::Error) -> StoreError {
    match error.code().map(|state| state.code()) {
        // Data exceptions, constraint violations, limits exceeded: these rows will never be taken. A unique
        // violation also says that decision and log disagree; decided again alone, it will not come back.
        Some(code)
            if ["22", "23", "54"].contains(&class(code)) || code == SqlState::RAISE_EXCEPTION.code() =>
        {
            StoreError::Refused { doing, source: error.into() }
        }
        // The server ends the session (57P…) or the connection broke (08…, no code at all): was it committed?
        Some(code) if ["57", "08"].contains(&class(code)) => {
            StoreError::Unknown { doing, source: error.into() }
        }
        None => StoreError::Unknown { doing, source: error.into() },
        // Lock timeouts, deadlocks, a full disk, too many connections …: rolled back.
        Some(_) => StoreError::Unavailable { doing, source: error.into() },
    }
}

fn class(code: &str) -> &str {
    code.get(..2).unwrap_or_default()
}

//! What went wrong, told apart by code: refused data, an unknown outcome, or no answer at all.

use std::error::Error;

use tokio_postgres::error::SqlState;

use crate::port::StoreError;

type Source = Box<dyn Error + Send + Sync>;

/// Nothing was done.
pub(super) fn unavailable(doing: &'static str, source: impl Into<Source>) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
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

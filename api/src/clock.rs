//! The real clock. The only file that reads it.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::Ms;
use event_store::Clock;

/// The machine's clock. May step back; whoever needs more must see to it.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else is handed")]
    fn now(&self) -> Ms {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ms::try_from(since.as_millis()).unwrap_or(Ms::MAX)
    }
}

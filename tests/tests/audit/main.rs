//! Compliance from outside: what was said, recalled and deleted is replayed whole, and whoever looks is recorded.

mod record;
mod replay;

//! The REST resources. A handler is one breath: parse, build the command, hand it over, answer.

pub mod act;
pub mod answers;
pub mod audit;
pub mod batch;
pub mod conversations;
pub mod groups;
pub mod lists;
pub mod marks;
pub mod members;
pub mod messages;
pub mod notifications;
pub mod operations;
pub mod presence;
pub mod projections;
pub mod readers;
pub mod sync;
pub mod system;

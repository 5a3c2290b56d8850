//! Proof of a log: whatever is done to it behind quipu's back is found, and the event is named.

mod command;
mod export;
mod program;
mod tamper;
mod world;

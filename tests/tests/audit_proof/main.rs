//! Proof of a log: whatever is done to it behind quipu's back is found, and the event is named.

mod tamper;
mod world;

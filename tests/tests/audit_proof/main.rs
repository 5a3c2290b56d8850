//! Proof of a log: whatever is done to it behind quipu's back is found, and the event is named.

mod command;
mod export;
mod interval;
mod person;
mod program;
mod rest;
mod tamper;
mod world;

//! Sync from outside: three days offline, nothing lost.

mod batch;
mod contract;
mod cost;
mod cursor;
mod device;
mod devices;
mod said;

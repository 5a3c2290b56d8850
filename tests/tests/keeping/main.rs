//! How long what was said is kept: legal holds, retention, erasure; and that what is gone is gone from every file.

mod holds;

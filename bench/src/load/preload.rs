//! Messages that are there before anything is measured, so that a log of any size can be.
//!
//! They go through `quipu import`: the same handler, the same appends, the same projectors as everything else, at some
//! tens of thousands a second. Ten million take minutes, so what is there already is not put there again.

use std::{
    env,
    fs::{self, File},
    io::{self, BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use hyper::Method;
use serde_json::Value;
use tokio::{
    process::Command,
    time::{Instant, sleep},
};

use super::{LoadError, Server, case::Stage};
use crate::{client::rest::Rest, own_server::without_settings};

/// Conversations that are talked in at the same time: fewer than an import looks ahead for the second person.
const AT_ONCE: u64 = 1000;
/// Lengths of conversations lie within so many messages, so that their last buckets are filled differently.
const SPREAD: u64 = 100;
/// Both people have to speak, or an import takes it for one person's notes.
const LEAST: u64 = 2;
/// The moment of the first line, in unix milliseconds; each next one is a millisecond later.
const BEGAN: u64 = 1_750_000_000_000;
/// The read models may be behind an import by so much.
const CAUGHT_UP_AFTER_MAX: Duration = Duration::from_secs(1800);
/// Between two looks whether they have caught up.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How many messages lie where.
#[derive(Debug)]
pub struct Preload {
    conversations: u64,
    each: u64,
}

impl Preload {
    /// About so many messages over so many conversations; none where there are to be none.
    pub fn of(messages: u64, conversations: u64) -> Option<Self> {
        let each = (messages / conversations.max(1)).max(LEAST);
        (messages > 0).then_some(Self { conversations, each })
    }

    /// Messages of one conversation.
    pub fn length(&self, place: u64) -> u64 {
        let spread = self.each.min(SPREAD);
        // 37 has no divisor in common with 100: neighbours differ.
        (self.each - spread / 2 + place * 37 % spread).max(LEAST)
    }

    /// Puts them there, unless they are.
    pub async fn put(
        &self,
        stage: &Stage,
        server: &Server<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<(), LoadError> {
        if self.is_there(stage, server).await? {
            return Ok(());
        }
        let began = Instant::now();
        let file = env::temp_dir().join(format!("quipu-bench-preload-{}.ndjson", std::process::id()));
        let mut imported = 0;
        let mut first = 0;
        while first < self.conversations {
            let places = first..self.conversations.min(first + AT_ONCE);
            first = places.end;
            imported += self.write(stage, places, imported, &file).map_err(LoadError::Preload)?;
            let done = import(server, &file).await;
            fs::remove_file(&file).map_err(LoadError::Preload)?;
            done?;
            writeln!(out, "{imported} messages imported after {} s", began.elapsed().as_secs())?;
        }
        let imported = began.elapsed();
        while !self.is_there(stage, server).await? {
            if began.elapsed() > imported + CAUGHT_UP_AFTER_MAX {
                return Err(LoadError::Refused("the read models do not catch up".into()));
            }
            sleep(LOOK_EVERY).await;
        }
        writeln!(out, "read models had caught up {} s later", (began.elapsed() - imported).as_secs())?;
        Ok(())
    }

    /// Has the last of these conversations all of its messages? False, too, while the read models are behind.
    async fn is_there(&self, stage: &Stage, server: &Server<'_>) -> Result<bool, LoadError> {
        let last = self.conversations - 1;
        let mut person = Rest::new(server.address, stage.last_token());
        let path = format!("/v1/conversations/{}", stage.absent(last));
        let here = person.ask::<Value>(Method::GET, &path, None).await.map_err(LoadError::SetUp)?;
        // The list waits for all shards.
        let list = person.ask::<Value>(Method::GET, "/v1/conversations?limit=1", None).await;
        let caught_up = list.map_err(LoadError::SetUp)?.is_ok();
        Ok(caught_up && here.is_ok_and(|here| here["max_seq"].as_u64() >= Some(self.length(last))))
    }

    /// One message of each, round after round, the two people in turn.
    fn write(&self, stage: &Stage, places: Range<u64>, before: u64, file: &Path) -> io::Result<u64> {
        let mut out = BufWriter::new(File::create(file)?);
        let longest = places.clone().map(|place| self.length(place)).max().unwrap_or(0);
        let mut lines = 0;
        for nth in 0..longest {
            for place in places.clone().filter(|place| nth < self.length(*place)) {
                let (conv, people) = (stage.absent(place), stage.people(place));
                let (sender, ts) = (people[(nth % 2) as usize], BEGAN + before + lines);
                write!(out, r#"{{"conv":"{conv}","kind":"single","sender":{sender},"ts":{ts},"#)?;
                writeln!(out, r#""type":"text","text":"{}"}}"#, text(nth, place, stage.bytes()))?;
                lines += 1;
            }
        }
        out.flush()?;
        Ok(lines)
    }
}

/// No two alike, and words that compress as words do.
fn text(nth: u64, place: u64, bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "quipu", "knot", "cord", "tomorrow", "lunch", "station", "please", "send", "again", "photo",
        "because", "never", "yellow", "train", "market", "yes",
    ];
    let mut text = format!("{nth} {place}");
    let mut seed = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    while text.len() < bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push(' ');
        text.push_str(WORDS[(seed >> 60) as usize]);
    }
    text.truncate(bytes);
    text
}

/// By this process's own binary, beside the server.
async fn import(server: &Server<'_>, file: &Path) -> Result<(), LoadError> {
    let program: PathBuf = env::current_exe().map_err(LoadError::Preload)?;
    let mut command = Command::new(program);
    without_settings(&mut command);
    command
        .arg("import")
        .arg(file)
        .args(server.store)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true);
    let status = command.status().await.map_err(LoadError::Preload)?;
    if status.success() { Ok(()) } else { Err(LoadError::Import(status)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_differ_and_come_to_what_was_asked_for() {
        let preload = Preload::of(1_000_000, 1000).unwrap();
        let lengths: Vec<u64> = (0..1000).map(|place| preload.length(place)).collect();
        assert!(lengths.iter().all(|length| (950..1050).contains(length)), "{lengths:?}");
        assert_eq!(lengths.iter().sum::<u64>(), 999_500);
        assert_eq!(Preload::of(1, 1000).unwrap().length(7), LEAST);
        assert!(Preload::of(0, 1000).is_none());
    }

    #[test]
    fn texts_have_their_size_and_no_two_are_alike() {
        assert_eq!((text(1, 2, 100).len(), text(1, 2, 1).len()), (100, 1));
        assert!(text(1, 2, 100) != text(2, 1, 100));
    }
}

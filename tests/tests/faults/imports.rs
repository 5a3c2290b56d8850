//! An import beside a running server, while the importer and the Postgres of both are killed in the middle of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::ConvId;
use event_store::{Shard, shard::SHARDS};
use serde_json::json;
use tests::corpus::{Expected, expected};
use tests::dice::Dice;
use tests::import::{file, line};
use tests::process::{Process, Site, until};
use tokio_postgres::Client;

use super::PROGRAM;

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Importer,
    Postgres,
    Both,
}

/// Each of them this often.
const ROUNDS_EACH: usize = 2;
/// Lines that come with each round.
const LINES: u64 = 800;
/// The kill comes this much later than that the importer is in the middle, at most. In ms.
const LATER_MAX_MS: u64 = 100;

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_dies_again_and_again_comes_to_exactly_its_files() {
    let mut dice = Dice::of_this_run();
    let site = Site::new(PROGRAM);
    let server = site.serve().await;
    let mut export = Export::default();
    let mut files = Vec::new();
    let mut victims = [Victim::Importer, Victim::Postgres, Victim::Both].repeat(ROUNDS_EACH);
    dice.shuffle(&mut victims);
    for victim in victims {
        // The export has grown since: what died before is behind it, and all is imported again.
        files.push(export.grow(site.scratch(), &mut dice));
        let held = dice.one(&CONVERSATIONS);
        let lock = hold_shard_of(&site, &held.conv_id()).await;
        let mut importer = import(&site, &files);
        until("the importer waits for its turn at a shard", async || somebody_waits(&lock).await).await;
        assert!(!importer.has_ended());
        tokio::time::sleep(Duration::from_millis(dice.below(LATER_MAX_MS))).await;
        if matches!(victim, Victim::Postgres | Victim::Both) {
            site.kill_postgres().await;
        }
        if matches!(victim, Victim::Importer | Victim::Both) {
            importer.kill().await;
        } else {
            // It may have healed, or have given up: both are good, and say so.
            let ended = importer.ended().await;
            assert!([Some(0), Some(1)].contains(&ended.code()), "{ended:?}");
        }
        drop(lock);
    }

    let expected = expected(&files);
    assert_eq!(expected.lines, LINES * files.len() as u64);
    let mut importer = import(&site, &files);
    assert_eq!(importer.ended().await.code(), Some(0), "{}", importer.output());
    let mut importer = import(&site, &files);
    assert_eq!(importer.ended().await.code(), Some(0));
    let nothing_new = format!("0 imported, {} skipped, 0 refused, 0 joins and leaves", expected.lines);
    assert!(importer.output().starts_with(&nothing_new), "{}", importer.output());

    site.caught_up().await;
    site.ready().await;
    exactly(&site, &expected).await;
    server.kill().await;
}

async fn exactly(site: &Site, expected: &Expected) {
    assert_eq!(expected.conversations.len(), CONVERSATIONS.len());
    for (conv, said) in &expected.conversations {
        // The first to speak is in it to the end.
        let items = site.person(said[0].sender).history(conv).await;
        assert_eq!(items.len(), said.len(), "{conv}");
        for (item, said) in items.iter().zip(said) {
            let found = (&item["sender_id"], &item["create_at"], &item["msg_type"], &item["content"]);
            let (sender, ts, msg_type) = (json!(said.sender), json!(said.ts), json!(said.msg_type));
            assert_eq!(found, (&sender, &ts, &msg_type, &said.content), "{conv}, seq {}", item["seq"]);
        }
    }
}

fn import(site: &Site, files: &[PathBuf]) -> Process {
    let mut arguments = vec!["import"];
    arguments.extend(files.iter().map(|path| path.to_str().expect("a path of ASCII")));
    site.start(&arguments)
}

/// Nobody appends to its shard until this is dropped, or Postgres dies.
async fn hold_shard_of(site: &Site, conv: &str) -> Client {
    let conv = ConvId::parse(conv).expect("a conversation");
    let client = site.connect().await;
    let shard = i32::from(Shard::of(&conv, SHARDS).get());
    client.execute("select pg_advisory_lock(7171, $1)", &[&shard]).await.expect("hold a shard");
    client
}

async fn somebody_waits(client: &Client) -> bool {
    let waits = "select from pg_locks where locktype = 'advisory' and classid = 7171 and not granted limit 1";
    client.query_opt(waits, &[]).await.expect("look at the locks").is_some()
}

/// A conversation of the export: its name, and who talks in it.
struct Conversation {
    name: &'static str,
    people: &'static [u64],
}

const CONVERSATIONS: [Conversation; 7] = [
    Conversation { name: "Lunch", people: &[11, 12, 13, 14, 15] },
    Conversation { name: "ops", people: &[21, 12, 13, 24] },
    Conversation { name: "book club", people: &[31, 32, 13, 11] },
    Conversation { name: "a", people: &[11, 12] },
    Conversation { name: "b", people: &[13, 11] },
    Conversation { name: "c", people: &[21, 24] },
    Conversation { name: "d", people: &[32, 31] },
];

impl Conversation {
    fn kind(&self) -> &'static str {
        if self.people.len() > 2 { "group" } else { "single" }
    }

    fn conv_id(&self) -> String {
        match self.people {
            [a, b] => format!("p2p-{}-{}", a.min(b), a.max(b)),
            _ => format!("grp-{}", self.name.to_lowercase().replace(' ', "-")),
        }
    }
}

/// An export that grows: groups with joins and leaves, single chats, equal lines in earnest, all interleaved.
#[derive(Default)]
struct Export {
    files: usize,
    lines: u64,
    ts: i64,
    /// Whoever has left a group, by its place among the conversations.
    gone: Vec<(usize, u64)>,
}

impl Export {
    /// The next file.
    fn grow(&mut self, folder: &Path, dice: &mut Dice) -> PathBuf {
        self.files += 1;
        self.ts = self.ts.max(1_700_000_000_000) + 1000;
        let mut lines = Vec::new();
        for (index, it) in CONVERSATIONS.iter().enumerate() {
            // Who is in a single chat shows from the lines of its two.
            let first = match self.files {
                1 if it.people.len() == 2 => it.people,
                1 => &it.people[..1],
                _ => &[],
            };
            for &sender in first {
                lines.push(self.line(index, sender, "text", "hello"));
            }
        }
        while (lines.len() as u64) < LINES {
            // About a third has the time of the line before.
            self.ts += dice.below(3) as i64;
            let index = dice.below(CONVERSATIONS.len() as u64) as usize;
            let it = &CONVERSATIONS[index];
            let sender = *dice.one(it.people);
            let gone = self.gone.iter().position(|gone| *gone == (index, sender));
            let is_group = it.people.len() > 2;
            match (dice.below(12), gone) {
                (_, Some(gone)) => {
                    self.gone.swap_remove(gone);
                    lines.push(self.line(index, sender, "join", ""));
                }
                (0, None) if is_group && sender != it.people[0] => {
                    self.gone.push((index, sender));
                    lines.push(self.line(index, sender, "leave", ""));
                }
                (1, None) => lines.push(self.line(index, sender, "image", "[image]")),
                (2..5, None) => {
                    // Said twice within one time, and meant so.
                    lines.push(self.line(index, sender, "text", "ok"));
                    lines.push(self.line(index, sender, "text", "ok"));
                }
                (_, None) => {
                    let text = format!("line {} 字", self.lines);
                    lines.push(self.line(index, sender, "text", &text));
                }
            }
        }
        lines.truncate(LINES as usize);
        file(folder, &format!("export-{}.ndjson", self.files), &lines)
    }

    fn line(&mut self, index: usize, sender: u64, line_type: &str, text: &str) -> String {
        self.lines += 1;
        let it = &CONVERSATIONS[index];
        line(it.name, it.kind(), sender, self.ts, line_type, text)
    }
}

//! What an import of some files must come to, worked out the plain way: everything in memory, no cleverness, and
//! no code of the import's own.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Names another folder for the corpus than `../shared/corpus` beside the workspace.
pub const CORPUS_VARIABLE: &str = "QUIPU_CORPUS";
/// Bytes that a text may have.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A message as its line says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The uid.
    pub sender: u64,
    /// When, in unix milliseconds.
    pub ts: i64,
    /// Its msg_type.
    pub msg_type: u8,
    /// A string, or an object that says that the file is missing.
    pub content: Value,
}

/// What these files come to.
#[derive(Debug, Default)]
pub struct Expected {
    /// By conv_id: its messages, seq 1, 2, 3 …
    pub conversations: BTreeMap<String, Vec<Said>>,
    /// By conv_id: who is in it at the end.
    pub members: BTreeMap<String, BTreeSet<u64>>,
    /// All lines.
    pub lines: u64,
    /// Lines that say that somebody joins or leaves.
    pub membership_lines: u64,
    /// File and number of each line that cannot be imported.
    pub refused: Vec<(PathBuf, u64)>,
}

impl Expected {
    /// Messages in all conversations.
    pub fn messages(&self) -> u64 {
        self.conversations.values().map(|messages| messages.len() as u64).sum()
    }
}

/// The corpus' files in order of their names; none where it is not there, which is said on standard error.
pub fn files() -> Option<Vec<PathBuf>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = std::env::var_os(CORPUS_VARIABLE).map_or(beside, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        say(&format!(
            "SKIPPED: there is no corpus at {}; {CORPUS_VARIABLE} names another place",
            folder.display()
        ));
        return None;
    };
    let paths = entries.map(|entry| entry.expect("list the corpus").path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|it| it == "ndjson")).collect();
    files.sort();
    Some(files)
}

#[expect(clippy::print_stderr, reason = "a test that does nothing says so")]
fn say(text: &str) {
    eprintln!("{text}");
}

/// What these files come to, in this order.
pub fn expected(files: &[PathBuf]) -> Expected {
    let lines: Vec<(&PathBuf, u64, Value)> = files.iter().flat_map(lines).collect();
    let mut speakers: HashMap<&str, Vec<u64>> = HashMap::new();
    for (_, _, line) in &lines {
        let speakers = speakers.entry(text(line, "conv")).or_default();
        let sender = number(line, "sender");
        if !speakers.contains(&sender) {
            speakers.push(sender);
        }
    }
    let mut expected = Expected { lines: lines.len() as u64, ..Expected::default() };
    for (file, number_in_file, line) in &lines {
        let (conv, said) = (text(line, "conv"), text(line, "text"));
        let conv_id = if text(line, "kind") == "group" {
            let plain = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' };
            format!("grp-{}", conv.to_lowercase().chars().map(plain).collect::<String>())
        } else {
            let mut pair = speakers[conv].clone();
            pair.sort_unstable();
            format!("p2p-{}-{}", pair[0], pair[pair.len() - 1])
        };
        let sender = number(line, "sender");
        let missing = || json!({"missing": true, "label": said});
        let (msg_type, content) = match text(line, "type") {
            change @ ("join" | "leave") => {
                expected.membership_lines += 1;
                let members = expected.members.entry(conv_id).or_default();
                if change == "join" {
                    members.insert(sender);
                } else {
                    members.remove(&sender);
                }
                continue;
            }
            "text" if said.is_empty() || said.len() > TEXT_BYTES_MAX => {
                expected.refused.push(((*file).clone(), *number_in_file));
                continue;
            }
            "text" => (1, json!(said)),
            "image" => (2, missing()),
            "voice" => (3, missing()),
            "video" => (4, missing()),
            "file" => (5, missing()),
            "location" => (6, missing()),
            "card" => (7, missing()),
            other => panic!("the corpus has no type {other}"),
        };
        // Whoever says something is in.
        expected.members.entry(conv_id.clone()).or_default().insert(sender);
        let ts = number(line, "ts") as i64;
        expected.conversations.entry(conv_id).or_default().push(Said { sender, ts, msg_type, content });
    }
    expected
}

fn lines(file: &PathBuf) -> Vec<(&PathBuf, u64, Value)> {
    let text = std::fs::read_to_string(file).expect("read a file of the corpus");
    text.lines()
        .zip(1..)
        .map(|(line, n)| (file, n, serde_json::from_str(line).expect("a line is JSON")))
        .collect()
}

fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().expect("a line's field is a string")
}

fn number(line: &Value, field: &str) -> u64 {
    line[field].as_u64().expect("a line's field is a number")
}

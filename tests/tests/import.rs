//! An import brings each line in once, in the order of the files, wherever it was interrupted. Long because a log
//! that goes away has to implement the whole port.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use domain::{ConvId, Event, Ms, MsgId, Seq, StreamKind, Uid};
use event_store::chain::Unsealed;
use event_store::memory::MemoryEventStore;
use event_store::port::{Batch, Found, ShardHead, Since, Wanted};
use event_store::{
    Append, CommandHandler, EventStore, LogInfo, Position, Recorded, Shard, StoreError, StreamName, Turn,
    codec,
};
use proptest::prelude::*;
use quipu::import::{Arguments, Counts, End, ImportError, LOOK_AHEAD_LINES, Target, command};
use tests::ScratchDir;
use tests::import::{Fact, Heard, events, facts, file, import, import_until, line, memory_node};
use tests::log::{group, node, request, surroundings};
use tokio::sync::watch;
use uuid::Uuid;

const ANA: u64 = 1001;
const BO: u64 = 1002;
const CY: u64 = 1003;

/// A file with a group that has joins, leaves, equal lines, and lines that are refused.
fn busy_group() -> Vec<String> {
    let team =
        |sender, ts, line_type: &str, text: &str| line("Team #1", "group", sender, ts, line_type, text);
    vec![
        team(CY, 1, "leave", ""),
        team(ANA, 2, "text", "hello"),
        team(BO, 3, "join", ""),
        team(BO, 4, "text", "ok"),
        team(BO, 4, "text", "ok"),
        team(BO, 4, "text", ""),
        team(BO, 5, "leave", ""),
        team(BO, 5, "leave", ""),
        team(BO, 6, "text", "one more thing"),
        team(CY, 6, "image", "a.png"),
        team(CY, 6, "leave", ""),
        team(BO, 6, "join", ""),
        team(BO, 7, "leave", ""),
        team(CY, 8, "text", "ok"),
    ]
}

fn single(conv: &str, sender: u64, ts: Ms, text: &str) -> String {
    line(conv, "single", sender, ts, "text", text)
}

fn texts(facts: &[Fact], conv: &str) -> Vec<(u64, String)> {
    let said = |fact: &Fact| match &fact.4 {
        Event::MessageSent { sender, content, .. } if fact.0 == conv => {
            Some((sender.get(), serde_json::from_str(content.json()).unwrap_or_default()))
        }
        _ => None,
    };
    facts.iter().filter_map(said).collect()
}

fn members_of(facts: &[Fact], conv: &str) -> Vec<u64> {
    let mut members = Vec::new();
    for (_, _, _, _, event) in facts.iter().filter(|fact| fact.0 == conv) {
        match event {
            Event::GroupCreated { owner, .. } => members.push(owner.get()),
            Event::MembersJoined { uids, .. } => members.extend(uids.iter().map(|uid| uid.get())),
            Event::MemberLeft { uid, .. } => members.retain(|member| *member != uid.get()),
            _ => {}
        }
    }
    members
}

#[tokio::test]
async fn every_line_is_counted_once() {
    let folder = ScratchDir::new();
    let files = [file(folder.path(), "a.ndjson", &busy_group())];
    let (store, handler) = memory_node();
    let (outcome, refusals) = import(&files, &handler).await;
    let counts = Counts { lines: 14, imported: 6, memberships: 4, skipped: 3, refused: 1, joined: 4 };
    assert_eq!((outcome.counts, outcome.counts.unanswered()), (counts, 0));
    assert!(matches!(outcome.end, End::Complete));
    assert_eq!((refusals.len(), refusals[0].line, refusals[0].reason.as_str()), (1, 6, "content is empty"));
    let facts = facts(&*store).await;
    assert_eq!(facts.len() as u64, counts.imported + counts.memberships + counts.joined);
    assert_eq!(members_of(&facts, "grp-team--1"), [ANA, CY]);
    assert!(matches!(&facts[6].4, Event::GroupCreated { name, owner, history: domain::History::All, .. }
        if name == "Team #1" && owner.get() == ANA));
}

#[tokio::test]
async fn a_second_run_adds_nothing() {
    let folder = ScratchDir::new();
    let files = [file(folder.path(), "a.ndjson", &busy_group())];
    let (store, handler) = memory_node();
    import(&files, &handler).await;
    let before = facts(&*store).await;
    let (outcome, _) = import(&files, &handler).await;
    let counts = Counts { lines: 14, skipped: 13, refused: 1, ..Counts::default() };
    assert_eq!(outcome.counts, counts);
    assert_eq!(facts(&*store).await, before);
}

#[tokio::test]
async fn equal_lines_in_earnest_are_both_imported() {
    let folder = ScratchDir::new();
    let ok = |ts| single("c", ANA, ts, "ok");
    let lines = [ok(1), single("c", BO, 1, "ok"), ok(1), ok(2), ok(2), ok(2)];
    let files = [file(folder.path(), "a.ndjson", &lines)];
    let (store, handler) = memory_node();
    let (outcome, _) = import(&files, &handler).await;
    assert_eq!((outcome.counts.imported, outcome.counts.skipped), (6, 0));
    let senders: Vec<u64> = texts(&facts(&*store).await, "p2p-1001-1002").iter().map(|said| said.0).collect();
    assert_eq!(senders, [ANA, BO, ANA, ANA, ANA, ANA]);
}

#[tokio::test]
async fn two_conversations_of_one_pair_are_one() {
    let folder = ScratchDir::new();
    let first = [single("x", ANA, 50, "1"), single("x", BO, 51, "2")];
    let second = [single("y", BO, 10, "3"), single("y", ANA, 11, "4")];
    let files = [file(folder.path(), "b.ndjson", &first), file(folder.path(), "a.ndjson", &second)];
    let (store, handler) = memory_node();
    import(&files, &handler).await;
    let said = texts(&facts(&*store).await, "p2p-1001-1002");
    assert_eq!(said.into_iter().map(|said| said.1).collect::<Vec<_>>(), ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn a_single_chat_has_two_people() {
    let folder = ScratchDir::new();
    let mut lines = vec![single("alone", ANA, 1, "milk"), single("alone", ANA, 2, "bread")];
    lines.extend([single("pair", ANA, 1, "hi"), line("pair", "single", BO, 2, "join", "")]);
    lines.extend([single("pair", CY, 3, "me too"), single("pair", ANA, 4, "no")]);
    let files = [file(folder.path(), "a.ndjson", &lines)];
    let (store, handler) = memory_node();
    let (outcome, refusals) = import(&files, &handler).await;
    let counts = Counts { lines: 6, imported: 4, skipped: 1, refused: 1, ..Counts::default() };
    assert_eq!(outcome.counts, counts);
    assert_eq!(refusals[0].reason, "a single chat has two people, and p2p-1001-1002 has them already");
    let facts = facts(&*store).await;
    assert_eq!(texts(&facts, "p2p-1001-1001").len(), 2);
    assert_eq!(texts(&facts, "p2p-1001-1002").len(), 2);
}

#[tokio::test]
async fn the_second_speaker_is_found_however_late() {
    let folder = ScratchDir::new();
    let many = LOOK_AHEAD_LINES as i64 + 10;
    // In one piece, and across two files.
    let mut long: Vec<String> = (0..many).map(|ts| single("long", ANA, ts, "…")).collect();
    long.push(single("split", BO, 1, "begun here"));
    let rest = [single("split", CY, 2, "ended there")];
    long.insert(many as usize, single("long", BO, many, "at last"));
    // With other conversations in between: so far, and no further.
    let mut mixed = vec![single("near", ANA, 1, "a"), single("far", CY, 1, "b")];
    mixed.extend((0..LOOK_AHEAD_LINES as i64 - 2).map(|ts| line("g", "group", ANA, ts, "text", "x")));
    mixed.extend([single("near", CY, 2, "c")]);
    mixed.extend((0..many).map(|ts| line("h", "group", ANA, ts, "text", "x")));
    mixed.extend([single("far", BO, 2, "d")]);
    let files = [("a", &long[..]), ("b", &rest), ("c", &mixed)]
        .map(|(name, lines)| file(folder.path(), &format!("{name}.ndjson"), lines));
    let (store, handler) = memory_node();
    let (_, refusals) = import(&files, &handler).await;
    let facts = facts(&*store).await;
    let count = |conv| texts(&facts, conv).len();
    assert_eq!(count("p2p-1001-1002"), many as usize + 1);
    assert_eq!((count("p2p-1002-1003"), count("p2p-1001-1003"), count("p2p-1003-1003")), (2, 2, 1));
    assert_eq!(refusals.len(), 1, "the second speaker of a conversation that came back too late");
}

#[tokio::test]
async fn whoever_left_later_is_not_brought_back() {
    let folder = ScratchDir::new();
    let files = [file(folder.path(), "a.ndjson", &busy_group())];
    let (store, handler) = memory_node();
    import(&files, &handler).await;
    let remove = |uid: u64| domain::Command::RemoveMember {
        by: Uid::new(ANA).unwrap(),
        uid: Uid::new(uid).unwrap(),
        stamp: tests::log::stamp(),
    };
    handler.handle(group("team--1"), request(remove(CY))).await.unwrap();
    let before = facts(&*store).await;
    import(&files, &handler).await;
    assert_eq!(facts(&*store).await, before);
    assert_eq!(members_of(&before, "grp-team--1"), [ANA]);
}

#[tokio::test]
async fn what_cannot_be_imported_is_named_and_the_rest_goes_on() {
    let folder = ScratchDir::new();
    let ok = |n: i64| single("c", ANA, n, "ok");
    let long_line = single("c", ANA, 3, &"x".repeat(2 * 1024 * 1024));
    let long_name = line(&"n".repeat(65), "group", ANA, 1, "text", "x");
    let lines = [
        "\u{feff}".to_owned() + &ok(1),
        "not json".into(),
        String::new(),
        single("c", ANA, 3, &"x".repeat(96_000)),
        long_line,
        ok(2),
        line("c", "single", ANA, 3, "sticker", "x"),
        long_name,
        "  ".to_owned() + &ok(4) + "\r",
        "{\"conv\":\"\u{1b}[2J\"}".into(),
    ];
    let files = [file(folder.path(), "a.ndjson", &lines)];
    let (store, handler) = memory_node();
    let (outcome, refusals) = import(&files, &handler).await;
    let counts = Counts { lines: 9, imported: 2, refused: 7, ..Counts::default() };
    assert_eq!((outcome.counts, texts(&facts(&*store).await, "p2p-1001-1001").len()), (counts, 2));
    let shown: Vec<(u64, &str)> = refusals.iter().map(|it| (it.line, it.reason.as_str())).collect();
    let expected = [
        (2, "not a line of an export: expected ident at column 2"),
        (4, "content has 96000 bytes; the limit is 65536"),
        (5, "the line has more than 1048576 bytes"),
        (6, "ts goes down inside its conversation, from 3"),
        (7, "there is no type \"sticker\""),
        (8, "a group's slug is 1 to 64 of a-z, 0-9, _ and -"),
    ];
    assert_eq!(shown[..6], expected);
    assert!(shown[6].0 == 10 && !shown[6].1.contains('\u{1b}'));
    assert!(refusals.iter().all(|refusal| refusal.to_string().starts_with(&*files[0].to_string_lossy())));
}

#[tokio::test]
async fn a_file_that_is_not_there_stops_the_import_before_it_begins() {
    let folder = ScratchDir::new();
    let good = file(folder.path(), "a.ndjson", &busy_group());
    let (store, handler) = memory_node();
    for bad in [folder.path().join("missing.ndjson"), folder.path().to_owned()] {
        let (outcome, _) = import(&[good.clone(), bad], &handler).await;
        assert!(matches!(outcome.end, End::Failed(ImportError::Read { .. } | ImportError::NotAFile { .. })));
    }
    assert!(facts(&*store).await.is_empty());
}

#[tokio::test]
async fn an_interrupted_import_goes_on_where_it_was() {
    let folder = ScratchDir::new();
    let lines: Vec<String> = (0..1500)
        .map(|n| line("g", "group", ANA + n % 7, n as Ms / 3, "text", &format!("{}", n % 2)))
        .collect();
    let files = [file(folder.path(), "a.ndjson", &lines)];
    let (whole, handler) = memory_node();
    import(&files, &handler).await;
    let (parts, handler) = memory_node();
    for lines in [1, 200, 600, 1100] {
        let (sender, stop) = watch::channel(false);
        let mut heard = Heard { stop_at: Some((lines, sender)), ..Heard::default() };
        let outcome = import_until(&files, &handler, &mut heard, &stop).await;
        assert!(matches!(outcome.end, End::Interrupted), "{outcome:?}");
        assert!(outcome.counts.lines >= lines && outcome.counts.unanswered() == 0, "{outcome:?}");
    }
    import(&files, &handler).await;
    assert_eq!(facts(&*parts).await, facts(&*whole).await);
}

#[tokio::test]
async fn the_exit_code_tells_of_refusals_and_a_file_keeps_them_all() {
    let folder = ScratchDir::new();
    let mut lines = vec![single("c", ANA, 1, "ok")];
    let good = file(folder.path(), "good.ndjson", &lines);
    lines.extend((0..150).map(|n| format!("not JSON {n}")));
    let mixed = file(folder.path(), "mixed.ndjson", &lines);
    let (_, handler) = memory_node();
    let kept = folder.path().join("refusals.txt");
    for (file, code, refused) in [(good, ExitCode::SUCCESS, 0), (mixed, ExitCode::from(2), 150)] {
        let arguments = Arguments { files: vec![file], refusals: Some(kept.clone()) };
        let mut next_msg_id = || Ok(MsgId::new(1));
        let (handler, correlation_id) = (&handler, Uuid::nil());
        let next_msg_id = &mut next_msg_id;
        let target = Target { handler, next_msg_id, content_bytes_max: 100, correlation_id };
        let exit = command(&arguments, target).await.unwrap();
        assert_eq!(format!("{exit:?}"), format!("{code:?}"));
        assert_eq!(std::fs::read_to_string(&kept).unwrap().lines().count(), refused);
    }
}

/// A log that holds these events: what is there when a process dies.
async fn log_of(events: &[Recorded]) -> (Arc<dyn EventStore>, CommandHandler) {
    let store = MemoryEventStore::new(Uuid::from_u128(1));
    for event in events {
        let header = event.header.clone();
        let unsealed = Unsealed {
            event_id: header.event_id,
            encoded: codec::encode(&event.event().unwrap()),
            actor: header.actor,
            device: header.device,
            origin: header.origin,
            correlation_id: header.correlation_id,
        };
        let (stream, expected) = (header.stream, header.version - 1);
        let append = Append { stream, expected, guards: vec![], events: vec![unsealed] };
        let appended = store.append(header.shard, vec![append], &surroundings()).await.unwrap();
        assert!(appended[0].is_ok(), "{appended:?}");
    }
    node(store)
}

async fn dying_anywhere_changes_nothing(files: &[PathBuf]) {
    let (store, handler) = memory_node();
    import(files, &handler).await;
    let (whole, events) = (facts(&*store).await, events(&*store).await);
    for cut in 0..events.len() {
        let (store, handler) = log_of(&events[..cut]).await;
        import(files, &handler).await;
        assert_eq!(facts(&*store).await, whole, "died after {cut} events");
    }
}

#[tokio::test]
async fn wherever_the_process_died_the_next_run_completes_it() {
    let folder = ScratchDir::new();
    dying_anywhere_changes_nothing(&[file(folder.path(), "a.ndjson", &busy_group())]).await;
}

fn any_line() -> impl Strategy<Value = (u64, u8, bool)> {
    (1u64..4, 0u8..6, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_file_dying_anywhere_changes_nothing(lines in proptest::collection::vec(any_line(), 1..25)) {
        let mut ts = 0;
        let lines: Vec<String> = lines.into_iter().map(|(sender, what, later)| {
            ts += Ms::from(later);
            let line_type = match what { 0 => "join", 1 => "leave", _ => "text" };
            let text = if what < 2 { "" } else if what < 4 { "ok" } else { "no" };
            line("g", "group", sender, ts, line_type, text)
        }).collect();
        let folder = std::env::temp_dir().join(format!("quipu-import-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = [file(&folder, "a.ndjson", &lines)];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(dying_anywhere_changes_nothing(&files));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[tokio::test]
async fn lines_do_not_overtake_those_that_the_log_did_not_take() {
    let folder = ScratchDir::new();
    // More than two group commits of one conversation.
    let lines: Vec<String> = (0..1500).map(|n| single("c", ANA, n, &n.to_string())).collect();
    let files = [file(folder.path(), "a.ndjson", &lines)];
    let store = Away { store: MemoryEventStore::new(Uuid::from_u128(1)), attempts: AtomicU32::new(0) };
    let (store, handler) = node(store);
    let (outcome, _) = import(&files, &handler).await;
    assert!(matches!(outcome.end, End::Failed(ImportError::LogUnavailable)), "{outcome:?}");
    assert!(outcome.counts.imported > 0 && outcome.counts.unanswered() > 0, "{outcome:?}");
    let (outcome, _) = import(&files, &handler).await;
    assert!(matches!(outcome.end, End::Complete));
    let said = texts(&facts(&*store).await, "p2p-1001-1001");
    let order: Vec<String> = (0..1500).map(|n| n.to_string()).collect();
    assert_eq!(said.into_iter().map(|said| said.1).collect::<Vec<_>>(), order);
}

#[tokio::test]
async fn the_sample_is_imported_without_a_refusal() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/first-conversations.ndjson");
    let (store, handler) = memory_node();
    let (outcome, refusals) = import(&[sample], &handler).await;
    assert!(refusals.is_empty(), "{refusals:?}");
    let facts = facts(&*store).await;
    assert!(texts(&facts, "p2p-1001-1002").len() > 100, "two buckets");
    assert_eq!(members_of(&facts, "grp-team"), [1001, 1002]);
    let messages = facts.iter().filter(|fact| fact.1 == StreamKind::Message).count() as u64;
    assert_eq!(outcome.counts.imported, messages);
}

/// A log that is away for one batch: longer than a batch is tried, and then it is back.
struct Away {
    store: MemoryEventStore,
    attempts: AtomicU32,
}

/// As often as a worker tries a batch.
const ATTEMPTS: u32 = 6;

impl Away {
    /// The second batch fails, as often as it is tried.
    fn is_away(&self) -> Result<(), StoreError> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
        if (1..=ATTEMPTS).contains(&attempt) {
            return Err(StoreError::Unavailable { doing: "append", source: "away".into() });
        }
        Ok(())
    }
}

#[async_trait]
impl EventStore for Away {
    fn info(&self) -> &LogInfo {
        self.store.info()
    }
    async fn read_stream(&self, s: &StreamName, from: u64, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        self.store.read_stream(s, from, limit).await
    }
    async fn read_conversation(
        &self,
        conv: &ConvId,
        after: Position,
        limit: u32,
    ) -> Result<Vec<Recorded>, StoreError> {
        self.store.read_conversation(conv, after, limit).await
    }
    async fn conversations(&self, after: Option<&ConvId>, limit: u32) -> Result<Vec<ConvId>, StoreError> {
        self.store.conversations(after, limit).await
    }
    async fn message(&self, id: MsgId) -> Result<Option<Recorded>, StoreError> {
        self.store.message(id).await
    }
    async fn read_shard(&self, s: Shard, after: Position, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        self.store.read_shard(s, after, limit).await
    }
    async fn shard_heads(&self) -> Result<Vec<ShardHead>, StoreError> {
        self.store.shard_heads().await
    }
    async fn shard_head(&self, shard: Shard) -> Result<ShardHead, StoreError> {
        self.store.shard_head(shard).await
    }
    async fn conversation_position(&self, conv: &ConvId) -> Result<Position, StoreError> {
        self.store.conversation_position(conv).await
    }
    async fn first_messages(&self, asked: &[(ConvId, Position)]) -> Result<Vec<Option<Seq>>, StoreError> {
        self.store.first_messages(asked).await
    }

    async fn stream_positions(&self, convs: &[ConvId]) -> Result<Vec<[Position; 3]>, StoreError> {
        self.store.stream_positions(convs).await
    }
    async fn facts_since(&self, asked: &[Since], each: u32, limit: u32) -> Result<Vec<Recorded>, StoreError> {
        self.store.facts_since(asked, each, limit).await
    }
    async fn load(&self, shard: Shard, wanted: &[Wanted]) -> Result<Vec<Found>, StoreError> {
        self.store.load(shard, wanted).await
    }
    async fn append_at(&self, shard: Shard, seen: ShardHead, batch: Batch) -> Result<bool, StoreError> {
        self.is_away()?;
        self.store.append_at(shard, seen, batch).await
    }
    async fn turn(&self, shard: Shard) -> Result<Box<dyn Turn + '_>, StoreError> {
        self.is_away()?;
        self.store.turn(shard).await
    }
    fn wake(&self, shard: Shard) -> watch::Receiver<u64> {
        self.store.wake(shard)
    }
}

//! Several nodes on one log: the protocol under races, refused rows, lost answers and cold starts.

use std::collections::BTreeSet;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::Duration;

use domain::{
    Command, ConvId, Event, EventId, GroupName, History, Rejection, Reply, Sender, Seq, StreamKind,
};
use event_store::postgres::PostgresEventStore;
use event_store::{CommandError, CommandHandler, EventStore, Position, Request, Shard, StreamName};
use tests::log::{chat, group, migrated, node, postgres_log, read, request, say, send, stamp, uid};

const LIMIT: u32 = 1000;

fn create(owner: u64, members: &[u64]) -> Request {
    let members = members.iter().copied().map(uid).collect();
    let (owner, name, history) = (uid(owner), GroupName::parse("Team").unwrap(), History::Joined);
    request(Command::CreateGroup { owner, name, members, history, limit: LIMIT, stamp: stamp() })
}

fn add(by: u64, person: u64) -> Request {
    request(Command::AddMembers { by: uid(by), uids: vec![uid(person)], limit: LIMIT, stamp: stamp() })
}

fn remove(by: u64, person: u64) -> Request {
    request(Command::RemoveMember { by: uid(by), uid: uid(person), stamp: stamp() })
}

fn seq_of(reply: Result<Reply, CommandError>) -> u64 {
    match reply {
        Ok(Reply::Sent(sent)) => sent.seq.get(),
        other => panic!("not sent: {other:?}"),
    }
}

async fn log_of(store: &dyn EventStore, conv: &ConvId) -> Vec<event_store::Recorded> {
    let shard = Shard::of(conv, store.info().shards);
    let mut events = vec![];
    loop {
        let after = events.last().map_or(Position::START, |e: &event_store::Recorded| e.header.position);
        let more = store.read_shard(shard, after, 1000).await.unwrap();
        if more.is_empty() {
            return events.into_iter().filter(|event| event.header.stream.conv() == Some(conv)).collect();
        }
        events.extend(more);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_has_in_memory_is_what_is_in_the_log_whoever_appends() {
    let database = migrated().await;
    let (one, two) = (postgres_log(&database.config).await, postgres_log(&database.config).await);
    let reader = postgres_log(&database.config).await;
    let ((one, first), (two, second)) = (node(one), node(two));
    let conv = chat(1, 2);
    let shard = Shard::of(&conv, one.info().shards);
    let (mut heard, mut at) = (vec![], Position::START);
    // Runs of either node, of several lengths, some right behind the other's.
    for (turn, length) in [1_u64, 3, 2, 1, 1, 4, 2, 5, 1].into_iter().enumerate() {
        let handler = if turn % 2 == 0 { &first } else { &second };
        for n in 0..length {
            let sent = handler.handle(conv.clone(), send(1, turn as u64 * 100 + n)).await;
            seq_of(sent);
        }
        // Node one follows, now from its memory, now from the log; in small pieces, so that a run is cut.
        loop {
            let more = one.read_shard(shard, at, 2).await.unwrap();
            let Some(last) = more.last() else { break };
            at = last.header.position;
            heard.extend(more);
        }
    }
    let written = reader.read_shard(shard, Position::START, LIMIT).await.unwrap();
    assert_eq!(written.len(), 20);
    assert_eq!(heard, written, "nothing is missing, twice, or other than it was written");
    assert_eq!(two.read_shard(shard, Position::START, LIMIT).await.unwrap(), written);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_on_one_hot_conversation_give_every_message_its_own_seq() {
    const PROCESSES: u64 = 4;
    const EACH: u64 = 150;
    let database = migrated().await;
    let (store, handler) = node(postgres_log(&database.config).await);
    let conv = group("hot");
    let members: Vec<u64> = (2..=PROCESSES).collect();
    handler.handle(conv.clone(), create(1, &members)).await.unwrap();
    let processes: Vec<_> = (1..=PROCESSES)
        .map(|sender| {
            let mut process = Process::new(env!("CARGO_BIN_EXE_hammer"));
            process.args([&database.url, conv.as_str(), &sender.to_string(), &EACH.to_string()]);
            process.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut seqs = BTreeSet::new();
    for process in processes {
        let output = tokio::task::spawn_blocking(|| process.wait_with_output().unwrap()).await.unwrap();
        assert!(output.status.success());
        let mut last = 0;
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let seq: u64 = line.split(' ').nth(1).unwrap().parse().unwrap();
            assert!(seq > last, "one sender's messages are in the order of sending");
            assert!(seqs.insert(seq), "seq {seq} twice");
            last = seq;
        }
    }
    // The first message tells of the founding.
    assert_eq!(seqs, (2..=PROCESSES * EACH + 1).collect());
    let stream = store.read_stream(&StreamName::new(&conv, StreamKind::Message), 1, 10_000).await.unwrap();
    assert_eq!(stream.len() as u64, PROCESSES * EACH + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_at_once_and_all_of_them_again() {
    let database = migrated().await;
    let (_store, handler) = node(postgres_log(&database.config).await);
    let conv = chat(1, 2);
    let all = async || {
        let pending: Vec<_> = (1..=1000).map(|n| handler.submit(conv.clone(), send(1, n)).unwrap()).collect();
        let mut replies = vec![];
        for pending in pending {
            replies.push(pending.answer().await.unwrap());
        }
        replies
    };
    let seqs = |replies: &[Reply], duplicate: bool| -> Vec<u64> {
        let seq = |reply: &Reply| match reply {
            Reply::Sent(sent) if sent.duplicate == duplicate => sent.seq.get(),
            other => panic!("{other:?}"),
        };
        replies.iter().map(seq).collect()
    };
    assert_eq!(seqs(&all().await, false), (1..=1000).collect::<Vec<_>>());
    // The repeat's own msg_ids are the first time's: another node would have made others.
    let (_other_store, other) = node(postgres_log(&database.config).await);
    let mut again = send(1, 7);
    if let Command::Send(send) = &mut again.command {
        send.msg_id = domain::MsgId::new(999);
    }
    let reply = other.handle(conv.clone(), again).await.unwrap();
    assert_eq!(seqs(&[reply], true), [7]);
}

/// A removal on one node races with sends on another: whatever stands after the removal in the log was refused.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_sends_after_being_removed_by_another_node() {
    let database = migrated().await;
    let (store, one) = node(postgres_log(&database.config).await);
    let (_store, other) = node(postgres_log(&database.config).await);
    for round in 1..=20 {
        let conv = group(&format!("race-{round}"));
        one.handle(conv.clone(), create(1, &[2])).await.unwrap();
        assert_eq!(seq_of(other.handle(conv.clone(), send(2, 0)).await), 2);
        let sends = tokio::spawn({
            let (other, conv) = (other.clone(), conv.clone());
            async move {
                let mut refused = 0;
                for n in 1..=10 {
                    match other.handle(conv.clone(), send(2, n)).await {
                        Ok(_) => assert_eq!(refused, 0, "sent after a refusal"),
                        Err(CommandError::Rejected(Rejection::NotAMember)) => refused += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        one.handle(conv.clone(), remove(1, 2)).await.unwrap();
        sends.await.unwrap();
        let mut gone = false;
        for event in log_of(&*store, &conv).await {
            match event.event().unwrap() {
                Event::MemberLeft { .. } => gone = true,
                Event::MessageSent { sender: Sender::Person(_), .. } => {
                    assert!(!gone, "a message stands behind its sender's removal");
                }
                _ => {}
            }
        }
        assert!(gone);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_never_rests_on_what_this_node_remembers() {
    let database = migrated().await;
    let (_store, one) = node(postgres_log(&database.config).await);
    let (_store, other) = node(postgres_log(&database.config).await);
    let conv = group("fresh");
    one.handle(conv.clone(), create(1, &[])).await.unwrap();
    for person in 2..30 {
        // This node now knows for certain that the person is not in …
        let refused = other.handle(conv.clone(), send(person, 1)).await;
        assert!(matches!(refused, Err(CommandError::Rejected(Rejection::NotAMember))), "{refused:?}");
        one.handle(conv.clone(), add(1, person)).await.unwrap();
        // … and is wrong.
        seq_of(other.handle(conv.clone(), send(person, 1)).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_postgres_will_not_take_fails_only_its_own_command() {
    let database = migrated().await;
    let client = database.connect().await;
    client
        .batch_execute("alter table log.event add constraint not_from_666 check (actor <> 666)")
        .await
        .unwrap();
    let (store, handler) = node(postgres_log(&database.config).await);
    // Different conversations of one shard, and one of them twice around the bad one: all in a batch or two.
    let convs: Vec<_> =
        (1..).map(|n| chat(n, 666)).filter(|conv| Shard::of(conv, 16) == Shard::new(5)).take(40).collect();
    let mut pending = vec![];
    for (index, conv) in convs.iter().enumerate() {
        let domain::ConvKind::Single { lo, hi } = conv.kind() else { panic!("a chat") };
        let good = if lo == uid(666) { hi } else { lo }.get();
        pending.push((good, handler.submit(conv.clone(), send(good, 1)).unwrap()));
        if index % 13 == 3 {
            pending.push((666, handler.submit(conv.clone(), send(666, 1)).unwrap()));
        }
        pending.push((good, handler.submit(conv.clone(), send(good, 2)).unwrap()));
    }
    let (mut sent, mut refused) = (0, 0);
    for (sender, pending) in pending {
        match pending.answer().await {
            Ok(Reply::Sent(_)) if sender != 666 => sent += 1,
            Err(CommandError::Refused) if sender == 666 => refused += 1,
            other => panic!("of {sender}: {other:?}"),
        }
    }
    assert_eq!((sent, refused), (80, 3));
    for conv in convs {
        let stream = StreamName::new(&conv, StreamKind::Message);
        let versions: Vec<_> =
            store.read_stream(&stream, 1, 10).await.unwrap().iter().map(|e| e.header.version).collect();
        assert_eq!(versions, [1, 2], "{conv}");
    }
}

/// Connections are cut at any moment, the one between COMMIT and its answer included.
#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_outcome_of_commit_makes_no_second_message() {
    const MESSAGES: u64 = 300;
    let database = migrated().await;
    let (store, handler) = node(postgres_log(&database.config).await);
    let conv = chat(1, 2);
    let cutter = tokio::spawn({
        let admin = database.connect().await;
        async move {
            let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity
                        where datname = current_database() and application_name = 'quipu' and pid <> pg_backend_pid()";
            loop {
                admin.query_one(cut, &[]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
        }
    });
    let mut seqs = BTreeSet::new();
    for first in (1..=MESSAGES).step_by(10) {
        let pending: Vec<_> =
            (first..first + 10).map(|n| (n, handler.submit(conv.clone(), send(1, n)).unwrap())).collect();
        for (n, pending) in pending {
            let mut answer = pending.answer().await;
            // What a client does with a 503.
            while let Err(CommandError::Unavailable) = answer {
                answer = handler.handle(conv.clone(), send(1, n)).await;
            }
            seqs.insert(seq_of(answer));
        }
    }
    cutter.abort();
    assert_eq!(seqs, (1..=MESSAGES).collect());
    let stream = StreamName::new(&conv, StreamKind::Message);
    let mut events = vec![];
    while events.len() < MESSAGES as usize {
        // The pool may hold a connection that was cut.
        events = store.read_stream(&stream, 1, 1000).await.unwrap_or_default();
    }
    let ids: BTreeSet<_> = events.iter().map(|event| event.header.client_msg_id).collect();
    assert_eq!((events.len() as u64, ids.len() as u64), (MESSAGES, MESSAGES));
}

/// What a command costs to load does not grow with the history: counted in statements, at three lengths.
#[tokio::test(flavor = "multi_thread")]
async fn a_cold_conversation_loads_in_a_constant_number_of_reads() {
    let database = migrated().await;
    let (_store, handler) = node(postgres_log(&database.config).await);
    let conv = chat(1, 2);
    let mut counts = vec![];
    let mut length = 0;
    for target in [1, 100, 2000] {
        let (sequence, mut pending) = (event_store::Sequence::default(), vec![]);
        while length < target {
            length += 1;
            pending.push(handler.submit_when_free(&sequence, conv.clone(), send(1, length)).await);
            pending.push(handler.submit_when_free(&sequence, conv.clone(), read(2, length)).await);
        }
        for pending in pending {
            pending.answer().await.unwrap();
        }
        for command in [
            send(2, 1_000_000 + target),
            read(1, target),
            request(Command::Delete { uid: uid(1), seqs: vec![Seq::new(1), Seq::new(target)] }),
            request(Command::Recall {
                seq: Seq::new(target),
                by: domain::Caller { uid: uid(1), admin: false },
                at: tests::log::START,
                window: 0,
            }),
            request(Command::Clear { uid: uid(2), up_to_seq: Some(Seq::new(target)), key: None }),
        ] {
            counts.push((target, cold(&database.config, &conv, command).await));
        }
    }
    for (first, later) in
        counts.iter().zip(counts.iter().skip(5)).chain(counts.iter().zip(counts.iter().skip(10)))
    {
        assert_eq!(first.1, later.1, "{counts:?}");
    }
    assert!(counts.iter().all(|(_, loads)| (1..=5).contains(loads)), "{counts:?}");
}

/// How many statements a node that knows nothing sends to load what this command needs.
async fn cold(config: &tokio_postgres::Config, conv: &ConvId, command: Request) -> u64 {
    let store: PostgresEventStore = postgres_log(config).await;
    let handler = {
        let store: Arc<dyn EventStore> = Arc::new(store.clone());
        CommandHandler::start(&store, &tests::log::surroundings())
    };
    handler.handle(conv.clone(), command).await.unwrap();
    store.loads()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeat_with_another_payload_is_a_conflict_on_every_node() {
    let database = migrated().await;
    let (_store, one) = node(postgres_log(&database.config).await);
    let (_store, other) = node(postgres_log(&database.config).await);
    let conv = chat(1, 2);
    one.handle(conv.clone(), say(1, 1, "first")).await.unwrap();
    for handler in [&one, &other] {
        let conflict = handler.handle(conv.clone(), say(1, 1, "second")).await;
        assert!(
            matches!(conflict, Err(CommandError::Rejected(Rejection::IdempotencyConflict))),
            "{conflict:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_is_answered_before_the_handler_ends() {
    let database = migrated().await;
    let (_store, handler) = node(postgres_log(&database.config).await);
    let pending: Vec<_> = (1..=200).map(|n| handler.submit(chat(1, 2), send(1, n)).unwrap()).collect();
    handler.drain().await;
    for (pending, n) in pending.into_iter().zip(1..) {
        assert_eq!(seq_of(pending.answer().await), n);
    }
    assert!(matches!(handler.handle(chat(1, 2), send(1, 201)).await, Err(CommandError::Unavailable)));
}

/// What the system tells stands right behind what it tells of, and another node would have named it the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_happens_to_a_group_and_the_message_about_it_are_appended_together() {
    let database = migrated().await;
    let (store, one) = node(postgres_log(&database.config).await);
    let (_store, other) = node(postgres_log(&database.config).await);
    let conv = group("told");
    one.handle(conv.clone(), create(1, &[2])).await.unwrap();
    other.handle(conv.clone(), add(1, 3)).await.unwrap();
    other.handle(conv.clone(), add(1, 3)).await.unwrap();
    one.handle(conv.clone(), remove(2, 2)).await.unwrap();
    let mut told = vec![];
    let mut last = None;
    for recorded in log_of(&*store, &conv).await {
        let header = recorded.header.clone();
        match recorded.event().unwrap() {
            Event::MessageSent { sender, client_msg_id, .. } => {
                let (version, position): (u64, u64) = last.take().unwrap();
                assert_eq!((sender, header.actor, header.position.get()), (Sender::System, 0, position + 1));
                assert_eq!(client_msg_id.get(), header.event_id.get());
                told.push((header.version, version, header.event_id));
            }
            _ => last = Some((header.version, header.position.get())),
        }
    }
    // A founding is two events of the group: the first of them names the message.
    let named = |seq, last, first| (seq, last, EventId::system(&conv, first));
    assert_eq!(told, [named(1, 2, 1), named(2, 3, 3), named(3, 4, 4)]);
}

//! The whole corpus, into a log in memory: every message of every conversation, in order, byte for byte.

use std::collections::BTreeMap;

use domain::{Event, StreamKind};
use event_store::StreamName;
use quipu::import::{Counts, End};
use tests::corpus::{Said, expected, files};
use tests::import::{events, import, memory_node};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_corpus_is_imported_whole_in_order_and_once() {
    let Some(files) = files() else { return };
    let expected = expected(&files);
    let (store, handler) = memory_node();
    let (outcome, refusals) = import(&files, &handler).await;
    assert!(matches!(outcome.end, End::Complete), "{outcome:?}");

    let counts = outcome.counts;
    assert_eq!((counts.lines, counts.unanswered()), (expected.lines, 0));
    assert_eq!(counts.imported, expected.messages());
    assert_eq!(counts.memberships + counts.skipped, expected.membership_lines);
    let refused: Vec<_> = refusals.iter().map(|refusal| (refusal.file.clone(), refusal.line)).collect();
    assert_eq!(refused, expected.refused);
    let reasons: Vec<_> = refusals.iter().map(|refusal| refusal.reason.as_str()).collect();
    assert_eq!(reasons, ["content has 96000 bytes; the limit is 65536", "content is empty"]);

    let mut found: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    for recorded in &events(&*store).await {
        let Event::MessageSent { sender, content, create_at, .. } = recorded.event().unwrap() else {
            continue;
        };
        let StreamName::Conversation { conv, kind } = &recorded.header.stream else { continue };
        let messages = found.entry(conv.to_string()).or_default();
        assert_eq!(
            (*kind, recorded.header.version),
            (StreamKind::Message, messages.len() as u64 + 1),
            "{conv}"
        );
        messages.push(Said {
            sender: sender.get(),
            ts: create_at,
            msg_type: content.msg_type().get(),
            content: serde_json::from_str(content.json()).unwrap(),
        });
    }
    assert!(found.keys().eq(expected.conversations.keys()), "other conversations");
    for (conv, messages) in &expected.conversations {
        assert!(found[conv] == *messages, "{conv} differs");
    }

    let length = events(&*store).await.len();
    let (outcome, _) = import(&files, &handler).await;
    let repeated = Counts { lines: counts.lines, refused: counts.refused, ..Counts::default() };
    assert_eq!(outcome.counts, Counts { skipped: counts.lines - counts.refused, ..repeated });
    assert_eq!(events(&*store).await.len(), length);
}

//! The whole corpus through the import and back over REST: every conversation, page by page in both directions, is
//! exactly what its file says.

use futures_util::{StreamExt, stream};
use quipu::import::End;
use serde_json::{Value, json};
use tests::corpus::{Expected, Said, expected, files};
use tests::dice::Dice;
use tests::import::import;
use tests::server::{Person, Server};

/// The most that a page has.
const LIMIT_MAX: usize = 200;
/// Conversations that are read at a time.
const AT_ONCE: usize = 16;
/// One conversation in so many is read in small pages, so that those of a few messages have several, too.
const SMALL_PAGES_ONE_IN: u64 = 50;
/// Pages of a conversation that is read in small ones, at most.
const SMALL_PAGES_MAX: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn the_corpus_comes_back_over_rest_as_it_is_in_its_files() {
    let Some(files) = files() else { return };
    let mut dice = Dice::of_this_run();
    let expected = expected(&files);
    let server = Server::start().await;
    let (outcome, _) = import(&files, &server.commands).await;
    assert!(matches!(outcome.end, End::Complete), "{outcome:?}");
    assert_eq!(outcome.counts.imported, expected.messages());

    let conversations: Vec<_> = expected
        .conversations
        .iter()
        .map(|(conv, said)| {
            let small = (1 + dice.below(9) as usize).max(said.len() / SMALL_PAGES_MAX).min(LIMIT_MAX);
            let limit = if dice.below(SMALL_PAGES_ONE_IN) == 0 { small } else { LIMIT_MAX };
            let history = History { conv, said, limit };
            (history, server.person(viewer(&expected, conv)))
        })
        .collect();
    stream::iter(conversations)
        .for_each_concurrent(AT_ONCE, async |(history, person)| {
            history.is_read_forwards(&person).await;
            history.is_read_backwards(&person).await;
        })
        .await;
    server.stop().await;
}

/// Somebody who is in it at the end.
fn viewer(expected: &Expected, conv: &str) -> u64 {
    *expected.members[conv].first().unwrap_or_else(|| panic!("{conv}: the files leave nobody in it"))
}

/// A conversation as it must be, and the length of its pages.
struct History<'a> {
    conv: &'a str,
    said: &'a [Said],
    limit: usize,
}

impl History<'_> {
    async fn is_read_forwards(&self, person: &Person<'_>) {
        let mut from = 0;
        while from < self.said.len() {
            let to = (from + self.limit).min(self.said.len());
            self.has_page(person, &format!("after_seq={from}"), from..to, to < self.said.len()).await;
            from = to;
        }
        if self.limit < LIMIT_MAX {
            // Who asks on behind the last one gets an empty page.
            self.has_page(person, &format!("after_seq={from}"), from..from, false).await;
        }
    }

    async fn is_read_backwards(&self, person: &Person<'_>) {
        let mut to = self.said.len();
        let mut bound = String::new();
        while to > 0 {
            let from = to.saturating_sub(self.limit);
            self.has_page(person, &bound, from..to, from > 0).await;
            to = from;
            bound = format!("before_seq={}", to + 1);
        }
    }

    /// The messages of this range, by their places from 0 in the file.
    async fn has_page(&self, person: &Person<'_>, bound: &str, range: std::ops::Range<usize>, more: bool) {
        let Self { conv, said, limit } = self;
        let path = format!("/v1/conversations/{conv}/messages?limit={limit}&{bound}");
        let page = person.get(&path).await;
        assert_eq!(page.status, 200, "{path}: {page:?}");
        let head =
            |page: &Value| ["conv_id", "max_seq", "min_seq", "has_more"].map(|name| page[name].clone());
        assert_eq!(head(&page.json), [json!(conv), json!(said.len()), json!(1), json!(more)], "{path}");
        let items = page.json["items"].as_array().expect("a page has items");
        assert_eq!(items.len(), range.len(), "{path}");
        for (item, index) in items.iter().zip(range) {
            assert!(is_as_said(item, index + 1, &said[index]), "{path}: {item} is not {:?}", said[index]);
        }
    }
}

fn is_as_said(item: &Value, seq: usize, said: &Said) -> bool {
    let Said { sender, ts, msg_type, content } = said;
    item["state"] == "normal"
        && item["seq"] == seq
        && item["sender_id"] == *sender
        && item["create_at"] == *ts
        && item["msg_type"] == *msg_type
        && item["content"] == *content
}

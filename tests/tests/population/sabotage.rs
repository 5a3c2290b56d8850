//! What a server may do wrong, each against a population that must find it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use quipu_bench::Elsewhere;
use quipu_bench::population::{self, Arguments, Verdict, fault::Kind};
use serde_json::{Value, json};
use tests::server::{SECRET, Server};

use crate::proxy::Proxy;

/// Chance may give a run nothing to spoil; another seed gives something.
const SEEDS_MAX: u64 = 5;

/// One way of doing wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Nothing,
    SayResync,
    DropPush,
    RepeatPush,
    SwapPushes,
    ForgeText,
    PushToOutsiders,
    HideRecalls,
    RevealRecalled,
    RaiseUnread,
    ShortenPages,
    LoseSend,
    SendTwice,
    ForgetRead,
    ForgetDeletion,
    RefuseMember,
    AcknowledgeOtherwise,
}

/// One way, and how often it was taken.
pub struct Sabotage {
    way: Way,
    done: AtomicU64,
    /// The last message that was pushed to anybody.
    latest: Mutex<Option<Value>>,
}

impl Sabotage {
    fn new(way: Way) -> Arc<Self> {
        Arc::new(Self { way, done: AtomicU64::new(0), latest: Mutex::default() })
    }

    fn note(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Spoils an answer over HTTP.
    pub fn answer(&self, path: &str, json: &mut Value) {
        match self.way {
            Way::RaiseUnread if path.starts_with("/v1/conversations?") => {
                for conversation in array(&mut json["conversations"]) {
                    conversation["unread"] = json!(conversation["unread"].as_u64().unwrap() + 1);
                    self.note();
                }
            }
            Way::ShortenPages | Way::RevealRecalled if path == "/v1/messages/batch" => {
                for page in array(&mut json["pages"]) {
                    let items = array(&mut page["items"]);
                    if self.way == Way::ShortenPages && items.pop().is_some() {
                        self.note();
                    }
                    items.iter_mut().for_each(|item| self.reveal(item));
                }
            }
            Way::HideRecalls if path.starts_with("/v1/sync") => self.hide_recalls(json),
            _ => {}
        }
    }

    fn hide_recalls(&self, sync: &mut Value) {
        for entry in array(&mut sync["conversations"]) {
            if !array(&mut entry["changes"]["recalled"]).is_empty() {
                entry["changes"]["recalled"] = json!([]);
                self.note();
            }
        }
    }

    fn reveal(&self, item: &mut Value) {
        let state = match self.way {
            Way::RevealRecalled => "recalled",
            _ => return,
        };
        if item["state"] == state {
            item["state"] = json!("normal");
            if state == "recalled" {
                item["content"] = json!("a secret");
            }
            self.note();
        }
    }
}

/// No array: an empty one.
fn array(of: &mut Value) -> &mut Vec<Value> {
    if !of.is_array() {
        *of = json!([]);
    }
    of.as_array_mut().unwrap()
}

/// What is remembered of one connection.
pub struct OnSocket {
    sabotage: Arc<Sabotage>,
    seen: HashSet<String>,
    held: Option<Value>,
    /// Of the last push.
    cursor: Option<Value>,
    done: bool,
}

impl OnSocket {
    /// Of a new one.
    pub fn new(sabotage: Arc<Sabotage>) -> Self {
        Self { sabotage, seen: HashSet::new(), held: None, cursor: None, done: false }
    }

    /// A request: what is handed on, and what is answered at once.
    pub fn request(&mut self, frame: Value) -> (Vec<Value>, Vec<Value>) {
        let id = frame["id"].clone();
        let made_up = |ok: Value| (vec![], vec![json!({"id": id, "ok": ok})]);
        let first = self.sabotage.done.load(Ordering::Relaxed) == 0;
        let spoilt = match (self.sabotage.way, frame["op"].as_str().unwrap()) {
            (Way::LoseSend, "send") if first => {
                made_up(json!({"seq": 500, "msg_id": "1", "create_at": 1, "duplicate": false}))
            }
            (Way::RefuseMember, "send")
                if first && frame["conv_id"].as_str().unwrap().starts_with("p2p-") =>
            {
                (vec![], vec![json!({"id": id, "error": {"status": 403, "code": "not_a_member"}})])
            }
            (Way::SendTwice, "send") if first => {
                let mut again = frame.clone();
                again["id"] = json!(format!("again-{}", id.as_str().unwrap()));
                again["client_msg_id"] = json!("00000000-0000-4000-8000-000000000001");
                (vec![frame, again], vec![])
            }
            (Way::ForgetRead, "read") => made_up(json!({"read_seq": frame["read_seq"], "unread": 0})),
            (Way::ForgetDeletion, "delete") => made_up(json!({"deleted": 1})),
            _ => return (vec![frame], vec![]),
        };
        self.sabotage.note();
        spoilt
    }

    /// What becomes of a frame from the server.
    pub fn frame(&mut self, mut frame: Value) -> Vec<Value> {
        let way = self.sabotage.way;
        if frame["id"].as_str().is_some_and(|id| id.starts_with("again-")) {
            return vec![];
        }
        if way == Way::AcknowledgeOtherwise && frame["ok"]["duplicate"].is_boolean() {
            frame["ok"]["msg_id"] = json!("12345");
            self.sabotage.note();
        }
        if way == Way::HideRecalls && frame["ok"]["conversations"].is_array() {
            self.sabotage.hide_recalls(&mut frame["ok"]);
        }
        if way == Way::HideRecalls && frame["push"] == "recalled" {
            self.sabotage.note();
            return vec![];
        }
        let cursor = frame.get("cursor").cloned();
        let frames = if frame["push"] == "message" { self.message(frame) } else { vec![frame] };
        self.cursor = cursor.or(self.cursor.take());
        frames
    }

    fn message(&mut self, mut frame: Value) -> Vec<Value> {
        let sabotage = Arc::clone(&self.sabotage);
        sabotage.reveal(&mut frame["item"]);
        let conv = frame["conv_id"].as_str().unwrap().to_owned();
        let seen = !self.seen.insert(conv.clone());
        let frames = match sabotage.way {
            // As a server does whose queue is full: nothing is dropped in silence.
            Way::SayResync if !self.done && self.cursor.is_some() => {
                vec![json!({"push": "resync", "cursor": self.cursor})]
            }
            Way::DropPush if seen && !self.done => vec![],
            Way::RepeatPush if !self.done => vec![frame.clone(), frame],
            Way::SwapPushes if self.held.as_ref().is_some_and(|held| held["conv_id"] == *conv) => {
                vec![frame, self.held.take().unwrap()]
            }
            Way::SwapPushes if seen && !self.done => {
                self.done = true;
                self.held = Some(frame);
                return vec![];
            }
            Way::ForgeText if !self.done && frame["item"]["content"].is_string() => {
                frame["item"]["content"] = json!("something else");
                vec![frame]
            }
            Way::PushToOutsiders => {
                let mut theirs = frame.clone();
                // A cursor is for one person.
                theirs.as_object_mut().unwrap().remove("cursor");
                let latest = sabotage.latest.lock().unwrap().replace(theirs);
                [frame].into_iter().chain(latest).collect()
            }
            _ => return vec![frame],
        };
        self.done = true;
        sabotage.note();
        frames
    }
}

/// A short run through the proxy; how often it spoilt something, and the verdict.
async fn run(way: Way, seed: u64) -> (u64, Verdict) {
    let server = Server::start().await;
    let sabotage = Sabotage::new(way);
    let proxy = Proxy::start(server.address(), Arc::clone(&sabotage)).await;
    let arguments = Arguments {
        people: 6,
        devices: 2,
        seconds: 4,
        kills: 0,
        speed: 100,
        conversations: Some(8),
        recalled: 0.1,
        deleted: 0.1,
        rebuild: false,
        seed: Some(seed),
        url: None,
    };
    let elsewhere = Elsewhere { url: proxy.url.clone(), secret: SECRET.into(), store: vec![] };
    let played = population::run(&arguments, Some(elsewhere), &mut std::io::sink()).await;
    drop(proxy);
    server.stop().await;
    (sabotage.done.load(Ordering::Relaxed), played.expect("a verdict"))
}

/// The kind is found where there was something to spoil that could not be made good, such as a push that is dropped
/// just before the device goes and comes back.
async fn is_found(way: Way, kind: Kind) {
    let mut last = None;
    for seed in 1..=SEEDS_MAX {
        let (spoilt, verdict) = run(way, seed).await;
        if spoilt > 0 && verdict.count(kind) > 0 {
            assert!(!verdict.passed());
            return;
        }
        last = Some((spoilt, verdict));
    }
    let (spoilt, verdict) = last.expect("a run");
    panic!("{way:?}, {spoilt} times in the last run, was not found as {kind}:\n{verdict}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_spoils_nothing_passes() {
    let (spoilt, verdict) = run(Way::Nothing, 1).await;
    assert!(spoilt == 0 && verdict.passed(), "{verdict}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_resync_names_as_missing_is_fetched() {
    for seed in 1..=SEEDS_MAX {
        let (said, verdict) = run(Way::SayResync, seed).await;
        assert!(verdict.passed(), "{verdict}");
        if said > 0 {
            return;
        }
    }
    panic!("there was no push to be missed");
}

/// One test a way.
macro_rules! found {
    ($($name:ident: $way:ident is $kind:ident;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                is_found(Way::$way, Kind::$kind).await;
            }
        )*
    };
}

found! {
    a_push_that_is_dropped_is_a_loss: DropPush is Loss;
    a_push_that_comes_twice_is_a_duplicate: RepeatPush is Duplicate;
    two_pushes_that_are_swapped_are_a_disorder: SwapPushes is Disorder;
    another_text_for_one_device_is_a_contradiction: ForgeText is Contradiction;
    a_push_to_one_who_is_not_in_is_forbidden: PushToOutsiders is Forbidden;
    a_body_that_is_still_shown_after_its_recall_is_forbidden: HideRecalls is Forbidden;
    a_recalled_body_that_is_told_is_forbidden: RevealRecalled is Forbidden;
    a_raised_unread_count_differs: RaiseUnread is Count;
    a_page_that_ends_early_is_a_loss: ShortenPages is Loss;
    a_send_that_is_acknowledged_and_not_stored_is_a_loss: LoseSend is Loss;
    a_send_that_is_stored_twice_is_a_contradiction: SendTwice is Contradiction;
    a_read_position_that_is_forgotten_differs: ForgetRead is Count;
    a_deletion_that_is_forgotten_is_forbidden: ForgetDeletion is Forbidden;
    a_member_who_is_refused_is_an_answer_against_the_contract: RefuseMember is Answer;
    an_acknowledgement_of_another_message_is_a_contradiction: AcknowledgeOtherwise is Contradiction;
}

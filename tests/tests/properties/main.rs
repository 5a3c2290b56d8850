//! Random sequences of commands by several people, against a naive model in memory: every answer and every view of
//! every person is the same, whatever the projector is doing and however often it is restarted. Long because every
//! command and every view has its line here.

mod model;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{Caller, Command, ConvId, GroupChange, GroupName, History, Invite, Rejection, Reply, Role, Seq};
use event_store::{CommandError, CommandHandler, EventStore, Request};
use model::{Change, Expected, Model, Person, SYSTEM, Seen};
use projections::query::{Item, ItemState, PageLimit, QueryError, QuoteState, Range};
use projections::{Generation, Projector, ProjectorHandle, ReadModels};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tests::log::{HandClock, START, chat, group, migrated, node, postgres_log, request, say, stamp, uid};

/// The owner or first of the two; the others; the last one is usually outside.
const PEOPLE: [Person; 5] = [1, 2, 3, 4, 5];
const CASES: u32 = 24;
const STEPS: usize = 120;
const CONNECTIONS: usize = 8;

#[derive(Debug, Clone)]
enum Step {
    Send {
        by: Person,
        quotes: Option<u8>,
    },
    /// Many at once, so that buckets fill.
    Burst {
        by: Person,
        count: u8,
    },
    /// The n-th last send, again.
    Repeat {
        back: u8,
    },
    Recall {
        by: Person,
        back: u8,
    },
    Delete {
        by: Person,
        back: Vec<u8>,
    },
    Restore {
        by: Person,
        back: Vec<u8>,
    },
    Read {
        by: Person,
        back: i8,
    },
    Clear {
        by: Person,
        back: Option<u8>,
    },
    Add {
        by: Person,
        person: Person,
    },
    Remove {
        by: Person,
        person: Person,
    },
    SetRole {
        by: Person,
        person: Person,
        role: &'static str,
    },
    Change {
        by: Person,
        change: Change,
    },
    Dissolve {
        by: Person,
    },
    Hide {
        by: Person,
        back: Option<u8>,
    },
    Settle {
        by: Person,
        pinned: Option<bool>,
        muted: Option<bool>,
    },
    RestartProjector,
    Look,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        prop::sample::select(&["Case", "New", "群"][..]).prop_map(|name| Change::Name(name.into())),
        any::<bool>().prop_map(Change::ShowsAll),
        any::<bool>().prop_map(Change::Mute),
        any::<bool>().prop_map(Change::MembersInvite),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let person = || prop::sample::select(&PEOPLE[..]);
    let backs = || prop::collection::vec(any::<u8>(), 1..6);
    prop_oneof![
        8 => (person(), prop::option::of(any::<u8>())).prop_map(|(by, quotes)| Step::Send { by, quotes }),
        2 => (person(), 20u8..90).prop_map(|(by, count)| Step::Burst { by, count }),
        2 => any::<u8>().prop_map(|back| Step::Repeat { back }),
        3 => (person(), any::<u8>()).prop_map(|(by, back)| Step::Recall { by, back }),
        3 => (person(), backs()).prop_map(|(by, back)| Step::Delete { by, back }),
        2 => (person(), backs()).prop_map(|(by, back)| Step::Restore { by, back }),
        4 => (person(), any::<i8>()).prop_map(|(by, back)| Step::Read { by, back }),
        1 => (person(), prop::option::of(any::<u8>())).prop_map(|(by, back)| Step::Clear { by, back }),
        2 => (person(), person()).prop_map(|(by, person)| Step::Add { by, person }),
        2 => (person(), person()).prop_map(|(by, person)| Step::Remove { by, person }),
        2 => (person(), person(), prop::sample::select(&["owner", "admin", "member"][..]))
            .prop_map(|(by, person, role)| Step::SetRole { by, person, role }),
        2 => (person(), change()).prop_map(|(by, change)| Step::Change { by, change }),
        1 => prop::sample::select(&[1, 3, 3, 3, 4, 4, 5, 5][..]).prop_map(|by| Step::Dissolve { by }),
        2 => (person(), prop::option::of(any::<u8>())).prop_map(|(by, back)| Step::Hide { by, back }),
        1 => (person(), any::<Option<bool>>(), any::<Option<bool>>())
            .prop_map(|(by, pinned, muted)| Step::Settle { by, pinned, muted }),
        1 => Just(Step::RestartProjector),
        1 => Just(Step::Look),
    ]
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Chat,
    Group { shows_all: bool },
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Chat), any::<bool>().prop_map(|shows_all| Kind::Group { shows_all })]
}

#[test]
fn every_view_is_what_a_naive_model_says() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let product = runtime.block_on(Product::start());
    let config =
        Config { cases: CASES, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let outcome = TestRunner::new(config)
        .run(&(kind(), prop::collection::vec(step(), 10..STEPS)), |(kind, steps)| {
            runtime.block_on(product.play(kind, steps))
        });
    runtime.block_on(product.stop());
    outcome.unwrap();
}

struct Product {
    store: Arc<dyn EventStore>,
    handler: CommandHandler,
    generation: Generation,
    projector: tokio::sync::Mutex<Option<ProjectorHandle>>,
    conversations: AtomicU64,
    _database: tests::TestDatabase,
}

impl Product {
    async fn start() -> Self {
        let database = migrated().await;
        let (store, handler) = node(postgres_log(&database.config).await);
        let generation = Generation::serving(&database.config, CONNECTIONS).await.unwrap();
        let projector =
            Projector::start(Arc::clone(&store), generation.clone(), HandClock::new()).await.unwrap();
        let projector = tokio::sync::Mutex::new(Some(projector));
        Self { store, handler, generation, projector, conversations: AtomicU64::new(0), _database: database }
    }

    async fn stop(self) {
        if let Some(projector) = self.projector.into_inner() {
            projector.shutdown().await;
        }
    }

    async fn restart_projector(&self) {
        let mut projector = self.projector.lock().await;
        if let Some(running) = projector.take() {
            running.shutdown().await;
        }
        let started =
            Projector::start(Arc::clone(&self.store), self.generation.clone(), HandClock::new()).await;
        *projector = Some(started.unwrap());
    }

    async fn read_models(&self) -> ReadModels {
        let progress = self.projector.lock().await.as_ref().map(ProjectorHandle::progress);
        ReadModels::new(Arc::clone(&self.store), self.generation.clone(), progress)
    }

    async fn play(&self, kind: Kind, steps: Vec<Step>) -> Result<(), TestCaseError> {
        let number = self.conversations.fetch_add(1, Ordering::Relaxed);
        // Other people in each case, so that a chat is a fresh one.
        let shift = number * 10;
        let (conv, model) = match kind {
            Kind::Chat => (chat(shift + 1, shift + 2), Model::chat([1, 2])),
            Kind::Group { shows_all } => {
                let conv = group(&format!("case-{number}"));
                let history = if shows_all { History::All } else { History::Joined };
                let create = Command::CreateGroup {
                    owner: uid(shift + 1),
                    name: GroupName::parse("Case").unwrap(),
                    members: vec![uid(shift + 2), uid(shift + 3)],
                    history,
                    limit: 100,
                    stamp: stamp(),
                };
                self.handler.handle(conv.clone(), request(create)).await.unwrap();
                (conv, Model::group(1, &[2, 3], shows_all))
            }
        };
        let mut case = Case { product: self, conv, shift, model, sent: vec![] };
        for step in steps {
            case.step(step).await?;
        }
        case.look().await
    }
}

struct Case<'a> {
    product: &'a Product,
    conv: ConvId,
    shift: u64,
    model: Model,
    /// Every send that went through, to be repeated.
    sent: Vec<(Request, usize)>,
}

impl Case<'_> {
    async fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Send { by, quotes } => self.send(by, quotes.map(|back| self.back(back))).await?,
            Step::Burst { by, count } => {
                for _ in 0..count {
                    self.send(by, None).await?;
                }
            }
            Step::Repeat { back } => {
                let at = self.sent.len().checked_sub(1 + usize::from(back) % self.sent.len().max(1));
                if let Some((mut request, seq)) = at.and_then(|at| self.sent.get(at)).cloned() {
                    if let Command::Send(send) = &mut request.command {
                        send.msg_id = domain::MsgId::new(send.msg_id.get() + 1);
                    }
                    let reply = self.product.handler.handle(self.conv.clone(), request).await;
                    let repeat = matches!(&reply, Ok(Reply::Sent(sent)) if sent.duplicate && sent.seq.get() == seq as u64);
                    prop_assert!(repeat, "a repeat of message {} was answered {:?}", seq, reply);
                }
            }
            Step::Recall { by, back } => {
                let seq = self.back(back);
                let by_caller = Caller { uid: self.uid(by), admin: false };
                let expected = match self.model.recall(by, seq) {
                    Expected::Done(person) => Expected::Done(self.uid(person).get()),
                    other => other,
                };
                let command =
                    Command::Recall { seq: Seq::new(seq as u64), by: by_caller, at: START, window: 0 };
                self.expect(command, expected).await?;
            }
            Step::Delete { by, back } => {
                let (seqs, command) = self.seqs(&back);
                let expected = self.model.delete(by, &seqs);
                self.expect(Command::Delete { uid: self.uid(by), seqs: command }, expected).await?;
            }
            Step::Restore { by, back } => {
                let (seqs, command) = self.seqs(&back);
                let expected = self.model.restore(by, &seqs);
                self.expect(Command::Restore { uid: self.uid(by), seqs: command }, expected).await?;
            }
            Step::Read { by, back } => {
                let seq = self.model.messages.len().saturating_add_signed(-isize::from(back.max(-2)));
                let expected = self.model.read(by, seq);
                let read_seq = Seq::new(seq as u64);
                self.expect(Command::Read { uid: self.uid(by), read_seq, at: START }, expected).await?;
            }
            Step::Clear { by, back } => {
                let up_to = back.map(|back| self.back(back));
                let expected = self.model.clear(by, up_to);
                let up_to_seq = up_to.map(|seq| Seq::new(seq as u64));
                // Only those inside ask what they see.
                if !self.model.is_inside(by) && matches!(expected, Expected::Done(_)) {
                    return Ok(());
                }
                self.expect(Command::Clear { uid: self.uid(by), up_to_seq, key: None }, expected).await?;
            }
            Step::Add { by, person } => {
                let expected = self.model.add(by, person);
                let uids = vec![self.uid(person)];
                let (by, stamp) = (self.uid(by), stamp());
                self.expect(Command::AddMembers { by, uids, limit: 100, stamp }, expected).await?;
            }
            Step::Remove { by, person } => {
                let expected = self.model.remove(by, person);
                let (by, uid, stamp) = (self.uid(by), self.uid(person), stamp());
                self.expect(Command::RemoveMember { by, uid, stamp }, expected).await?;
            }
            Step::SetRole { by, person, role } => {
                let expected = self.model.set_role(by, person, role);
                let (by, uid, role) = (self.uid(by), self.uid(person), Role::parse(role).unwrap());
                self.expect(Command::SetRole { by, uid, role }, expected).await?;
            }
            Step::Change { by, change } => {
                let expected = self.model.change(by, &change);
                let mut asked = GroupChange::default();
                match change {
                    Change::Name(name) => asked.name = Some(name),
                    Change::ShowsAll(on) => {
                        asked.history = Some(if on { History::All } else { History::Joined });
                    }
                    Change::Mute(on) => asked.mute_all = Some(on),
                    Change::MembersInvite(on) => {
                        asked.invite = Some(if on { Invite::Members } else { Invite::Admins });
                    }
                }
                let command = Command::ChangeGroup { by: self.uid(by), change: asked, stamp: stamp() };
                self.expect(command, expected).await?;
            }
            Step::Dissolve { by } => {
                let expected = self.model.dissolve(by);
                self.expect(Command::DissolveGroup { by: self.uid(by), stamp: stamp() }, expected).await?;
            }
            Step::Hide { by, back } => {
                let up_to = back.map(|back| self.back(back));
                let expected = self.model.hide(by, up_to);
                if !self.model.is_inside(by) && matches!(expected, Expected::Done(_)) {
                    return Ok(());
                }
                let up_to_seq = up_to.map(|seq| Seq::new(seq as u64));
                self.expect(Command::Hide { uid: self.uid(by), up_to_seq, key: None }, expected).await?;
            }
            Step::Settle { by, pinned, muted } => {
                let expected = self.model.settle(by, pinned, muted);
                self.expect(Command::Settle { uid: self.uid(by), pinned, muted }, expected).await?;
            }
            Step::RestartProjector => self.product.restart_projector().await,
            Step::Look => self.look().await?,
        }
        Ok(())
    }

    async fn send(&mut self, by: Person, quotes: Option<usize>) -> Result<(), TestCaseError> {
        let n = self.model.messages.len() as u64 * 8 + self.sent.len() as u64 + by;
        let text = format!("message {n} of {by} 消息");
        let expected = self.model.send(by, &text, quotes);
        let mut request = say(self.uid(by).get(), n * 2, &text);
        if let Command::Send(send) = &mut request.command {
            send.reply_to = quotes.map(|seq| Seq::new(seq as u64));
        }
        if let Expected::Sent(seq) = expected {
            self.sent.push((request.clone(), seq));
        }
        self.expect(request.command, expected).await
    }

    async fn expect(&self, command: Command, expected: Expected) -> Result<(), TestCaseError> {
        let what = format!("{command:?}");
        let reply = self.product.handler.handle(self.conv.clone(), request(command)).await;
        let actual = match reply {
            Ok(Reply::Sent(sent)) if !sent.duplicate => Expected::Sent(sent.seq.get() as usize),
            Ok(Reply::Recalled { by, .. }) => Expected::Done(by.get()),
            Ok(Reply::Deleted(n) | Reply::Restored(n)) => Expected::Done(n),
            Ok(Reply::Read(seq) | Reply::Cleared { min_seq: seq }) => Expected::Done(seq.get()),
            Ok(Reply::Added(new)) => Expected::Done(new.len() as u64),
            Ok(Reply::Removed | Reply::Done) => Expected::Done(0),
            Ok(Reply::Settled(settings)) => Expected::Settled(settings.pinned, settings.muted),
            Err(CommandError::Rejected(rejection)) => match rejection {
                Rejection::NotAMember => Expected::NotAMember,
                Rejection::NotAllowed => Expected::NotAllowed,
                Rejection::MessageNotFound(_) => Expected::NotFound,
                Rejection::NotSender => Expected::NotSender,
                Rejection::ReadBeyondHead { .. } | Rejection::ClearBeyondHead { .. } => Expected::Beyond,
                Rejection::OwnerStays => Expected::OwnerStays,
                Rejection::MemberNotFound => Expected::NoSuchMember,
                Rejection::Muted => Expected::Muted,
                Rejection::GroupDissolved => Expected::Dissolved,
                other => return Err(TestCaseError::fail(format!("{what}: {other:?}"))),
            },
            other => return Err(TestCaseError::fail(format!("{what}: {other:?}"))),
        };
        prop_assert_eq!(actual, expected, "{}", what);
        Ok(())
    }

    /// Every view of every person.
    async fn look(&self) -> Result<(), TestCaseError> {
        let read_models = self.product.read_models().await;
        for person in PEOPLE {
            let viewer = self.uid(person);
            let summary = read_models.summary(&self.conv, viewer).await;
            self.look_at_list(&read_models, person).await?;
            if !self.model.is_inside(person) {
                prop_assert!(matches!(summary, Err(QueryError::NotAMember)), "{:?}", summary);
                let page = read_models.page(&self.conv, viewer, Range::default(), PageLimit::default()).await;
                prop_assert!(matches!(page, Err(QueryError::NotAMember)), "{:?}", page);
                continue;
            }
            let summary = summary.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
            let numbers = [summary.max_seq, summary.min_seq, summary.read_seq].map(|seq| seq.get() as usize);
            let (max, lowest) = (self.model.messages.len(), self.model.lowest(person));
            prop_assert_eq!(numbers, [max, lowest, self.model.read_seq(person)], "of {}", person);
            prop_assert_eq!(summary.unread, self.model.unread(person), "unread of {}", person);
            let last = self.model.last_message(person);
            prop_assert_eq!(summary.last_message.as_ref().map(|item| item.seq.get() as usize), last);
            if let (Some(item), Some(seq)) = (&summary.last_message, last) {
                prop_assert_eq!(self.seen(item), self.model.seen(person, seq));
            }
            let settings = (summary.settings.pinned, summary.settings.muted);
            prop_assert_eq!(settings, self.model.settings(person), "of {}", person);
            self.look_at_pages(&read_models, person).await?;
            self.look_at_group(&read_models, person).await?;
        }
        self.look_at_readers(&read_models).await
    }

    /// Nobody here is in any other conversation.
    async fn look_at_list(&self, read_models: &ReadModels, person: Person) -> Result<(), TestCaseError> {
        let page = read_models.summaries(self.uid(person), PageLimit::default(), None).await;
        let listed = page.map_err(|error| TestCaseError::fail(format!("{error:?}")))?.conversations;
        prop_assert_eq!(listed.len(), usize::from(self.model.is_listed(person)), "in the list of {}", person);
        if let Some(listed) = listed.first() {
            let alone = read_models.summary(&self.conv, self.uid(person)).await;
            prop_assert_eq!(listed, &alone.map_err(|error| TestCaseError::fail(format!("{error:?}")))?);
        }
        Ok(())
    }

    async fn look_at_group(&self, read_models: &ReadModels, person: Person) -> Result<(), TestCaseError> {
        if !self.conv.is_group() {
            return Ok(());
        }
        let group = read_models.group(&self.conv, self.uid(person)).await;
        let group = group.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        prop_assert_eq!(group.role.name(), self.model.role(person), "of {}", person);
        prop_assert_eq!(group.members, self.model.inside().len() as u64);
        prop_assert_eq!(
            (group.name.as_str(), group.mute_all, group.dissolved),
            (self.model.name.as_str(), self.model.muted, self.model.dissolved)
        );
        Ok(())
    }

    async fn look_at_pages(&self, read_models: &ReadModels, person: Person) -> Result<(), TestCaseError> {
        let (max, lowest) = (self.model.messages.len(), self.model.lowest(person));
        let seq = |n: usize| Some(Seq::new(n as u64));
        for (range, limit) in [
            (Range::default(), 50),
            (Range::default(), 200),
            (Range { after_seq: seq(0), before_seq: None }, 200),
            (Range { after_seq: seq(max / 2), before_seq: None }, 7),
            (Range { before_seq: seq(max / 2 + 1), after_seq: None }, 30),
            (Range { after_seq: seq(95), before_seq: seq(106) }, 200),
            (Range { after_seq: seq(max / 3), before_seq: seq(max) }, 20),
        ] {
            let limit_given = PageLimit::new(limit).unwrap();
            let page = read_models.page(&self.conv, self.uid(person), range, limit_given).await;
            let page = page.map_err(|error| TestCaseError::fail(format!("{range:?}: {error:?}")))?;
            let low = range.after_seq.map_or(0, |seq| seq.get() as usize).max(lowest - 1) + 1;
            let high =
                range.before_seq.map_or(usize::MAX, |seq| seq.get() as usize).saturating_sub(1).min(max);
            let all: Vec<usize> = (low..=high).collect();
            let cut = all.len().saturating_sub(limit as usize);
            let expected = if range.after_seq.is_some() { &all[..all.len() - cut] } else { &all[cut..] };
            let seqs: Vec<usize> = page.items.iter().map(|item| item.seq.get() as usize).collect();
            prop_assert_eq!(&seqs, expected, "{:?} limit {} of {}", range, limit, person);
            prop_assert_eq!(page.has_more, cut > 0, "{:?} limit {} of {}", range, limit, person);
            for item in &page.items {
                prop_assert_eq!(
                    self.seen(item),
                    self.model.seen(person, item.seq.get() as usize),
                    "seq {}",
                    item.seq
                );
            }
        }
        Ok(())
    }

    async fn look_at_readers(&self, read_models: &ReadModels) -> Result<(), TestCaseError> {
        let Some(viewer) = self.model.inside().first().copied() else { return Ok(()) };
        let failed = |error: QueryError| TestCaseError::fail(format!("{error:?}"));
        let limit = PageLimit::new(200).unwrap();
        let positions =
            read_models.read_positions(&self.conv, self.uid(viewer), None, limit).await.map_err(failed)?;
        let positions: Vec<(Person, usize)> = positions
            .iter()
            .map(|position| (position.uid.get() - self.shift, position.read_seq.get() as usize))
            .collect();
        let expected: Vec<_> =
            self.model.inside().into_iter().map(|person| (person, self.model.read_seq(person))).collect();
        prop_assert_eq!(positions, expected);
        let newest = self.model.messages.len();
        if newest == 0 || newest < self.model.lowest(viewer) {
            return Ok(());
        }
        let readers = read_models
            .readers(&self.conv, self.uid(viewer), Seq::new(newest as u64), None, limit)
            .await
            .map_err(failed)?;
        let people = |uids: &[domain::Uid]| uids.iter().map(|uid| uid.get() - self.shift).collect::<Vec<_>>();
        let expected = self.model.readers(newest);
        prop_assert_eq!((people(&readers.read), people(&readers.unread)), expected.clone());
        prop_assert_eq!(
            (readers.read_count, readers.unread_count),
            (expected.0.len() as u64, expected.1.len() as u64)
        );
        Ok(())
    }

    fn seen(&self, item: &Item) -> Seen {
        let person = |sender: domain::Sender| match sender {
            domain::Sender::System => SYSTEM,
            domain::Sender::Person(uid) => uid.get() - self.shift,
        };
        match &item.state {
            ItemState::Normal(fact) => Seen::Normal {
                sender: person(fact.sender),
                text: self.text(fact),
                quote: item.quote.as_ref().map(|quote| {
                    let state = match quote.state {
                        QuoteState::Normal => "normal",
                        QuoteState::Recalled => "recalled",
                        QuoteState::Deleted => "deleted",
                        QuoteState::Expired => "expired",
                        QuoteState::Hidden => "hidden",
                    };
                    (quote.seq.get() as usize, state, quote.excerpt.clone())
                }),
            },
            ItemState::Recalled(fact, recall) => {
                Seen::Recalled { sender: person(fact.sender), by: recall.by.get() - self.shift }
            }
            ItemState::Deleted => Seen::Deleted,
            ItemState::Expired => panic!("nothing expires here"),
        }
    }

    /// What a person says, or what the system tells of whom.
    fn text(&self, fact: &domain::Fact) -> String {
        match serde_json::from_str(fact.content.json()).unwrap() {
            serde_json::Value::String(text) => text,
            told => {
                let by = told["by"].as_u64().unwrap() - self.shift;
                format!("{} by {by}", told["event"].as_str().unwrap())
            }
        }
    }

    /// A seq from the end, sometimes one that is not there.
    fn back(&self, back: u8) -> usize {
        let head = self.model.messages.len();
        if back == 0 { head + 1 } else { (head + 1).saturating_sub(usize::from(back)).max(1) }
    }

    fn seqs(&self, backs: &[u8]) -> (BTreeSet<usize>, Vec<Seq>) {
        let seqs: BTreeSet<usize> = backs.iter().map(|back| self.back(*back)).collect();
        let command = seqs.iter().map(|seq| Seq::new(*seq as u64)).collect();
        (seqs, command)
    }

    fn uid(&self, person: Person) -> domain::Uid {
        uid(person + self.shift)
    }
}

//! Given-when-then over the pure domain: a history of facts, one command, the facts and the answer it comes to.
//! Long because it has a word for every command and every fact.

use uuid::Uuid;

use super::{Decision, decide, needs};
use crate::{
    command::{Caller, Command, Import, Reply, Send, Source, Stamp},
    content::{Content, Flags},
    conv_id::{ConvId, GroupSlug},
    conversation::{Conversation, Key, Need},
    event::{Event, GroupChange, History, Role, Settings},
    event_id::{EventId, unnamed_client_msg_id},
    group::GroupName,
    ids::{ClientMsgId, Ms, Sender, Seq, Uid},
    keeping::Reason,
    rejection::Rejection,
    snowflake::MsgId,
};

pub(crate) const ANA: Uid = uid(1);
pub(crate) const BO: Uid = uid(2);
pub(crate) const CY: Uid = uid(3);
pub(crate) const DAN: Uid = uid(4);
pub(crate) const NOW: Ms = 1_764_000_000_000;
const STAMP: Stamp = Stamp { msg_id: MsgId::new(3), at: NOW };
const HEAD: Seq = Seq::new(Seq::MAX);
pub(crate) const WINDOW: Ms = 120_000;

const fn uid(n: u64) -> Uid {
    match Uid::new(n) {
        Ok(uid) => uid,
        Err(_) => panic!("a test's uid is in range"),
    }
}

pub(crate) fn seq(n: u64) -> Seq {
    Seq::new(n)
}

fn named(name: &str) -> ClientMsgId {
    ClientMsgId::new(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
}

fn text(text: &str) -> Content {
    Content::text(text, 1000).unwrap()
}

/// A conversation's history so far.
pub(crate) struct Given {
    state: Conversation,
}

pub(crate) fn given_chat(history: impl IntoIterator<Item = Event>) -> Given {
    Given { state: Conversation::at(ConvId::single(ANA, BO), [0; 3]) }.and(history)
}

pub(crate) fn given_group(history: impl IntoIterator<Item = Event>) -> Given {
    let slug = GroupSlug::parse("team").unwrap();
    Given { state: Conversation::at(ConvId::group(&slug), [0; 3]) }.and(history)
}

impl Given {
    /// More facts.
    pub(crate) fn and(mut self, history: impl IntoIterator<Item = Event>) -> Self {
        for mut event in history {
            if let Event::MembersJoined { joined_seq, .. } = &mut event
                && *joined_seq == HEAD
            {
                *joined_seq = self.state.max_seq();
            }
            let id = match &event {
                Event::MessageSent { client_msg_id, sender, .. } => {
                    let sent = EventId::sent(&self.state.id, Uid::new(sender.get()).unwrap(), *client_msg_id);
                    // An imported one carries its own id as the client's name for it.
                    let imported = EventId::new(client_msg_id.get());
                    if unnamed_client_msg_id(imported) == *client_msg_id
                        && client_msg_id.get().get_version_num() == 5
                        && self.is_import(imported)
                    {
                        imported
                    } else {
                        sent
                    }
                }
                _ => EventId::new(Uuid::nil()),
            };
            self.learn_all(&event);
            let version = self.state.version(event.stream()) + 1;
            self.state.evolve(&event, version, id);
        }
        self
    }

    /// The facts of a command that goes through.
    pub(crate) fn after(mut self, command: Command) -> Self {
        self.learn(&command);
        for (id, event) in decide(&self.state, &command).unwrap().events {
            let version = self.state.version(event.stream()) + 1;
            self.state.evolve(&event, version, id);
        }
        self
    }

    pub(crate) fn when(mut self, command: Command) -> Outcome {
        self.learn(&command);
        Outcome { result: decide(&self.state, &command) }
    }

    fn is_import(&self, id: EventId) -> bool {
        [ANA, BO, CY].iter().any(|uid| ["x", "y"].iter().any(|text| line(*uid, text) == id))
    }

    /// What a loader finds for a history that is all here: unknown means absent.
    fn learn(&mut self, command: &Command) {
        for need in needs(&self.state.id, command) {
            if !self.state.knows(&need) {
                match need {
                    Need::Piece(key) => self.learn_key(key),
                    Need::Message(seq) => drop(self.state.messages.insert(seq, None)),
                    Need::Event(_, id) => drop(self.state.earlier.insert(id, None)),
                }
            }
        }
    }

    fn learn_all(&mut self, event: &Event) {
        let known = self.state.clone().evolve(event, 0, EventId::new(Uuid::nil()));
        known.into_iter().for_each(|key| self.learn_key(key));
    }

    fn learn_key(&mut self, key: Key) {
        match key {
            Key::Group => drop(self.state.group.get_or_insert(None)),
            Key::Member(uid) => drop(self.state.members.entry(uid).or_insert(None)),
            Key::Person(uid) => drop(self.state.people.entry(uid).or_default()),
            Key::Deleted(uid, bucket) => drop(self.state.deleted.entry((uid, bucket)).or_default()),
            Key::Recall(seq) => drop(self.state.recalls.entry(seq).or_insert(None)),
            Key::Keeping => drop(self.state.keeping.get_or_insert_default()),
        }
    }
}

pub(crate) struct Outcome {
    result: Result<Decision, Rejection>,
}

impl Outcome {
    #[track_caller]
    pub(crate) fn then_rejected(self, reason: Rejection) {
        assert_eq!(self.result, Err(reason));
    }

    #[track_caller]
    pub(crate) fn then_nothing(self, reply: Reply) {
        assert_eq!(self.result, Ok(Decision { events: vec![], reply }));
    }

    #[track_caller]
    pub(crate) fn then(self, event: Event, reply: Reply) {
        let decision = self.result.unwrap();
        assert_eq!(decision.reply, reply);
        assert_eq!(decision.events.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), [event]);
    }

    #[track_caller]
    pub(crate) fn then_event(self, event: Event) {
        self.then_events([event]);
    }

    #[track_caller]
    pub(crate) fn then_events<const N: usize>(self, events: [Event; N]) {
        let decision = self.result.unwrap();
        assert_eq!(decision.events.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), events);
    }

    /// This fact, and the system's message that tells of it. Returns the answer.
    #[track_caller]
    pub(crate) fn then_told(self, event: Event, told: &str) -> Reply {
        self.then_all_told([event], told)
    }

    #[track_caller]
    pub(crate) fn then_all_told<const N: usize>(self, events: [Event; N], told: &str) -> Reply {
        let decision = self.result.unwrap();
        let mut facts: Vec<Event> = decision.events.into_iter().map(|(_, event)| event).collect();
        let message = facts.pop();
        assert_eq!(facts, events);
        let Some(Event::MessageSent { sender: Sender::System, content, .. }) = message else {
            panic!("nothing is told: {message:?}");
        };
        let content: serde_json::Value = serde_json::from_str(content.json()).unwrap();
        assert_eq!(content["event"], told);
        decision.reply
    }

    #[track_caller]
    pub(crate) fn then_sent(self, n: u64) {
        let decision = self.result.unwrap();
        assert!(
            matches!(&decision.reply, Reply::Sent(sent) if sent.seq == seq(n) && !sent.duplicate),
            "{decision:?}"
        );
        assert!(matches!(&decision.events[..], [(_, Event::MessageSent { .. })]), "{decision:?}");
    }

    #[track_caller]
    pub(crate) fn then_duplicate(self, n: u64) {
        let decision = self.result.unwrap();
        assert!(
            matches!(&decision.reply, Reply::Sent(sent) if sent.seq == seq(n) && sent.duplicate),
            "{decision:?}"
        );
        assert_eq!(decision.events, []);
    }
}

// Commands.

pub(crate) fn send(sender: Uid, said: &str) -> Command {
    send_as(sender, said, said)
}

pub(crate) fn send_as(sender: Uid, name: &str, said: &str) -> Command {
    Command::Send(Send {
        client_msg_id: named(name),
        msg_id: MsgId::new(2),
        sender,
        content: text(said),
        flags: Flags::NONE,
        mentions: vec![],
        reply_to: None,
        at: NOW,
    })
}

pub(crate) fn reply(sender: Uid, to: u64) -> Command {
    match send(sender, "reply") {
        Command::Send(send) => Command::Send(Send { reply_to: Some(seq(to)), ..send }),
        other => other,
    }
}

pub(crate) fn recall(by: Uid, n: u64) -> Command {
    recall_at(by, n, NOW)
}

pub(crate) fn recall_at(uid: Uid, n: u64, at: Ms) -> Command {
    Command::Recall { seq: seq(n), by: Caller { uid, admin: false }, at, window: WINDOW }
}

pub(crate) fn recall_as_admin(uid: Uid, n: u64) -> Command {
    Command::Recall { seq: seq(n), by: Caller { uid, admin: true }, at: NOW, window: WINDOW }
}

pub(crate) fn delete(uid: Uid, seqs: &[u64]) -> Command {
    Command::Delete { uid, seqs: seqs.iter().copied().map(seq).collect() }
}

pub(crate) fn restore(uid: Uid, seqs: &[u64]) -> Command {
    Command::Restore { uid, seqs: seqs.iter().copied().map(seq).collect() }
}

pub(crate) fn have_read(uid: Uid, n: u64) -> Command {
    Command::Read { uid, read_seq: seq(n), at: NOW }
}

pub(crate) fn clear(uid: Uid, up_to: Option<u64>) -> Command {
    Command::Clear { uid, up_to_seq: up_to.map(seq), key: None }
}

pub(crate) fn clear_keyed(uid: Uid, key: Uuid) -> Command {
    Command::Clear { uid, up_to_seq: None, key: Some(key) }
}

fn name() -> GroupName {
    GroupName::parse("Team").unwrap()
}

pub(crate) fn create(owner: Uid, members: &[Uid]) -> Command {
    create_limited(owner, members, 100)
}

pub(crate) fn create_limited(owner: Uid, members: &[Uid], limit: u32) -> Command {
    let (members, history) = (members.into(), History::Joined);
    Command::CreateGroup { owner, name: name(), members, history, limit, stamp: STAMP }
}

pub(crate) fn add(by: Uid, uids: &[Uid]) -> Command {
    add_limited(by, uids, 100)
}

pub(crate) fn add_limited(by: Uid, uids: &[Uid], limit: u32) -> Command {
    Command::AddMembers { by, uids: uids.into(), limit, stamp: STAMP }
}

pub(crate) fn remove(by: Uid, uid: Uid) -> Command {
    Command::RemoveMember { by, uid, stamp: STAMP }
}

pub(crate) fn set_role(by: Uid, uid: Uid, role: Role) -> Command {
    Command::SetRole { by, uid, role }
}

pub(crate) fn change(by: Uid, change: GroupChange) -> Command {
    Command::ChangeGroup { by, change, stamp: STAMP }
}

pub(crate) fn dissolve(by: Uid) -> Command {
    Command::DissolveGroup { by, stamp: STAMP }
}

pub(crate) fn hide(uid: Uid, up_to: Option<u64>) -> Command {
    Command::Hide { uid, up_to_seq: up_to.map(seq), key: None }
}

pub(crate) fn hide_keyed(uid: Uid, key: Uuid) -> Command {
    Command::Hide { uid, up_to_seq: None, key: Some(key) }
}

pub(crate) fn expire(up_to: u64) -> Command {
    Command::Expire { up_to_seq: seq(up_to) }
}

pub(crate) fn erase(uid: Uid, seqs: &[u64]) -> Command {
    Command::Erase { uid, seqs: seqs.iter().copied().map(seq).collect(), by: CY.into() }
}

fn reason(text: &str) -> Reason {
    Reason::parse(text).unwrap()
}

pub(crate) fn hold(why: &str) -> Command {
    Command::Hold { by: CY.into(), reason: reason(why), at: NOW }
}

pub(crate) fn lift(why: &str) -> Command {
    Command::Lift { by: CY.into(), reason: reason(why), at: NOW }
}

pub(crate) fn settle(uid: Uid, pinned: Option<bool>, muted: Option<bool>) -> Command {
    Command::Settle { uid, pinned, muted }
}

fn source(n: Ms) -> Source {
    Source { conv: "irc".into(), at: n, nth: 0 }
}

fn line(sender: Uid, said: &str) -> EventId {
    EventId::imported(&source(1), sender, "text", 1, said)
}

pub(crate) fn import_message(sender: Uid, said: &str) -> Command {
    let (id, content) = (line(sender, said), text(said));
    Command::Import(Import::Message { id, msg_id: MsgId::new(2), sender, content, at: 1 })
}

pub(crate) fn import_join(uid: Uid, at: Ms) -> Command {
    Command::Import(Import::Join { uid, group_name: name(), source: source(at), before: None })
}

pub(crate) fn import_join_before(uid: Uid, at: Ms, said: &str) -> Command {
    let before = Some(line(uid, said));
    Command::Import(Import::Join { uid, group_name: name(), source: source(at), before })
}

pub(crate) fn import_leave(uid: Uid, at: Ms) -> Command {
    Command::Import(Import::Leave { uid, source: source(at) })
}

// Facts.

pub(crate) fn sent(sender: Uid, said: &str) -> Event {
    Event::MessageSent {
        msg_id: MsgId::new(1),
        sender: sender.into(),
        content: text(said),
        flags: Flags::NONE,
        mentions: vec![],
        reply_to: None,
        client_msg_id: named(said),
        create_at: NOW,
    }
}

pub(crate) fn imported(sender: Uid, said: &str) -> Event {
    match sent(sender, said) {
        Event::MessageSent {
            msg_id, sender: from, content, flags, mentions, reply_to, create_at, ..
        } => {
            let client_msg_id = unnamed_client_msg_id(line(sender, said));
            Event::MessageSent {
                msg_id,
                sender: from,
                content,
                flags,
                mentions,
                reply_to,
                client_msg_id,
                create_at,
            }
        }
        other => other,
    }
}

pub(crate) fn recalled(by: Uid, n: u64) -> Event {
    recalled_at(by, n, NOW)
}

pub(crate) fn recalled_at(by: Uid, n: u64, at: Ms) -> Event {
    Event::MessageRecalled { seq: seq(n), by, at }
}

pub(crate) fn deleted(uid: Uid, seqs: &[u64]) -> Event {
    Event::MessagesDeletedFor { uid, seqs: seqs.iter().copied().map(seq).collect() }
}

pub(crate) fn restored(uid: Uid, seqs: &[u64]) -> Event {
    Event::MessagesRestoredFor { uid, seqs: seqs.iter().copied().map(seq).collect() }
}

pub(crate) fn read(uid: Uid, n: u64) -> Event {
    Event::ReadAdvanced { uid, read_seq: seq(n), at: NOW }
}

pub(crate) fn cleared(uid: Uid, n: u64) -> Event {
    Event::HistoryCleared { uid, up_to_seq: seq(n) }
}

pub(crate) fn created(owner: Uid) -> Event {
    let (name, history) = ("Team".into(), History::Joined);
    Event::GroupCreated { name, owner, history, announced: true, source: None }
}

/// In a history: joins at the head of that moment.
pub(crate) fn joined(uid: Uid) -> Event {
    joined_many(BO, &[uid], HEAD.get())
}

pub(crate) fn joined_many(by: Uid, uids: &[Uid], head: u64) -> Event {
    Event::MembersJoined { uids: uids.into(), joined_seq: seq(head), by, announced: true, source: None }
}

pub(crate) fn left(uid: Uid) -> Event {
    removed(uid, uid)
}

pub(crate) fn removed(by: Uid, uid: Uid) -> Event {
    Event::MemberLeft { uid, by, announced: true, source: None }
}

/// Out of a group that is over.
pub(crate) fn left_unsaid(uid: Uid) -> Event {
    Event::MemberLeft { uid, by: uid, announced: false, source: None }
}

pub(crate) fn role(by: Uid, uid: Uid, role: Role) -> Event {
    Event::RoleChanged { uid, role, by }
}

pub(crate) fn changed(by: Uid, change: GroupChange) -> Event {
    Event::GroupChanged { change, by }
}

pub(crate) fn dissolved(by: Uid) -> Event {
    Event::GroupDissolved { by }
}

pub(crate) fn hidden(uid: Uid, n: u64) -> Event {
    Event::ConversationHidden { uid, up_to_seq: seq(n) }
}

pub(crate) fn expired(n: u64) -> Event {
    Event::HistoryExpired { up_to_seq: seq(n) }
}

pub(crate) fn erased(uid: Uid, seqs: &[u64]) -> Event {
    Event::BodiesErased { uid, seqs: seqs.iter().copied().map(seq).collect() }
}

pub(crate) fn held(why: &str) -> Event {
    Event::HoldPlaced { by: CY.into(), reason: reason(why), at: NOW }
}

pub(crate) fn lifted(why: &str) -> Event {
    Event::HoldLifted { by: CY.into(), reason: reason(why), at: NOW }
}

pub(crate) fn settled(uid: Uid, pinned: bool, muted: bool) -> Event {
    Event::SettingsChanged { uid, settings: Settings { pinned, muted } }
}

pub(crate) fn import_created(owner: Uid, at: Ms) -> Event {
    let (name, source) = ("Team".into(), Some(source(at)));
    Event::GroupCreated { name, owner, history: History::All, announced: false, source }
}

pub(crate) fn import_joined(uid: Uid, at: Ms, head: u64) -> Event {
    let (joined_seq, source) = (seq(head), Some(source(at)));
    Event::MembersJoined { uids: vec![uid], joined_seq, by: uid, announced: false, source }
}

pub(crate) fn import_left(uid: Uid, at: Ms) -> Event {
    Event::MemberLeft { uid, by: uid, announced: false, source: Some(source(at)) }
}

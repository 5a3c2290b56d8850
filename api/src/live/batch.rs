//! A batch of one shard's events on its way to the connections: who hears of each, decided once for a conversation.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use domain::{
    ConvId, ConvKind, Event, Fact, History, Labels, Recall, Seq, StreamKind, Uid, View, Viewer, view,
};
use event_store::{Position, Recorded, Shard, Vector, codec::DecodeError};
use projections::{
    ReadModels,
    query::{Item, ItemState, QueryError, Quote},
};

use super::{
    audience::Audiences,
    hub::{Hub, Target},
    push::{Push, Whom, later, message, unsealed},
};
use crate::sync_cursor::{SyncCursors, Unsealed};

/// In larger groups others' reads are fetched: a thousand readers of one message must not become a million pushes.
pub const READS_PUSHED_MEMBERS_MAX: usize = 50;

/// What a quoted message looks like to whom, by the position of the message that quotes it.
pub type Quotes = HashMap<Position, Vec<(Quote, Vec<Uid>)>>;

/// Events with everything that is needed to push them.
pub struct Batch<'a> {
    events: Vec<Heard<'a>>,
    /// By conversation, each decided once.
    audiences: HashMap<ConvId, Audience>,
    /// The connections of those who left, by the event's position.
    departed: HashMap<Position, Vec<Target>>,
    later: Later,
}

/// An event that somebody here may hear of.
struct Heard<'a> {
    conv: &'a ConvId,
    recorded: &'a Recorded,
    /// None: a message whose body is gone.
    event: Option<Event>,
}

/// Who of a conversation is connected here, at the batch's end.
struct Audience {
    targets: Vec<Target>,
    members: usize,
    /// Do members see what was said before they came in?
    sees_all: bool,
}

/// What becomes of messages within the batch.
#[derive(Default)]
struct Later {
    recalls: HashMap<(ConvId, Seq), Recall>,
    deleted: HashSet<(ConvId, Seq, Uid)>,
    cleared: HashMap<(ConvId, Uid), Seq>,
    erased: HashSet<(ConvId, Seq)>,
    expired: HashMap<ConvId, Seq>,
}

impl Later {
    fn note(&mut self, conv: &ConvId, event: &Event) {
        match event {
            Event::MessageRecalled { seq, by, at } => {
                self.recalls.insert((conv.clone(), *seq), Recall { by: *by, at: *at });
            }
            Event::MessagesDeletedFor { uid, seqs } => {
                self.deleted.extend(seqs.iter().map(|seq| (conv.clone(), *seq, *uid)));
            }
            Event::MessagesRestoredFor { uid, seqs } => {
                for seq in seqs {
                    self.deleted.remove(&(conv.clone(), *seq, *uid));
                }
            }
            Event::HistoryCleared { uid, up_to_seq } | Event::ConversationHidden { uid, up_to_seq } => {
                let stands = self.cleared.entry((conv.clone(), *uid)).or_default();
                *stands = (*stands).max(*up_to_seq);
            }
            Event::HistoryExpired { up_to_seq } => {
                let stands = self.expired.entry(conv.clone()).or_default();
                *stands = (*stands).max(*up_to_seq);
            }
            Event::BodiesErased { uid: _, seqs } => {
                self.erased.extend(seqs.iter().map(|seq| (conv.clone(), *seq)));
            }
            Event::MessageSent { .. }
            | Event::ReadAdvanced { .. }
            | Event::GroupCreated { .. }
            | Event::MembersJoined { .. }
            | Event::MemberLeft { .. }
            | Event::SettingsChanged { .. }
            | Event::HoldPlaced { .. }
            | Event::HoldLifted { .. }
            | Event::RoleChanged { .. }
            | Event::GroupChanged { .. }
            | Event::GroupDissolved { .. } => {}
        }
    }
}

impl<'a> Batch<'a> {
    /// Decides who hears of what; `at` is where the shard stood before the batch.
    pub async fn learn(
        hub: &Hub,
        read_models: &ReadModels,
        groups: &mut Audiences,
        at: Position,
        recorded: &'a [Recorded],
    ) -> Result<Self, QueryError> {
        let convs: BTreeSet<&ConvId> = recorded.iter().filter_map(|it| it.header.stream.conv()).collect();
        let mut audiences = HashMap::new();
        for conv in &convs {
            match conv.kind() {
                ConvKind::Single { lo, hi } => {
                    let both = BTreeSet::from([lo, hi]);
                    let members = both.len();
                    let targets = hub.of(both.into_iter().map(|uid| (uid, Seq::ZERO)));
                    audiences.insert((*conv).clone(), Audience { targets, members, sees_all: true });
                }
                ConvKind::Group => groups.learn(read_models, conv, at).await?,
            }
        }
        let (mut events, mut later) = (Vec::with_capacity(recorded.len()), Later::default());
        let mut departed = HashMap::new();
        for recorded in recorded {
            let Some(conv) = recorded.header.stream.conv() else { continue };
            if audiences.get(conv).is_some_and(|audience: &Audience| audience.targets.is_empty()) {
                continue;
            }
            match recorded.event() {
                Ok(event) => {
                    if let Event::MemberLeft { uid, .. } = event {
                        departed.insert(recorded.header.position, hub.of([(uid, Seq::ZERO)]));
                    }
                    groups.follow(conv, &event);
                    later.note(conv, &event);
                    events.push(Heard { conv, recorded, event: Some(event) });
                }
                Err(DecodeError::Erased) if recorded.header.stream.kind() == Some(StreamKind::Message) => {
                    events.push(Heard { conv, recorded, event: None });
                }
                // The projector parks the conversation and says so; its questions answer 503 until it is well.
                Err(error) => tracing::warn!(%conv, %error, "an event is not pushed"),
            }
        }
        for conv in convs {
            if let Some(group) = groups.group(conv) {
                let targets = hub.of_members(&group.members);
                let (members, sees_all) = (group.members.len(), group.history == History::All);
                audiences.insert(conv.clone(), Audience { targets, members, sees_all });
            }
        }
        Ok(Self { events, audiences, departed, later })
    }

    /// How quoted messages look to those who hear of the messages that quote them.
    pub async fn quotes(&self, read_models: &ReadModels) -> Result<Quotes, QueryError> {
        let mut quotes = Quotes::new();
        for Heard { conv, recorded, event } in &self.events {
            let Some(Event::MessageSent { reply_to: Some(quoted), .. }) = event else { continue };
            let position = recorded.header.position;
            let Some(audience) = self.audiences.get(conv) else { continue };
            let uids: BTreeSet<Uid> = audience.targets.iter().map(|target| target.uid).collect();
            let uids: Vec<Uid> = uids.into_iter().collect();
            if !uids.is_empty() {
                quotes.insert(position, read_models.quotes(conv, position, *quoted, &uids).await?);
            }
        }
        Ok(quotes)
    }

    /// Queues everything, in the order of the positions.
    pub fn push(&self, cursors: &SyncCursors, before: Vector, quotes: &Quotes) {
        let resync = Push::resync(&unsealed(cursors, &before));
        let mut vector = before;
        for Heard { conv, recorded, event } in &self.events {
            let header = &recorded.header;
            let place = (header.shard, header.position);
            vector.raise(place.0, place.1);
            // No push tells them that they are out, and the cursors of later ones lie beyond it: a sync does.
            for target in self.departed.get(&place.1).into_iter().flatten() {
                target.outbox.push(place, &resync, &resync);
            }
            let Some(audience) = self.audiences.get(*conv).filter(|it| !it.targets.is_empty()) else {
                continue;
            };
            let cursor = unsealed(cursors, &vector);
            let send = Sender { audience, place, resync: &resync };
            let seq = Seq::new(header.version);
            match event {
                None => self.message(&send, conv, seq, None, &cursor, quotes),
                Some(event) => match fact(seq, event) {
                    Some(fact) => self.message(&send, conv, seq, Some(&fact), &cursor, quotes),
                    None => Self::later(&send, conv, event, &cursor),
                },
            }
        }
    }

    fn later(send: &Sender<'_>, conv: &ConvId, event: &Event, cursor: &Arc<Unsealed>) {
        let Some((what, whom)) = later(conv.as_str(), event) else { return };
        let audience = send.audience;
        if let (Whom::SeesSome, Event::BodiesErased { uid, seqs }) = (whom, event) {
            return Self::erased(send, conv, *uid, seqs, cursor);
        }
        send.to(&Push::new(&what, cursor), |target| match whom {
            Whom::All | Whom::SeesSome => true,
            Whom::Sees(seq) => audience.sees_all || seq > target.joined,
            Whom::Only(uid) => target.uid == uid,
            Whom::Reader(uid) => target.uid == uid || audience.members <= READS_PUSHED_MEMBERS_MAX,
        });
    }

    /// One frame for each class of viewers: of messages from before they came in they hear nothing.
    fn erased(send: &Sender<'_>, conv: &ConvId, uid: Uid, seqs: &[Seq], cursor: &Arc<Unsealed>) {
        let from = |target: &Target| if send.audience.sees_all { Seq::ZERO } else { target.joined };
        let classes: BTreeSet<Seq> = send.audience.targets.iter().map(from).collect();
        for joined in classes {
            let seqs: Vec<Seq> = seqs.iter().copied().filter(|seq| *seq > joined).collect();
            let Some((what, _)) = later(conv.as_str(), &Event::BodiesErased { uid, seqs: seqs.clone() })
            else {
                continue;
            };
            if !seqs.is_empty() {
                send.to(&Push::new(&what, cursor), |target| from(target) == joined);
            }
        }
    }

    /// One frame for each class of viewers.
    fn message(
        &self,
        send: &Sender<'_>,
        conv: &ConvId,
        seq: Seq,
        fact: Option<&Fact>,
        cursor: &Arc<Unsealed>,
        quotes: &Quotes,
    ) {
        let recalled = self.later.recalls.get(&(conv.clone(), seq)).copied();
        let fact = fact.filter(|_| !self.later.erased.contains(&(conv.clone(), seq)));
        let expired = self.later.expired.get(conv).copied().unwrap_or_default();
        let push = |state: ItemState, quote: Option<Quote>| {
            Push::new(&message(conv, Item { seq, state, quote }.into()), cursor)
        };
        let eyes = |target: &Target, deleted: bool| {
            let cleared = self.later.cleared.get(&(conv.clone(), target.uid)).copied().unwrap_or_default();
            // What was said before one came in is fetched, whatever the group shows.
            let viewer = Viewer { member: true, min_seq: view::min_seq(cleared, target.joined, expired) };
            let labels = Labels { recalled, deleted, expired: fact.is_none() };
            view(seq, fact, &labels, &viewer)
        };
        let has_deleted = |target: &Target| self.later.deleted.contains(&(conv.clone(), seq, target.uid));
        let sees = |target: &Target| !has_deleted(target) && eyes(target, false) != View::Nothing;
        let state = match (fact, recalled) {
            (None, _) => ItemState::Expired,
            (Some(fact), Some(recall)) => ItemState::Recalled(fact.clone(), recall),
            (Some(fact), None) => ItemState::Normal(fact.clone()),
        };
        match quotes.get(&send.place.1).filter(|_| matches!(state, ItemState::Normal(_))) {
            None => send.to(&push(state, None), sees),
            Some(classes) => {
                for (quote, uids) in classes {
                    let uids: HashSet<Uid> = uids.iter().copied().collect();
                    let push = push(state.clone(), Some(quote.clone()));
                    send.to(&push, |target| uids.contains(&target.uid) && sees(target));
                }
            }
        }
        if send.audience.targets.iter().any(has_deleted) {
            let deleted = |target: &Target| has_deleted(target) && eyes(target, true) == View::Deleted;
            send.to(&push(ItemState::Deleted, None), deleted);
        }
    }
}

struct Sender<'a> {
    audience: &'a Audience,
    place: (Shard, Position),
    resync: &'a Push,
}

impl Sender<'_> {
    fn to(&self, push: &Push, hears: impl Fn(&Target) -> bool) {
        for target in self.audience.targets.iter().filter(|target| hears(target)) {
            target.outbox.push(self.place, push, self.resync);
        }
    }
}

/// A sent message as a fact.
fn fact(seq: Seq, event: &Event) -> Option<Fact> {
    let Event::MessageSent { msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at } =
        event
    else {
        return None;
    };
    Some(Fact {
        seq,
        msg_id: *msg_id,
        sender: *sender,
        content: content.clone(),
        flags: *flags,
        mentions: mentions.clone(),
        reply_to: *reply_to,
        client_msg_id: *client_msg_id,
        create_at: *create_at,
    })
}

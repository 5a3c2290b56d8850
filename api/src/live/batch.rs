//! A batch of one shard's events on its way to the connections: who hears of each, decided once for a conversation.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use domain::{
    ConvId, ConvKind, Event, Fact, History, Labels, Recall, Seq, StreamKind, Uid, View, Viewer, view,
};
use event_store::{Position, Recorded, Vector, codec::DecodeError};
use projections::{
    ReadModels,
    query::{Item, ItemState, QueryError, Quote},
};
use tokio::time::Instant;

use super::{
    audience::Audiences,
    hub::{Hub, Target},
    outbox::{Place, SharedOutbox},
    push::{Push, Whom, later, message, unsealed},
};
use crate::sync_cursor::{SyncCursors, Unsealed};

/// In larger groups others' reads are fetched: a thousand readers of one message must not become a million pushes.
pub const READS_PUSHED_MEMBERS_MAX: usize = 50;

/// From so many connections on an audience is paced: five hundred that are woken for every message take the cores from
/// everybody else.
const PACED_CONNECTIONS: usize = 50;

/// What a quoted message looks like to whom, by the position of the message that quotes it.
pub type Quotes = HashMap<Position, Vec<(Quote, Vec<Uid>)>>;

/// Events with everything that is needed to push them.
pub struct Batch<'a> {
    events: Vec<Heard<'a>>,
    /// By conversation, each decided once.
    audiences: HashMap<ConvId, Audience>,
    /// The connections of those who left, by the event's position.
    departed: HashMap<Position, Vec<Target>>,
    /// By conversation, where there is anything.
    later: HashMap<ConvId, Later>,
    nothing_later: Later,
}

/// A push, its place in the log, and who of the audience hears it.
struct Told<'a> {
    place: Place,
    push: Push,
    hears: Box<dyn Fn(&Target) -> bool + 'a>,
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

/// What becomes of a conversation's messages within the batch.
#[derive(Default)]
struct Later {
    recalls: HashMap<Seq, Recall>,
    deleted: HashSet<(Seq, Uid)>,
    cleared: HashMap<Uid, Seq>,
    erased: HashSet<Seq>,
    expired: Seq,
}

impl Later {
    fn note(all: &mut HashMap<ConvId, Self>, conv: &ConvId, event: &Event) {
        // Made where it is needed: most conversations have nothing but messages.
        fn of<'l>(all: &'l mut HashMap<ConvId, Later>, conv: &ConvId) -> &'l mut Later {
            all.entry(conv.clone()).or_default()
        }
        match event {
            Event::MessageRecalled { seq, by, at } => {
                of(all, conv).recalls.insert(*seq, Recall { by: *by, at: *at });
            }
            Event::MessagesDeletedFor { uid, seqs } => {
                of(all, conv).deleted.extend(seqs.iter().map(|seq| (*seq, *uid)));
            }
            Event::MessagesRestoredFor { uid, seqs } => {
                let deleted = &mut of(all, conv).deleted;
                deleted.retain(|(seq, of)| of != uid || !seqs.contains(seq));
            }
            Event::HistoryCleared { uid, up_to_seq } | Event::ConversationHidden { uid, up_to_seq } => {
                let stands = of(all, conv).cleared.entry(*uid).or_default();
                *stands = (*stands).max(*up_to_seq);
            }
            Event::HistoryExpired { up_to_seq } => {
                let later = of(all, conv);
                later.expired = later.expired.max(*up_to_seq);
            }
            Event::BodiesErased { uid: _, seqs } => of(all, conv).erased.extend(seqs),
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
        let (mut events, mut later) = (Vec::with_capacity(recorded.len()), HashMap::new());
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
                    Later::note(&mut later, conv, &event);
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
        Ok(Self { events, audiences, departed, later, nothing_later: Later::default() })
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

    /// Queues everything, in the order of the positions. Neighbours of one conversation are queued together, so that the
    /// connections of a busy group are woken once for all of them. Those that come back have to be woken after
    /// [`PACE`](super::outbox::PACE).
    #[must_use]
    pub fn push(&self, cursors: &SyncCursors, before: Vector, quotes: &Quotes) -> Vec<SharedOutbox> {
        let resync = Push::resync(&unsealed(cursors, &before));
        let mut vector = before;
        let (now, mut to_wake) = (Instant::now(), vec![]);
        let together = |heard: &Heard<'_>, next: &Heard<'_>| {
            heard.conv == next.conv && !self.departed.contains_key(&next.recorded.header.position)
        };
        for run in self.events.chunk_by(together) {
            let audience = run.first().and_then(|heard| self.audiences.get(heard.conv));
            let audience = audience.filter(|it| !it.targets.is_empty());
            let mut told = Vec::with_capacity(run.len());
            for heard in run {
                let (shard, position) = (heard.recorded.header.shard, heard.recorded.header.position);
                vector.raise(shard, position);
                // No push tells them that they are out, and the cursors of later ones lie beyond it: a sync does.
                for target in self.departed.get(&position).into_iter().flatten() {
                    target.outbox.push((shard, position), &resync, &resync);
                }
                let Some(audience) = audience else { continue };
                let mut say = Say { told: &mut told, audience, place: (shard, position) };
                self.say(&mut say, heard, &unsealed(cursors, &vector), quotes);
            }
            let Some(audience) = audience else { continue };
            let paced = audience.targets.len() >= PACED_CONNECTIONS;
            for target in &audience.targets {
                let heard = told.iter().filter(|it| (it.hears)(target)).map(|it| (it.place, &it.push));
                if !paced {
                    target.outbox.push_all(heard, &resync);
                } else if target.outbox.push_paced(heard, &resync, now) {
                    to_wake.push(Arc::clone(&target.outbox));
                }
            }
        }
        to_wake
    }

    fn say<'b>(
        &'b self,
        say: &mut Say<'b, '_>,
        heard: &'b Heard<'_>,
        cursor: &Arc<Unsealed>,
        quotes: &'b Quotes,
    ) {
        let Heard { conv, recorded, event } = heard;
        let seq = Seq::new(recorded.header.version);
        match event {
            None => self.message(say, conv, seq, None, cursor, quotes),
            Some(event) => match fact(seq, event) {
                Some(fact) => self.message(say, conv, seq, Some(fact), cursor, quotes),
                None => Self::later(say, conv, event, cursor),
            },
        }
    }

    fn later(say: &mut Say<'_, '_>, conv: &ConvId, event: &Event, cursor: &Arc<Unsealed>) {
        let Some((what, whom)) = later(conv.as_str(), event) else { return };
        let audience = say.audience;
        if let (Whom::SeesSome, Event::BodiesErased { uid, seqs }) = (whom, event) {
            return Self::erased(say, conv, *uid, seqs, cursor);
        }
        say.to(Push::new(&what, cursor), move |target| match whom {
            Whom::All | Whom::SeesSome => true,
            Whom::Sees(seq) => audience.sees_all || seq > target.joined,
            Whom::Only(uid) => target.uid == uid,
            Whom::Reader(uid) => target.uid == uid || audience.members <= READS_PUSHED_MEMBERS_MAX,
        });
    }

    /// One frame for each class of viewers: of messages from before they came in they hear nothing.
    fn erased(say: &mut Say<'_, '_>, conv: &ConvId, uid: Uid, seqs: &[Seq], cursor: &Arc<Unsealed>) {
        let audience = say.audience;
        let from = |target: &Target| if audience.sees_all { Seq::ZERO } else { target.joined };
        let classes: BTreeSet<Seq> = audience.targets.iter().map(from).collect();
        for joined in classes {
            let seqs: Vec<Seq> = seqs.iter().copied().filter(|seq| *seq > joined).collect();
            let Some((what, _)) = later(conv.as_str(), &Event::BodiesErased { uid, seqs: seqs.clone() })
            else {
                continue;
            };
            if !seqs.is_empty() {
                say.to(Push::new(&what, cursor), move |target| from(target) == joined);
            }
        }
    }

    /// One frame for each class of viewers.
    fn message<'b>(
        &'b self,
        say: &mut Say<'b, '_>,
        conv: &ConvId,
        seq: Seq,
        fact: Option<Fact>,
        cursor: &Arc<Unsealed>,
        quotes: &'b Quotes,
    ) {
        let later = self.later.get(conv).unwrap_or(&self.nothing_later);
        let fact = fact.filter(|_| !later.erased.contains(&seq));
        let push = |state: ItemState, quote: Option<Quote>| {
            Push::new(&message(conv, Item { seq, state, quote }.into()), cursor)
        };
        // How it looks is the same for all who see it, and said in `state`.
        let eyes = move |target: &Target, deleted: bool| {
            let cleared = later.cleared.get(&target.uid).copied().unwrap_or_default();
            // What was said before one came in is fetched, whatever the group shows.
            let min_seq = view::min_seq(cleared, target.joined, later.expired);
            view(seq, None, &Labels { deleted, ..Labels::default() }, &Viewer { member: true, min_seq })
        };
        let has_deleted = move |target: &Target| later.deleted.contains(&(seq, target.uid));
        let sees = move |target: &Target| !has_deleted(target) && eyes(target, false) != View::Nothing;
        let state = match (fact, later.recalls.get(&seq)) {
            (None, _) => ItemState::Expired,
            (Some(fact), Some(recall)) => ItemState::Recalled(fact, *recall),
            (Some(fact), None) => ItemState::Normal(fact),
        };
        match quotes.get(&say.place.1).filter(|_| matches!(state, ItemState::Normal(_))) {
            None => say.to(push(state, None), sees),
            Some(classes) => {
                for (quote, uids) in classes {
                    let uids: HashSet<Uid> = uids.iter().copied().collect();
                    let push = push(state.clone(), Some(quote.clone()));
                    say.to(push, move |target| uids.contains(&target.uid) && sees(target));
                }
            }
        }
        if say.audience.targets.iter().any(has_deleted) {
            let deleted = move |target: &Target| has_deleted(target) && eyes(target, true) == View::Deleted;
            say.to(push(ItemState::Deleted, None), deleted);
        }
    }
}

/// What an event says, on its way to those who hear of it.
struct Say<'b, 't> {
    told: &'t mut Vec<Told<'b>>,
    audience: &'b Audience,
    place: Place,
}

impl<'b> Say<'b, '_> {
    fn to(&mut self, push: Push, hears: impl Fn(&Target) -> bool + 'b) {
        self.told.push(Told { place: self.place, push, hears: Box::new(hears) });
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

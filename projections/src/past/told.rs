//! Tells a conversation's events to a replay, stream by stream and page by page, up to a position.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    ConvId, Event, Fact, Labels, Recall, Replay, Sender, Seq, StreamKind, Uid,
    replay::{Forgotten, Place},
};
use event_store::{EventStore, Position, Recorded, StoreError, StreamName, codec::DecodeError};

use super::PastError;

/// Events read at once: of the largest bodies 16 MiB, of the usual ones some kilobytes.
const EVENTS_AT_ONCE: u32 = 256;

/// A message of the log; no fact where its body has gone.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub seq: Seq,
    pub fact: Option<Fact>,
}

/// A replay, and how far each stream has been told.
pub(crate) struct Told<'a> {
    store: &'a dyn EventStore,
    conv: ConvId,
    pub replay: Replay,
    /// The next version of the message, mark and group stream.
    next: [u64; 3],
    /// Everything up to here has been told of marks and the group.
    pub position: Position,
    /// Every position up to which marks were told.
    pub stops: BTreeSet<Position>,
}

impl<'a> Told<'a> {
    pub(crate) fn new(store: &'a dyn EventStore, conv: &ConvId) -> Self {
        let replay = Replay::new(conv);
        Self {
            store,
            conv: conv.clone(),
            replay,
            next: [1; 3],
            position: Position::START,
            stops: BTreeSet::new(),
        }
    }

    /// The changes of the group up to a position: who is in it.
    async fn group_to(&mut self, position: Position) -> Result<(), PastError> {
        self.tell(StreamKind::Group, position, u64::MAX, |_| {}).await
    }

    /// All later facts up to a position, and the changes of the group.
    pub(crate) async fn marks_to(&mut self, position: Position) -> Result<(), PastError> {
        self.group_to(position).await?;
        self.tell(StreamKind::Mark, position, u64::MAX, |_| {}).await?;
        self.position = self.position.max(position);
        self.stops.insert(position);
        Ok(())
    }

    /// Everything up to a position.
    pub(crate) async fn all_to(&mut self, position: Position) -> Result<(), PastError> {
        self.marks_to(position).await?;
        self.messages_to(position, |_| {}).await
    }

    /// The messages up to a position that have not been told yet.
    pub(crate) async fn messages_to(
        &mut self,
        position: Position,
        each: impl FnMut(Message),
    ) -> Result<(), PastError> {
        self.tell(StreamKind::Message, position, Seq::MAX, each).await
    }

    /// The same, but not above this message.
    pub(crate) async fn messages_up_to(
        &mut self,
        position: Position,
        last: Seq,
        each: impl FnMut(Message),
    ) -> Result<(), PastError> {
        self.tell(StreamKind::Message, position, last.get(), each).await
    }

    /// The messages up to a position that matter for one person's numbers: those above what they (and the other
    /// one of a single chat) are known to have read, and the last one. After [`Self::marks_to`].
    pub(crate) async fn unread_to(&mut self, position: Position, viewer: Uid) -> Result<(), PastError> {
        let read = |uid| self.replay.person(uid).read.seq;
        let known = self.conv.peer_of(viewer).map_or(read(viewer), |peer| read(viewer).min(read(peer)));
        let last = self.last_message(position).await?;
        let next = &mut self.next[StreamKind::Message as usize];
        *next = (*next).max(known.next().min(last).get());
        self.messages_to(position, |_| {}).await
    }

    /// Messages by their numbers, ascending; at most as many as a page and what it quotes.
    pub(crate) async fn messages_at(
        &self,
        seqs: impl IntoIterator<Item = Seq>,
    ) -> Result<BTreeMap<Seq, Option<Fact>>, PastError> {
        let mut found = BTreeMap::new();
        for (first, last) in runs(seqs) {
            let mut from = first.get();
            while from <= last.get() {
                let most = (last.get() - from + 1).min(EVENTS_AT_ONCE.into());
                let events = self.read(StreamKind::Message, from, most as u32).await?;
                let Some(end) = events.last().map(|event| event.header.version) else { break };
                for event in &events {
                    let (_, message) = self.read_event(event)?;
                    found.extend(message.map(|message| (message.seq, message.fact)));
                }
                from = end + 1;
            }
        }
        Ok(found)
    }

    /// What has become of a message for one person.
    pub(crate) async fn labels(&mut self, viewer: Uid, seq: Seq) -> Result<Labels, PastError> {
        self.recall(seq).await?;
        self.replay.labels(viewer, seq).map_err(|Forgotten(seq)| self.lost(seq))
    }

    /// By whom and when a message was recalled, if it was; found again where it is not known any more.
    pub(crate) async fn recall(&mut self, seq: Seq) -> Result<Option<Recall>, PastError> {
        if let Err(Forgotten(seq)) = self.replay.recall(seq) {
            self.recollect(seq).await?;
        }
        self.replay.recall(seq).map_err(|Forgotten(seq)| self.lost(seq))
    }

    fn lost(&self, seq: Seq) -> PastError {
        let (doing, what) = ("read by whom a message was recalled", format!("{} {seq}", self.conv));
        StoreError::Corrupt { doing, what }.into()
    }

    /// Finds again by whom messages from this one on were recalled.
    async fn recollect(&mut self, seq: Seq) -> Result<(), PastError> {
        self.replay.forget_recalls_below(seq);
        let (mut from, told) = (1, self.next[StreamKind::Mark as usize]);
        while from < told {
            let most = (told - from).min(EVENTS_AT_ONCE.into());
            let events = self.read(StreamKind::Mark, from, most as u32).await?;
            let Some(last) = events.last() else { break };
            from = last.header.version + 1;
            for event in &events {
                if let (Some(event), _) = self.read_event(event)? {
                    self.replay.recollect(&event);
                }
            }
        }
        Ok(())
    }

    /// The number of the last message up to a position; found by doubling and halving.
    async fn last_message(&self, position: Position) -> Result<Seq, PastError> {
        // Message `low` is there, or there is none; message `high` is not.
        let (mut low, mut high) = (0, 1);
        while self.is_there(high, position).await? {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            *if self.is_there(middle, position).await? { &mut low } else { &mut high } = middle;
        }
        Ok(Seq::new(low))
    }

    async fn is_there(&self, seq: u64, position: Position) -> Result<bool, PastError> {
        let found = self.read(StreamKind::Message, seq, 1).await?;
        Ok(found.first().is_some_and(|event| event.header.position <= position))
    }

    async fn tell(
        &mut self,
        kind: StreamKind,
        position: Position,
        last: u64,
        mut each: impl FnMut(Message),
    ) -> Result<(), PastError> {
        loop {
            let next = self.next[kind as usize];
            if next > last {
                return Ok(());
            }
            let wanted = (last - next).min(u64::from(EVENTS_AT_ONCE) - 1) + 1;
            let events = self.read(kind, next, wanted as u32).await?;
            let due = events.iter().take_while(|event| event.header.position <= position).count();
            for event in &events[..due] {
                if let Some(message) = self.learn(event)? {
                    each(message);
                }
            }
            self.next[kind as usize] = next + due as u64;
            if (due as u64) < wanted {
                return Ok(());
            }
        }
    }

    fn learn(&mut self, recorded: &Recorded) -> Result<Option<Message>, PastError> {
        let header = &recorded.header;
        let place = Place {
            position: header.position.get(),
            version: header.version,
            recorded_at: header.recorded_at,
        };
        let (event, message) = self.read_event(recorded)?;
        match event {
            Some(event) => self.replay.learn(place, &event),
            None => {
                let sender = Sender::new(header.actor).unwrap_or(Sender::System);
                self.replay.came(place, sender, header.create_at.unwrap_or(header.recorded_at));
            }
        }
        Ok(message)
    }

    /// What happened; none for a message whose body has gone. Of a message also what it says.
    fn read_event(&self, recorded: &Recorded) -> Result<(Option<Event>, Option<Message>), PastError> {
        let header = &recorded.header;
        let seq = Seq::new(header.version);
        match recorded.event() {
            Ok(event) => {
                let message = fact(seq, &event).map(|fact| Message { seq, fact: Some(fact) });
                Ok((Some(event), message))
            }
            Err(DecodeError::Erased) if header.stream.kind() == Some(StreamKind::Message) => {
                Ok((None, Some(Message { seq, fact: None })))
            }
            Err(source) => {
                let (stream, version) = (header.stream.clone(), header.version);
                Err(PastError::Event { stream, version, source })
            }
        }
    }

    async fn read(&self, kind: StreamKind, from: u64, most: u32) -> Result<Vec<Recorded>, PastError> {
        Ok(self.store.read_stream(&StreamName::new(&self.conv, kind), from, most).await?)
    }
}

fn fact(seq: Seq, event: &Event) -> Option<Fact> {
    let Event::MessageSent { msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at } =
        event.clone()
    else {
        return None;
    };
    Some(Fact { seq, msg_id, sender, content, flags, mentions, reply_to, client_msg_id, create_at })
}

/// First and last of each run of consecutive numbers.
fn runs(seqs: impl IntoIterator<Item = Seq>) -> Vec<(Seq, Seq)> {
    let mut runs: Vec<(Seq, Seq)> = Vec::new();
    for seq in seqs.into_iter().collect::<BTreeSet<_>>() {
        match runs.last_mut() {
            Some((_, last)) if last.next() == seq => *last = seq,
            _ => runs.push((seq, seq)),
        }
    }
    runs
}

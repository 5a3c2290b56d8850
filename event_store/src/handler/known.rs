//! What a worker knows of its conversations between batches: bounded, and true at the shard's last seen position.

use std::{collections::BTreeSet, num::NonZeroUsize};

use domain::{ConvId, Conversation, Earlier, Event, EventId, MessageFact, Need, Said, Sender, Seq, needs};
use lru::LruCache;

use super::{Asked, pieces};
use crate::{
    port::{Found, StoreError, StreamHead, Wanted},
    recorded::{Body, Recorded, StreamName},
};

/// Conversations that one shard's worker remembers; a few hundred bytes each. More than a batch touches.
const CONVERSATIONS_MAX: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// Pieces of one conversation that are remembered; past that the conversation is forgotten whole.
const PIECES_MAX: usize = 4096;

/// Ids of one shard's last sends: a repeat of one of them is looked up at once, and not only after it was taken for new.
/// With sixteen shards they reach back four seconds at 16,000 sends a second.
const LAST_SENDS_MAX: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A conversation's state and its chains' ends.
pub(super) struct Cord {
    pub state: Conversation,
    pub heads: [StreamHead; 3],
}

pub(super) struct Known {
    cords: LruCache<ConvId, Cord>,
    last_sends: LruCache<EventId, ()>,
}

impl Known {
    pub fn new() -> Self {
        Self { cords: LruCache::new(CONVERSATIONS_MAX), last_sends: LruCache::new(LAST_SENDS_MAX) }
    }

    /// What must be loaded before these can be decided, one entry a conversation.
    pub fn missing(&mut self, requests: &[Asked]) -> Vec<Wanted> {
        let mut order: Vec<&ConvId> = Vec::new();
        let mut by_conv: std::collections::HashMap<&ConvId, BTreeSet<Need>> =
            std::collections::HashMap::new();
        for Asked { conv, request, .. } in requests {
            by_conv
                .entry(conv)
                .or_insert_with(|| {
                    order.push(conv);
                    BTreeSet::new()
                })
                .extend(needs(conv, &request.command));
        }
        let mut wanted = Vec::new();
        for conv in order {
            let all = by_conv.remove(conv).unwrap_or_default();
            let cord = self.cords.get(conv);
            let heads = cord.is_none();
            let unknown = |need: &Need| cord.is_none_or(|cord| !cord.state.knows(need));
            let needs: Vec<Need> = all.into_iter().filter(unknown).collect();
            if heads || !needs.is_empty() {
                wanted.push(Wanted { conv: conv.clone(), heads, needs });
            }
        }
        wanted
    }

    /// Takes out of what is wanted the sends (and keyed clears) that are almost certainly new: the append itself finds out
    /// where one is not, and that spares a question for each batch. An import is asked about: it often comes twice.
    pub fn not_to_be_asked(
        &self,
        requests: &[Asked],
        wanted: &mut Vec<Wanted>,
    ) -> Vec<(StreamName, EventId)> {
        let mut supposed = Vec::new();
        if requests.iter().any(|asked| asked.request.command.is_import()) {
            return supposed;
        }
        for Wanted { conv, needs, .. } in &mut *wanted {
            needs.retain(|need| match need {
                Need::Event(kind, id) if !self.last_sends.contains(id) => {
                    supposed.push((StreamName::new(conv, *kind), *id));
                    false
                }
                _ => true,
            });
        }
        wanted.retain(|wanted| wanted.heads || !wanted.needs.is_empty());
        supposed
    }

    /// Decides as if these had never been appended. Their conversations must be known.
    pub fn suppose_new(&mut self, supposed: &[(StreamName, EventId)]) {
        for (stream, id) in supposed {
            if let Some(cord) = stream.conv().and_then(|conv| self.cords.get_mut(conv)) {
                cord.state.earlier.insert(*id, None);
            }
        }
    }

    /// Whoever does not hear the answer will ask again.
    pub fn may_come_again(&mut self, sends: &[(StreamName, EventId)]) {
        for (_, id) in sends {
            self.last_sends.put(*id, ());
        }
    }

    /// Makes what was found known, and what was not found known to be absent.
    pub fn learn(&mut self, wanted: &[Wanted], found: Vec<Found>) -> Result<(), StoreError> {
        for (wanted, found) in wanted.iter().zip(found) {
            if let Some(heads) = found.heads {
                let state = Conversation::at(wanted.conv.clone(), heads.map(|head| head.version));
                self.cords.put(wanted.conv.clone(), Cord { state, heads });
            }
            if let Some(cord) = self.cords.get_mut(&wanted.conv) {
                learn(&mut cord.state, &wanted.needs, found)?;
            }
        }
        Ok(())
    }

    pub fn get_mut(&mut self, conv: &ConvId) -> Option<&mut Cord> {
        self.cords.get_mut(conv)
    }

    pub fn forget_all<'a>(&mut self, conversations: impl IntoIterator<Item = &'a ConvId>) {
        for conv in conversations {
            self.cords.pop(conv);
        }
    }

    pub fn clear(&mut self) {
        self.cords.clear();
    }

    /// Lets go of what only these commands needed.
    pub fn trim<'a>(&mut self, conversations: impl IntoIterator<Item = &'a ConvId>) {
        for conv in conversations {
            let Some(cord) = self.cords.get_mut(conv) else { continue };
            cord.state.messages.clear();
            cord.state.earlier.clear();
            cord.state.recalls.clear();
            if cord.state.len() > PIECES_MAX {
                self.cords.pop(conv);
            }
        }
    }
}

fn learn(state: &mut Conversation, needs: &[Need], found: Found) -> Result<(), StoreError> {
    for need in needs {
        match need {
            Need::Piece(key) => {
                let value =
                    found.pieces.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str());
                pieces::read(state, *key, value)?;
            }
            Need::Message(seq) => drop(state.messages.insert(*seq, None)),
            Need::Event(_, id) => drop(state.earlier.insert(*id, None)),
        }
    }
    for (seq, sender, create_at) in found.messages {
        let sender = Sender::new(sender)
            .map_err(|error| corrupt(format!("message {seq} of {}: {error}", state.id)))?;
        state.messages.insert(seq, Some(MessageFact { sender, create_at }));
    }
    for (id, recorded) in found.events {
        let earlier = earlier(&recorded)?;
        state.earlier.insert(id, Some(earlier));
    }
    Ok(())
}

/// What a repeat must know of an event that was appended before.
fn earlier(recorded: &Recorded) -> Result<Earlier, StoreError> {
    let header = &recorded.header;
    let damaged = || corrupt(format!("{} at version {}", header.stream, header.version));
    if let (Some(msg_id), Some(create_at)) = (header.msg_id, header.create_at) {
        let sent = domain::Sent { seq: Seq::new(header.version), msg_id, create_at, duplicate: true };
        let said = match &recorded.body {
            Body::Erased { .. } => None,
            Body::Present { .. } => match recorded.event().map_err(|_| damaged())? {
                Event::MessageSent { content, flags, mentions, reply_to, .. } => {
                    Some(Said { content, flags, mentions, reply_to })
                }
                _ => return Err(damaged()),
            },
        };
        return Ok(Earlier::Sent { sent, said });
    }
    match recorded.event().map_err(|_| damaged())? {
        Event::HistoryCleared { up_to_seq, .. } => Ok(Earlier::Cleared { up_to_seq }),
        Event::ConversationHidden { up_to_seq, .. } => Ok(Earlier::Hidden { up_to_seq }),
        _ => Err(damaged()),
    }
}

fn corrupt(what: String) -> StoreError {
    StoreError::Corrupt { doing: "read what a command rests on", what }
}

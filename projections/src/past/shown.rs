//! What a replay shows to one person, in the shapes in which the read models answer.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Fact, Labels, Replay, Role, Seq, Uid, View, Viewer, view};

use super::{PastError, told::Told};
use crate::{
    history::range::span,
    query::{
        GroupRow, Item, ItemState, MemberRow, Page, PageLimit, Quote, QuoteState, Range, ReadPosition,
        Summary,
    },
};

/// A page of the history. The replay must have been told up to the moment.
pub(crate) async fn page(
    told: &mut Told<'_>,
    viewer: Uid,
    range: Range,
    limit: PageLimit,
) -> Result<Page, PastError> {
    let standing = told.replay.standing(viewer);
    let span = span(range, limit, standing.viewer.min_seq, standing.max_seq);
    let items = items(told, viewer, span.seqs().collect()).await?;
    let (conv, max_seq, min_seq) = (told.replay.conv().clone(), standing.max_seq, standing.viewer.min_seq);
    Ok(Page { conv, max_seq, min_seq, has_more: span.has_more, items })
}

/// The conversation as it stands in the person's list. The replay must have been told up to the moment.
pub(crate) async fn summary(told: &mut Told<'_>, viewer: Uid) -> Result<Summary, PastError> {
    let standing = told.replay.standing(viewer);
    let last = items(told, viewer, standing.last_seq.into_iter().collect()).await?.pop();
    Ok(Summary {
        conv: told.replay.conv().clone(),
        name: told.replay.group().map(|group| group.name.clone()),
        max_seq: standing.max_seq,
        min_seq: standing.viewer.min_seq,
        read_seq: standing.read_seq,
        peer_read_seq: standing.peer_read_seq,
        unread: standing.unread,
        mention_seq: standing.mention_seq,
        last_message: last,
        updated_at: standing.updated_at,
        settings: standing.settings,
    })
}

/// Who was in it, ascending by uid.
pub fn members_of(replay: &Replay) -> Vec<MemberRow> {
    let row = |uid| {
        let membership = replay.person(uid).membership.filter(|_| replay.conv().is_group());
        let (role, joined_seq) = membership
            .map_or((Role::Member, Seq::ZERO), |membership| (membership.role, membership.joined_seq));
        MemberRow { uid, role, joined_seq }
    };
    replay.members().into_iter().map(row).collect()
}

/// How far each of those who were in it had read, ascending by uid. The replay must have been told every message.
pub fn read_positions_of(replay: &Replay) -> Vec<ReadPosition> {
    let position = |uid| {
        let read = replay.person(uid).read;
        ReadPosition { uid, read_seq: read.seq, read_at: read.at }
    };
    replay.members().into_iter().map(position).collect()
}

/// A group's own facts, as one of its members saw them.
pub fn group_of(replay: &Replay, viewer: Uid) -> Option<GroupRow> {
    let group = replay.group()?;
    let members = members_of(replay);
    Some(GroupRow {
        name: group.name.clone(),
        history: group.history,
        mute_all: group.mute_all,
        invite: group.invite,
        dissolved: group.dissolved,
        members: members.len() as u64,
        owner: members.iter().find(|member| member.role == Role::Owner).map(|member| member.uid),
        role: members.iter().find(|member| member.uid == viewer)?.role,
    })
}

/// These messages as one person sees them, ascending, with what they quote.
async fn items(told: &mut Told<'_>, viewer: Uid, seqs: BTreeSet<Seq>) -> Result<Vec<Item>, PastError> {
    let mut looked = Looked { eyes: told.replay.viewer(viewer), ..Looked::default() };
    looked.add(told, viewer, seqs.clone()).await?;
    let quoted: BTreeSet<Seq> = seqs.iter().filter_map(|seq| looked.quoted(*seq)).collect();
    looked.add(told, viewer, quoted).await?;
    Ok(seqs.into_iter().filter_map(|seq| looked.item(seq)).collect())
}

/// Messages that were looked up, and what has become of them for one person.
struct Looked {
    eyes: Viewer,
    messages: BTreeMap<Seq, (Option<Fact>, Labels)>,
}

impl Default for Looked {
    fn default() -> Self {
        let eyes = Viewer { member: false, min_seq: Seq::ZERO };
        Self { eyes, messages: BTreeMap::new() }
    }
}

impl Looked {
    async fn add(
        &mut self,
        told: &mut Told<'_>,
        viewer: Uid,
        mut seqs: BTreeSet<Seq>,
    ) -> Result<(), PastError> {
        seqs.retain(|seq| !self.messages.contains_key(seq));
        let mut facts = told.messages_at(seqs.clone()).await?;
        for seq in seqs {
            let labels = told.labels(viewer, seq).await?;
            self.messages.insert(seq, (facts.remove(&seq).flatten(), labels));
        }
        Ok(())
    }

    fn view(&self, seq: Seq) -> View<'_> {
        let Some((fact, labels)) = self.messages.get(&seq) else { return View::Nothing };
        view(seq, fact.as_ref(), labels, &self.eyes)
    }

    fn quoted(&self, seq: Seq) -> Option<Seq> {
        match self.view(seq) {
            View::Normal(fact) => fact.reply_to.filter(|quoted| *quoted >= self.eyes.min_seq),
            View::Nothing | View::Deleted | View::Expired | View::Recalled(..) => None,
        }
    }

    fn item(&self, seq: Seq) -> Option<Item> {
        let (state, quote) = match self.view(seq) {
            View::Nothing => return None,
            View::Deleted => (ItemState::Deleted, None),
            View::Expired => (ItemState::Expired, None),
            View::Recalled(fact, recall) => (ItemState::Recalled(fact.clone(), recall), None),
            View::Normal(fact) => {
                (ItemState::Normal(fact.clone()), fact.reply_to.map(|quoted| self.quote(quoted)))
            }
        };
        Some(Item { seq, state, quote })
    }

    fn quote(&self, seq: Seq) -> Quote {
        let (fact, state) = match self.view(seq) {
            View::Nothing => (None, QuoteState::Hidden),
            View::Deleted => (None, QuoteState::Deleted),
            View::Expired => (None, QuoteState::Expired),
            View::Recalled(fact, _) => (Some(fact), QuoteState::Recalled),
            View::Normal(fact) => (Some(fact), QuoteState::Normal),
        };
        let excerpt = fact.filter(|_| state == QuoteState::Normal).map(|fact| fact.content.excerpt());
        Quote {
            seq,
            sender: fact.map(|fact| fact.sender),
            msg_type: fact.map(|fact| fact.content.msg_type()),
            excerpt: excerpt.unwrap_or_default(),
            state,
        }
    }
}

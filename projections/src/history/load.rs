//! Messages as they were read, with their labels for one viewer; every one is seen through [`domain::view()`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{Bits, Bucket, ConvId, Fact, Labels, Recall, Seq, Uid, View, Viewer, bucket::BUCKET_SIZE, view};
use tokio_postgres::Row;

use super::{bucket, message, range::Span};
use crate::{
    marks::bits::SqlBits,
    query::{Item, ItemState, QueryError, Quote, QuoteState},
    snapshot::{Ask, Snapshot},
    write::{count, int},
};

/// A message's place.
pub(crate) type Place = (ConvId, Seq);

/// Messages and labels of some places, for one viewer.
#[derive(Default)]
pub(crate) struct Loaded(HashMap<ConvId, Read>);

/// What was read of one conversation.
#[derive(Default)]
struct Read {
    asked: BTreeSet<Seq>,
    facts: BTreeMap<Seq, Fact>,
    recalls: BTreeMap<Seq, Recall>,
    deleted: BTreeMap<Bucket, Bits>,
    expired: BTreeMap<Bucket, Bits>,
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

impl Loaded {
    /// Adds the seqs of one page, in one round trip.
    pub(crate) async fn add_page(
        &mut self,
        snapshot: &Snapshot,
        viewer: Uid,
        conv: &ConvId,
        span: Span,
    ) -> Result<(), QueryError> {
        if span.first > span.last {
            return Ok(());
        }
        let [first, last] = [span.first, span.last].map(|seq| int(seq.get()));
        let [low, high] = [span.first, span.last].map(|seq| int(Bucket::of(seq).get()));
        let (text, uid) = (conv.as_str(), int(viewer.get()));
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
            [&text, &first, &last, &uid, &low, &high];
        let [rows] = snapshot.ask([Ask { sql: include_str!("page.sql"), params: &params }]).await?;
        let read = self.0.entry(conv.clone()).or_default();
        read.asked.extend(span.seqs());
        rows.iter().try_for_each(|row| read.take(row)).map_err(|error| snapshot.failed(error))
    }

    /// Adds places of any conversations, in one round trip; those that are there already are not read again. At
    /// most as many as there are items in an answer.
    pub(crate) async fn add(
        &mut self,
        snapshot: &Snapshot,
        viewer: Uid,
        places: impl IntoIterator<Item = Place>,
    ) -> Result<(), QueryError> {
        let is_new = |(conv, seq): &Place| !self.0.get(conv).is_some_and(|read| read.asked.contains(seq));
        let places: BTreeSet<Place> = places.into_iter().filter(is_new).collect();
        if places.is_empty() {
            return Ok(());
        }
        let buckets: BTreeSet<_> = places.iter().map(|(conv, seq)| (conv, Bucket::of(*seq))).collect();
        let buckets: Vec<_> = buckets.into_iter().collect();
        let convs: Vec<&str> = places.iter().map(|(conv, _)| conv.as_str()).collect();
        let seqs: Vec<i64> = places.iter().map(|(_, seq)| int(seq.get())).collect();
        let bucket_convs: Vec<&str> = buckets.iter().map(|(conv, _)| conv.as_str()).collect();
        let numbers: Vec<i64> = buckets.iter().map(|(_, bucket)| int(bucket.get())).collect();
        let uid = int(viewer.get());
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
            [&convs, &seqs, &bucket_convs, &numbers, &uid];
        let [rows] = snapshot.ask([Ask { sql: include_str!("places.sql"), params: &params }]).await?;
        for (conv, seq) in &places {
            self.0.entry(conv.clone()).or_default().asked.insert(*seq);
        }
        let of_places: Vec<&ConvId> = places.iter().map(|(conv, _)| conv).collect();
        let of_buckets: Vec<&ConvId> = buckets.iter().map(|(conv, _)| *conv).collect();
        for row in &rows {
            self.take(row, &of_places, &of_buckets).map_err(|error| snapshot.failed(error))?;
        }
        Ok(())
    }

    /// Takes in a row about the nth place or bucket.
    fn take(&mut self, row: &Row, of_places: &[&ConvId], of_buckets: &[&ConvId]) -> Result<(), BoxedError> {
        let asked = match row.try_get(0)? {
            part::TAIL | part::RECALL => of_places,
            _ => of_buckets,
        };
        let nth = count(row.try_get(1)?) as usize;
        let conv = asked.get(nth.wrapping_sub(1)).ok_or("a row is of no place that was asked for")?;
        self.0.entry(ConvId::clone(conv)).or_default().take(row)
    }

    fn read(&self, conv: &ConvId) -> Option<&Read> {
        self.0.get(conv)
    }

    /// The message as it was sent, for decisions about it; what a viewer gets is an [`Item`].
    pub(crate) fn fact(&self, conv: &ConvId, seq: Seq) -> Option<&Fact> {
        self.read(conv)?.facts.get(&seq)
    }

    /// When and by whom it was recalled.
    pub(crate) fn recall(&self, conv: &ConvId, seq: Seq) -> Option<Recall> {
        self.read(conv)?.recalls.get(&seq).copied()
    }

    /// Is it erased?
    pub(crate) fn expired(&self, conv: &ConvId, seq: Seq) -> bool {
        self.read(conv).is_some_and(|read| has(&read.expired, seq))
    }

    /// Is it neither erased nor deleted by the viewer?
    pub(crate) fn is_left(&self, conv: &ConvId, seq: Seq) -> bool {
        !self.read(conv).is_some_and(|read| has(&read.expired, seq) || has(&read.deleted, seq))
    }

    fn labels(&self, conv: &ConvId, seq: Seq) -> Labels {
        self.read(conv).map_or_else(Labels::default, |read| Labels {
            recalled: read.recalls.get(&seq).copied(),
            deleted: has(&read.deleted, seq),
            expired: has(&read.expired, seq),
        })
    }

    fn view(&self, conv: &ConvId, seq: Seq, viewer: &Viewer) -> View<'_> {
        view(seq, self.fact(conv, seq), &self.labels(conv, seq), viewer)
    }

    /// What this viewer sees; none where there is nothing to be seen.
    pub(crate) fn item(&self, conv: &ConvId, seq: Seq, viewer: &Viewer) -> Option<Item> {
        let (state, quoted) = match self.view(conv, seq, viewer) {
            View::Nothing => return None,
            View::Deleted => (ItemState::Deleted, None),
            View::Expired => (ItemState::Expired, None),
            View::Recalled(fact, recall) => (ItemState::Recalled(fact.clone(), recall), None),
            View::Normal(fact) => (ItemState::Normal(fact.clone()), fact.reply_to),
        };
        let quote = quoted.map(|quoted| self.quote(conv, quoted, viewer));
        Some(Item { seq, state, quote })
    }

    fn quote(&self, conv: &ConvId, seq: Seq, viewer: &Viewer) -> Quote {
        self.quote_as(conv, seq, &self.labels(conv, seq), viewer)
    }

    /// A message as it is quoted to a viewer with labels of their own.
    pub(crate) fn quote_as(&self, conv: &ConvId, seq: Seq, labels: &Labels, viewer: &Viewer) -> Quote {
        let blank = |state| Quote { seq, sender: None, msg_type: None, excerpt: String::new(), state };
        let named = |fact: &Fact, state| Quote {
            sender: Some(fact.sender),
            msg_type: Some(fact.content.msg_type()),
            ..blank(state)
        };
        match view(seq, self.fact(conv, seq), labels, viewer) {
            View::Nothing => blank(QuoteState::Hidden),
            View::Deleted => blank(QuoteState::Deleted),
            View::Expired => blank(QuoteState::Expired),
            View::Recalled(fact, _) => named(fact, QuoteState::Recalled),
            View::Normal(fact) => {
                Quote { excerpt: fact.content.excerpt(), ..named(fact, QuoteState::Normal) }
            }
        }
    }

    /// Which message one that this viewer sees quotes, as far as the viewer may see that, too.
    pub(crate) fn quoted(&self, conv: &ConvId, seq: Seq, viewer: &Viewer) -> Option<Place> {
        match self.view(conv, seq, viewer) {
            View::Normal(fact) => Some((conv.clone(), fact.reply_to.filter(|seq| *seq >= viewer.min_seq)?)),
            View::Nothing | View::Deleted | View::Expired | View::Recalled(..) => None,
        }
    }
}

/// What a row of page.sql or places.sql tells of; else it is what is erased.
mod part {
    pub(super) const TAIL: i32 = 0;
    pub(super) const SEALED: i32 = 1;
    pub(super) const RECALL: i32 = 2;
    pub(super) const DELETED: i32 = 3;
}

fn has(bits: &BTreeMap<Bucket, Bits>, seq: Seq) -> bool {
    bits.get(&Bucket::of(seq)).is_some_and(|bits| bits.has(Bucket::slot(seq)))
}

impl Read {
    /// Takes in a row. Of a sealed bucket only the messages that were asked for are decoded.
    fn take(&mut self, row: &Row) -> Result<(), BoxedError> {
        let number = count(row.try_get(2)?);
        let (seq, bucket) = (Seq::new(number), Bucket::new(number));
        match row.try_get(0)? {
            part::TAIL => self.put(seq, row.try_get(3)?)?,
            part::SEALED => {
                let opened = bucket::open(row.try_get(3)?)?;
                for (slot, body) in (0..BUCKET_SIZE as u8).zip(opened.messages()) {
                    let (seq, body) = (bucket.seq_at(slot), body?);
                    if self.asked.contains(&seq) {
                        self.put(seq, body)?;
                    }
                }
            }
            part::RECALL => {
                let recall = Recall { by: Uid::new(count(row.try_get(4)?))?, at: row.try_get(5)? };
                self.recalls.insert(seq, recall);
            }
            part::DELETED => drop(self.deleted.insert(bucket, row.try_get::<_, SqlBits>(6)?.0)),
            _ => drop(self.expired.insert(bucket, row.try_get::<_, SqlBits>(6)?.0)),
        }
        Ok(())
    }

    fn put(&mut self, seq: Seq, body: &[u8]) -> Result<(), BoxedError> {
        self.facts.extend(message::decode(seq, body)?.map(|fact| (seq, fact)));
        Ok(())
    }
}

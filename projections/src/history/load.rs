//! Messages as they were read, with their labels for one viewer; every one is seen through [`domain::view()`].

use std::collections::{BTreeSet, HashMap};

use domain::{Bits, Bucket, ConvId, Fact, Labels, Recall, Seq, Uid, View, Viewer, bucket::BUCKET_SIZE, view};
use tokio_postgres::Row;

use super::{bucket, message};
use crate::{
    marks::bits::SqlBits,
    query::{Item, ItemState, QueryError, Quote, QuoteState},
    snapshot::{Ask, Snapshot},
    write::int,
};

/// A message's place.
pub(crate) type Place = (ConvId, Seq);

/// Messages and labels of some places, for one viewer.
#[derive(Default)]
pub(crate) struct Loaded {
    /// By conversation's text, so that rows need no parsing.
    facts: HashMap<(String, Seq), Fact>,
    recalls: HashMap<(String, Seq), Recall>,
    deleted: HashMap<(String, Bucket), Bits>,
    expired: HashMap<(String, Bucket), Bits>,
    places: BTreeSet<Place>,
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

impl Loaded {
    /// Adds places of any conversations, in one round trip; those that are there already are not read again. At
    /// most as many as there are items in an answer.
    pub(crate) async fn add(
        &mut self,
        snapshot: &Snapshot,
        viewer: Uid,
        places: impl IntoIterator<Item = Place>,
    ) -> Result<(), QueryError> {
        let places: BTreeSet<Place> =
            places.into_iter().filter(|place| !self.places.contains(place)).collect();
        if places.is_empty() {
            return Ok(());
        }
        let buckets: BTreeSet<_> = places.iter().map(|(conv, seq)| (conv, Bucket::of(*seq))).collect();
        let convs: Vec<&str> = places.iter().map(|(conv, _)| conv.as_str()).collect();
        let seqs: Vec<i64> = places.iter().map(|(_, seq)| int(seq.get())).collect();
        let bucket_convs: Vec<&str> = buckets.iter().map(|(conv, _)| conv.as_str()).collect();
        let buckets: Vec<i64> = buckets.iter().map(|(_, bucket)| int(bucket.get())).collect();
        let uid = int(viewer.get());
        let [tail, sealed, recalls, deleted, expired] = snapshot
            .ask([
                Ask { sql: include_str!("tail_at.sql"), params: &[&convs, &seqs] },
                Ask { sql: include_str!("sealed_at.sql"), params: &[&bucket_convs, &buckets] },
                Ask { sql: include_str!("../marks/recalled_at.sql"), params: &[&convs, &seqs] },
                Ask {
                    sql: include_str!("../marks/deleted_at.sql"),
                    params: &[&bucket_convs, &buckets, &uid],
                },
                Ask { sql: include_str!("../marks/expired_at.sql"), params: &[&bucket_convs, &buckets] },
            ])
            .await?;
        self.places.extend(places);
        self.take([&tail, &sealed, &recalls, &deleted, &expired], None)
            .map_err(|error| snapshot.failed(error))
    }

    /// Takes rows in. Of a sealed bucket only the messages that were asked for are decoded: those of `span`, or
    /// else the added places.
    pub(crate) fn take(
        &mut self,
        [tail, sealed, recalls, deleted, expired]: [&[Row]; 5],
        span: Option<(Seq, Seq)>,
    ) -> Result<(), BoxedError> {
        for row in tail {
            self.put(row.try_get(0)?, seq(row.try_get(1)?), row.try_get(2)?)?;
        }
        for row in sealed {
            let (conv, number): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
            let of = Bucket::new(number as u64);
            let id = ConvId::parse(conv)?;
            let opened = bucket::open(row.try_get(2)?)?;
            for (slot, body) in (0..BUCKET_SIZE as u8).zip(opened.messages()) {
                let (seq, body) = (of.seq_at(slot), body?);
                let wanted = match span {
                    Some((first, last)) => (first..=last).contains(&seq),
                    None => self.places.contains(&(id.clone(), seq)),
                };
                if wanted {
                    self.put(conv, seq, body)?;
                }
            }
        }
        for row in recalls {
            let by = Uid::new(row.try_get::<_, i64>(2)? as u64)?;
            let recall = Recall { by, at: row.try_get(3)? };
            self.recalls.insert((row.try_get(0)?, seq(row.try_get(1)?)), recall);
        }
        for row in deleted {
            let bucket = Bucket::new(row.try_get::<_, i64>(1)? as u64);
            self.deleted.insert((row.try_get(0)?, bucket), row.try_get::<_, SqlBits>(2)?.0);
        }
        for row in expired {
            let bucket = Bucket::new(row.try_get::<_, i64>(1)? as u64);
            self.expired.insert((row.try_get(0)?, bucket), row.try_get::<_, SqlBits>(2)?.0);
        }
        Ok(())
    }

    fn put(&mut self, conv: &str, seq: Seq, body: &[u8]) -> Result<(), BoxedError> {
        self.facts.extend(message::decode(seq, body)?.map(|fact| ((conv.to_owned(), seq), fact)));
        Ok(())
    }

    /// The message as it was sent, for decisions about it; what a viewer gets is an [`Item`].
    pub(crate) fn fact(&self, conv: &ConvId, seq: Seq) -> Option<&Fact> {
        self.facts.get(&(conv.to_string(), seq))
    }

    /// When and by whom it was recalled.
    pub(crate) fn recall(&self, conv: &ConvId, seq: Seq) -> Option<Recall> {
        self.recalls.get(&(conv.to_string(), seq)).copied()
    }

    /// Is it erased?
    pub(crate) fn expired(&self, conv: &ConvId, seq: Seq) -> bool {
        let bits = self.expired.get(&(conv.to_string(), Bucket::of(seq)));
        bits.is_some_and(|bits| bits.has(Bucket::slot(seq)))
    }

    fn labels(&self, conv: &ConvId, seq: Seq) -> Labels {
        let deleted = self.deleted.get(&(conv.to_string(), Bucket::of(seq)));
        Labels {
            recalled: self.recall(conv, seq),
            deleted: deleted.is_some_and(|bits| bits.has(Bucket::slot(seq))),
            expired: self.expired(conv, seq),
        }
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

    /// Remembers that these seqs of a conversation were read.
    pub(crate) fn has_read(&mut self, conv: &ConvId, seqs: impl Iterator<Item = Seq>) {
        self.places.extend(seqs.map(|seq| (conv.clone(), seq)));
    }
}

fn seq(number: i64) -> Seq {
    Seq::new(number as u64)
}

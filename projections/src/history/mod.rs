//! Message bodies, immutable, in buckets of a hundred: rows while a bucket fills, one compressed row once it is
//! full. Here is what a batch of sends comes to; [`page`] is the query side.

pub(crate) mod batch;
pub(crate) mod bucket;
pub(crate) mod load;
pub(crate) mod message;
pub(crate) mod page;
pub(crate) mod range;

use std::{
    collections::{BTreeMap, HashMap},
    pin::pin,
};

use deadpool_postgres::Object;
use domain::{Bucket, ConvId, Seq};
use tokio_postgres::{Error, Row, binary_copy::BinaryCopyInWriter, types::Type};

use crate::write::{Column, Write, column, convs, count, int};
use bucket::{SealError, seal};

/// A message's number and bytes.
type Stored = (Seq, Vec<u8>);

/// The sends of a batch, as bytes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects {
    sent: BTreeMap<(ConvId, Bucket), Vec<Stored>>,
    system: Vec<(ConvId, Seq)>,
}

/// A bucket that becomes full with this batch, and what the batch has of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Filled {
    conv: ConvId,
    bucket: Bucket,
    /// By seq, so that what comes from the tail finds its place.
    messages: BTreeMap<Seq, Vec<u8>>,
}

/// How a batch is to be written.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Plan {
    tail: Vec<(ConvId, Seq, Vec<u8>)>,
    filled: Vec<Filled>,
    system: Vec<(ConvId, Seq)>,
}

impl Effects {
    /// A message; no bytes where its body is erased. Those of a conversation come in ascending order.
    pub(crate) fn append(&mut self, conv: &ConvId, seq: Seq, body: Vec<u8>) {
        self.sent.entry((conv.clone(), Bucket::of(seq))).or_default().push((seq, body));
    }

    /// Remembers that a message is the server's own.
    pub(crate) fn system(&mut self, conv: &ConvId, seq: Seq) {
        self.system.push((conv.clone(), seq));
    }

    /// What becomes rows and what becomes sealed.
    pub(crate) fn plan(self) -> Plan {
        let mut plan = Plan { system: self.system, ..Plan::default() };
        for ((conv, bucket), messages) in self.sent {
            if messages.last().is_some_and(|(seq, _)| *seq == bucket.last_seq()) {
                plan.filled.push(Filled { conv, bucket, messages: messages.into_iter().collect() });
            } else {
                plan.tail.extend(messages.into_iter().map(|(seq, body)| (conv.clone(), seq, body)));
            }
        }
        plan
    }
}

/// Takes the tail's part of buckets that become full.
pub(crate) const TAKE: &str = include_str!("take.sql");
/// By which its rows are known from those of other statements in the pipeline.
pub(crate) const TAKEN_COLUMNS: usize = 3;

impl Plan {
    /// The arguments of [`TAKE`]; none where every full bucket came whole in this batch.
    pub(crate) fn take(&self) -> Option<[Column; 3]> {
        let first =
            |filled: &&Filled| filled.messages.keys().next().copied() != Some(filled.bucket.seq_at(0));
        let begun: Vec<&Filled> = self.filled.iter().filter(first).collect();
        (!begun.is_empty()).then(|| {
            [
                convs(begun.iter().map(|filled| &filled.conv)),
                column(begun.iter().map(|filled| int(filled.bucket.seq_at(0).get()))),
                column(begun.iter().map(|filled| int(filled.bucket.last_seq().get()))),
            ]
        })
    }

    /// Puts the rows that were taken from the tail where they belong.
    pub(crate) fn put_back<'a>(&mut self, rows: impl Iterator<Item = &'a Row>) -> Result<(), Error> {
        let filled = self.filled.iter_mut();
        let mut places: HashMap<_, _> =
            filled.map(|Filled { conv, bucket, messages }| ((conv.to_string(), *bucket), messages)).collect();
        for row in rows {
            let seq = Seq::new(count(row.try_get(1)?));
            if let Some(messages) = places.get_mut(&(row.try_get(0)?, Bucket::of(seq))) {
                messages.insert(seq, row.try_get(2)?);
            }
        }
        Ok(())
    }

    /// Fails where a full bucket has a hole.
    pub(crate) fn pack(self) -> Result<Packed, SealError> {
        let Self { tail, filled, system } = self;
        let sealed = |Filled { conv, bucket, messages }| {
            Ok((conv, bucket, seal(messages.values().map(Vec::as_slice))?))
        };
        Ok(Packed { tail, sealed: filled.into_iter().map(sealed).collect::<Result<_, SealError>>()?, system })
    }
}

/// Rows of histories, ready to be written.
pub(crate) struct Packed {
    tail: Vec<(ConvId, Seq, Vec<u8>)>,
    sealed: Vec<(ConvId, Bucket, Vec<u8>)>,
    system: Vec<(ConvId, Seq)>,
}

impl Packed {
    /// All of it as statements.
    pub(crate) fn writes(mut self) -> Vec<Write> {
        let (tail, sealed) = (std::mem::take(&mut self.tail), std::mem::take(&mut self.sealed));
        let (rows, tail_convs) = (tail.len(), convs(tail.iter().map(|(conv, ..)| conv)));
        let seqs = column(tail.iter().map(|(_, seq, _)| int(seq.get())));
        let bodies = column(tail.into_iter().map(|(.., body)| body));
        let append = [tail_convs, seqs, bodies];
        let (full, full_convs) = (sealed.len(), convs(sealed.iter().map(|(conv, ..)| conv)));
        let buckets = column(sealed.iter().map(|(_, bucket, _)| int(bucket.get())));
        let seal = [full_convs, buckets, column(sealed.into_iter().map(|(.., body)| body))];
        let writes = [
            Write::unless_empty(rows, "append to the tail", include_str!("append.sql"), append),
            Write::unless_empty(full, "seal buckets", include_str!("seal.sql"), seal),
        ];
        writes.into_iter().flatten().chain(self.notes()).collect()
    }

    /// What is not copied.
    pub(crate) fn notes(self) -> Vec<Write> {
        let own = [
            convs(self.system.iter().map(|(conv, _)| conv)),
            column(self.system.iter().map(|(_, seq)| int(seq.get()))),
        ];
        let rows = self.system.len();
        Write::unless_empty(rows, "note system messages", include_str!("system.sql"), own)
            .into_iter()
            .collect()
    }

    /// Copies bodies, within a transaction.
    pub(crate) async fn copy(&self, client: &Object) -> Result<(), Error> {
        let rows = self.tail.iter().map(|(conv, seq, body)| (conv, seq.get(), body));
        copy(client, include_str!("copy_tail.sql"), rows).await?;
        let rows = self.sealed.iter().map(|(conv, bucket, body)| (conv, bucket.get(), body));
        copy(client, include_str!("copy_buckets.sql"), rows).await
    }
}

/// Rows of a conversation, a number and bytes.
async fn copy<'a>(
    client: &Object,
    sql: &'static str,
    rows: impl ExactSizeIterator<Item = (&'a ConvId, u64, &'a Vec<u8>)>,
) -> Result<(), Error> {
    if rows.len() == 0 {
        return Ok(());
    }
    let sink = client.copy_in(sql).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::TEXT, Type::INT8, Type::BYTEA]));
    for (conv, number, body) in rows {
        writer.as_mut().write(&[&conv.as_str(), &int(number), body]).await?;
    }
    writer.finish().await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seqs: std::ops::RangeInclusive<u64>) -> (usize, Vec<(u64, usize)>, usize) {
        let conv = ConvId::parse("grp-a").unwrap();
        let mut effects = Effects::default();
        seqs.for_each(|seq| effects.append(&conv, Seq::new(seq), vec![1]));
        let plan = effects.plan();
        let filled = plan.filled.iter().map(|filled| (filled.bucket.get(), filled.messages.len())).collect();
        (plan.tail.len(), filled, plan.take().map_or(0, |_| 1))
    }

    #[test]
    fn a_bucket_is_full_with_its_hundredth_message() {
        assert_eq!(plan(1..=99), (99, vec![], 0));
        assert_eq!(
            plan(1..=100),
            (0, vec![(0, 100)], 0),
            "whole in the batch: nothing is taken from the tail"
        );
        assert_eq!(plan(1..=101), (1, vec![(0, 100)], 0));
        assert_eq!(plan(100..=100), (0, vec![(0, 1)], 1));
        assert_eq!(plan(50..=250), (50, vec![(0, 51), (1, 100)], 1));
    }

    #[test]
    fn a_hole_is_never_sealed() {
        let mut effects = Effects::default();
        effects.append(&ConvId::parse("grp-a").unwrap(), Seq::new(100), vec![1]);
        assert!(matches!(effects.plan().pack().map(drop), Err(SealError::Gap(1))));
    }
}

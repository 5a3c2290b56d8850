//! Bodies out of buckets: a slot or a row of the tail stays, empty, so that no bucket has a hole. With them goes who
//! was named in them.

use domain::{Bits, Bucket, ConvId, Flags, Seq, bucket::BUCKET_SIZE};

use super::Short;
use crate::{
    apply::ApplyError,
    history::{bucket, message},
    mention::EVERYBODY,
    write::{count, int},
};

/// Empties these slots of these buckets, wherever they are.
pub(super) async fn blank(
    short: &Short<'_>,
    conv: &ConvId,
    gone: &[(Bucket, Bits)],
) -> Result<(), ApplyError> {
    let text = conv.as_str();
    let seqs: Vec<i64> = gone
        .iter()
        .flat_map(|(bucket, bits)| bits.slots().map(|slot| int(bucket.seq_at(slot).get())))
        .collect();
    let mut named: Vec<(i64, i64)> = Vec::new();
    for row in short.query(include_str!("blank_tail.sql"), &[&text, &seqs]).await? {
        let (seq, body): (i64, &[u8]) = (row.get(0), row.get(1));
        named.extend(mentions(Seq::new(count(seq)), body)?);
    }
    let buckets: Vec<i64> = gone.iter().map(|(bucket, _)| int(bucket.get())).collect();
    let (mut numbers, mut sealed) = (Vec::new(), Vec::new());
    for row in short.query(include_str!("buckets.sql"), &[&text, &buckets]).await? {
        let (number, body): (i64, &[u8]) = (row.get(0), row.get(1));
        let of = Bucket::new(count(number));
        let Some((_, bits)) = gone.iter().find(|(bucket, _)| *bucket == of) else { continue };
        let opened = bucket::open(body)?;
        let mut messages = opened.messages().collect::<Result<Vec<_>, _>>()?;
        let mut changed = false;
        for (slot, message) in (0..BUCKET_SIZE as u8).zip(&mut messages) {
            if bits.has(slot) && !message.is_empty() {
                named.extend(mentions(of.seq_at(slot), message)?);
                *message = &[];
                changed = true;
            }
        }
        if changed {
            numbers.push(number);
            sealed.push(bucket::seal(messages.into_iter())?);
        }
    }
    if !numbers.is_empty() {
        short.execute(include_str!("replace_buckets.sql"), &[&text, &numbers, &sealed]).await?;
    }
    if !named.is_empty() {
        let (uids, seqs): (Vec<i64>, Vec<i64>) = named.into_iter().unzip();
        short.execute(include_str!("erase_mentions.sql"), &[&text, &uids, &seqs]).await?;
    }
    Ok(())
}

/// Who may be noted as named in a message: whom, and where.
fn mentions(seq: Seq, body: &[u8]) -> Result<Vec<(i64, i64)>, ApplyError> {
    let Some(fact) = message::decode(seq, body)? else { return Ok(vec![]) };
    let all = (fact.flags.get() & Flags::AT_ALL.get() != 0).then_some(EVERYBODY);
    let named = fact.mentions.iter().map(|uid| uid.get()).chain(all);
    Ok(named.map(|uid| (int(uid), int(seq.get()))).collect())
}

//! The messages, two buckets at a time, and the labels that everybody sees: whether a bucket still fills or is
//! sealed, each message must say what the log says.

use std::collections::BTreeMap;

use domain::{Bits, Bucket, Fact, Seq, bucket::BUCKET_SIZE};
use tokio_postgres::{Error, Row, types::ToSql};

use super::{
    Verifier, VerifyError,
    drift::{Drifts, Field, Fields, table},
};
use crate::{
    history::{bucket, message},
    marks::bits::SqlBits,
    past::told::Told,
    snapshot::Ask,
    write::{count, int},
};

/// Messages that are compared in one snapshot: two buckets.
const MESSAGES_AT_ONCE: u64 = 2 * BUCKET_SIZE;

/// Rows beyond the head that are told of each table.
const BEYOND_MAX: i64 = 10;

/// A stored message: what it says, nothing where its body is erased, or why it cannot be read.
type Stored = Result<Option<Fact>, String>;

impl Verifier {
    /// Compares every message. Afterwards all are told, up to where the last snapshot stood.
    pub(super) async fn history(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let mut first = Seq::ZERO.next();
        loop {
            let last = Seq::new(first.get() + MESSAGES_AT_ONCE - 1);
            let whole = self.messages(told, first, last, drifts).await?;
            if !whole {
                return self.beyond(told, drifts).await;
            }
            first = last.next();
        }
    }

    /// Compares the messages from `first` to `last`, the ends of buckets; false where not all of them are there yet.
    async fn messages(
        &self,
        told: &mut Told<'_>,
        first: Seq,
        last: Seq,
        drifts: &mut Drifts,
    ) -> Result<bool, VerifyError> {
        let conv = told.replay.conv().clone();
        let (text, low, high, most) =
            (conv.as_str(), int(first.get()), int(last.get()), MESSAGES_AT_ONCE as i64);
        let buckets = [Bucket::of(first), Bucket::of(last)].map(|bucket| int(bucket.get())).to_vec();
        let convs = vec![text; buckets.len()];
        let params: [&(dyn ToSql + Sync); 4] = [&text, &low, &high, &most];
        let tail = Ask { sql: include_str!("../history/tail.sql"), params: &params };
        let (snapshot, position, tail) = self.look(&conv, tail).await?;
        let [sealed, labels, erased] = snapshot
            .ask([
                Ask { sql: include_str!("../history/sealed_at.sql"), params: &[&convs, &buckets] },
                Ask { sql: include_str!("labels.sql"), params: &[&text, &low, &high] },
                Ask { sql: include_str!("../marks/expired_at.sql"), params: &[&convs, &buckets] },
            ])
            .await?;
        drop(snapshot);
        told.marks_to(position).await?;
        let mut facts = BTreeMap::new();
        told.messages_up_to(position, last, |message| drop(facts.insert(message.seq, message.fact))).await?;
        let max_seq = told.replay.max_seq();
        let stored = stored(&tail, &sealed, max_seq, drifts).map_err(|error| snapshot_failed(&error))?;
        let erased = read_bits(&erased).map_err(|error| snapshot_failed(&error))?;
        let labels = read_labels(&labels).map_err(|error| snapshot_failed(&error))?;
        let mut expected = Fields::new();
        for seq in (first.get()..=last.get()).map(Seq::new) {
            // What retention takes, it takes a bucket at a time.
            if seq <= told.replay.expired_seq() {
                continue;
            }
            match (facts.get(&seq), stored.get(&seq)) {
                (Some(fact), Some(found)) => {
                    compare(seq, fact.as_ref(), found, told.replay.is_erased(seq), drifts)
                }
                (Some(_), None) => {
                    drifts.note(None, "history", format_args!("seq {seq}"), "a message", "nothing")
                }
                (None, Some(_)) => {
                    drifts.note(None, "history", format_args!("seq {seq}"), "nothing", "a message")
                }
                (None, None) => {}
            }
            let (is_erased, bits) = (told.replay.is_erased(seq), erased.get(&Bucket::of(seq)));
            if is_erased != bits.is_some_and(|bits| bits.has(Bucket::slot(seq))) {
                let text = |erased: bool| if erased { "erased" } else { "not erased" };
                drifts.note(None, "expired", format_args!("seq {seq}"), text(is_erased), text(!is_erased));
            }
            if let Some(recall) = told.recall(seq).await? {
                expected.insert(label("recall", seq), format!("by {} at {}", recall.by, recall.at));
            }
            if told.replay.is_system(seq) {
                expected.insert(label("system_message", seq), "noted".to_owned());
            }
        }
        let seen =
            |field: &Field, seq: &Seq| *field == label(field.table, *seq) && *seq > told.replay.expired_seq();
        let labels = labels.into_iter().filter(|(field, (seq, _))| seen(field, seq));
        drifts.compare_fields(&expected, &labels.map(|(field, (_, value))| (field, value)).collect());
        Ok(max_seq >= last)
    }

    /// Nothing is stored of messages that are not there.
    async fn beyond(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let (text, max_seq) = (conv.as_str(), int(told.replay.max_seq().get()));
        let params: [&(dyn ToSql + Sync); 3] = [&text, &max_seq, &BEYOND_MAX];
        let beyond = Ask { sql: include_str!("beyond.sql"), params: &params };
        let (snapshot, position, rows) = self.look(&conv, beyond).await?;
        drop(snapshot);
        told.marks_to(position).await?;
        told.messages_to(position, |_| {}).await?;
        for row in rows {
            let seq = Seq::new(count(row.try_get(1).map_err(|error| snapshot_failed(&error))?));
            if seq > told.replay.max_seq() {
                let name: &str = row.try_get(0).map_err(|error| snapshot_failed(&error))?;
                drifts.note(None, table(name), format_args!("seq {seq} in {name}"), "nothing", "a row");
            }
        }
        Ok(())
    }
}

fn snapshot_failed(error: &Error) -> VerifyError {
    let what = error.to_string();
    crate::snapshot::unavailable(super::DOING, what).into()
}

fn label(table: &'static str, seq: Seq) -> Field {
    Field { table, uid: None, name: format!("seq {seq}") }
}

fn read_bits(rows: &[Row]) -> Result<BTreeMap<Bucket, Bits>, Error> {
    let read = |row: &Row| Ok((Bucket::new(count(row.try_get(1)?)), row.try_get::<_, SqlBits>(2)?.0));
    rows.iter().map(read).collect()
}

type Labels = Vec<(Field, (Seq, String))>;

fn read_labels(rows: &[Row]) -> Result<Labels, Error> {
    let read = |row: &Row| {
        let seq = Seq::new(count(row.try_get(1)?));
        Ok((label(table(row.try_get(0)?), seq), (seq, row.try_get(2)?)))
    };
    rows.iter().map(read).collect()
}

/// Reads what is stored, each message by itself: damage to one says nothing about the others.
fn stored(
    tail: &[Row],
    sealed: &[Row],
    max_seq: Seq,
    drifts: &mut Drifts,
) -> Result<BTreeMap<Seq, Stored>, Error> {
    let decode = |seq, body: &[u8]| message::decode(seq, body).map_err(|error| error.to_string());
    let mut stored = BTreeMap::new();
    for row in tail {
        let seq = Seq::new(count(row.try_get(1)?));
        stored.insert(seq, decode(seq, row.try_get(2)?));
        if Bucket::of(seq).last_seq() <= max_seq {
            drifts.note(
                None,
                "history_tail",
                format_args!("seq {seq}"),
                "nothing: its bucket is full",
                "a row",
            );
        }
    }
    for row in sealed {
        let number = Bucket::new(count(row.try_get(1)?));
        match bucket::open(row.try_get(2)?) {
            Ok(opened) => {
                for (slot, body) in (0..BUCKET_SIZE as u8).zip(opened.messages()) {
                    let seq = number.seq_at(slot);
                    stored.insert(
                        seq,
                        body.map_err(|error| error.to_string()).and_then(|body| decode(seq, body)),
                    );
                }
            }
            Err(error) => {
                let what = format_args!("bucket {}", number.get());
                drifts.note(None, "history_bucket", what, "a hundred messages", error);
            }
        }
    }
    Ok(stored)
}

/// Names each field in which a stored message is not the sent one.
fn compare(seq: Seq, fact: Option<&Fact>, found: &Stored, erased: bool, drifts: &mut Drifts) {
    let mut note = |field: &str, expected: String, found: String| {
        drifts.note(None, "history", format_args!("seq {seq}{field}"), expected, found);
    };
    let (fact, found) = match (fact, found) {
        (_, Err(damage)) => return note("", "a message".into(), damage.clone()),
        // What was erased may be gone in the one and not yet in the other: nobody sees it.
        _ if erased => return,
        (None, Ok(None)) => return,
        (None, Ok(Some(_))) => return note("", "no body: it has gone from the log".into(), "a body".into()),
        (Some(_), Ok(None)) => return note("", "a body".into(), "none".into()),
        (Some(fact), Ok(Some(found))) if fact == found => return,
        (Some(fact), Ok(Some(found))) => (fact, found),
    };
    let fields = |it: &Fact| {
        [
            (", msg_id", it.msg_id.to_string()),
            (", sender", it.sender.get().to_string()),
            (", flags", it.flags.get().to_string()),
            (", mentions", format!("{:?}", it.mentions)),
            (", reply_to", format!("{:?}", it.reply_to)),
            (", client_msg_id", it.client_msg_id.get().to_string()),
            (", create_at", it.create_at.to_string()),
        ]
    };
    for ((name, expected), (_, found)) in fields(fact).into_iter().zip(fields(found)) {
        if expected != found {
            note(name, expected, found);
        }
    }
    if fact.content != found.content {
        let about = |fact: &Fact| format!("{} bytes", fact.content.json().len());
        note(", content", about(fact), format!("{}, other ones", about(found)));
    }
}

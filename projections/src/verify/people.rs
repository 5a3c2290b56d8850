//! What is kept of people and of the conversation as a whole, table by table, field by field.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Bits, Bucket, Flags, Seq, Uid, replay::Person};
use tokio_postgres::{Error, Row, types::ToSql};

use super::{
    Verifier, VerifyError,
    drift::{Drifts, Field, Fields, table},
};
use crate::{
    marks::bits::SqlBits,
    past::told::Told,
    snapshot::{Ask, unavailable},
    write::{count, int},
};

/// People, bitmaps or mentions that are compared in one snapshot.
const AT_ONCE: usize = 200;

/// Rows that [`AT_ONCE`] people may have, with as many again of people who should not be there.
const FIELDS_MAX: i64 = 10_000;

impl Verifier {
    /// Compares what is kept of people. Afterwards everything is told up to where the last snapshot stood.
    pub(super) async fn people(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        self.head(told, drifts).await?;
        self.rows_of_people(told, drifts).await?;
        self.deleted(told, drifts).await?;
        self.mentions(told, drifts).await
    }

    async fn head(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let params: [&(dyn ToSql + Sync); 1] = [&conv.as_str()];
        let (snapshot, position, rows) =
            self.look(&conv, Ask { sql: include_str!("head.sql"), params: &params }).await?;
        drop(snapshot);
        told.all_to(position).await?;
        let field = |name: &str| Field { table: "head", uid: None, name: name.to_owned() };
        let read = |row: &Row| Ok::<_, Error>((field(row.try_get(0)?), row.try_get(1)?));
        let found = rows.iter().map(read).collect::<Result<Fields, _>>().map_err(failed)?;
        drifts.compare_fields(
            &head(told).into_iter().map(|(name, value)| (field(name), value)).collect(),
            &found,
        );
        Ok(())
    }

    async fn rows_of_people(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let mut after = 0;
        loop {
            let uids: Vec<i64> = told
                .replay
                .people()
                .keys()
                .map(|uid| int(uid.get()))
                .filter(|uid| *uid > after)
                .take(AT_ONCE)
                .collect();
            let upto = uids.last().copied().filter(|_| uids.len() == AT_ONCE).unwrap_or(i64::MAX);
            let params: [&(dyn ToSql + Sync); 4] = [&conv.as_str(), &after, &upto, &FIELDS_MAX];
            let (snapshot, position, mut rows) =
                self.look(&conv, Ask { sql: include_str!("people.sql"), params: &params }).await?;
            let by_person = Ask { sql: include_str!("by_person.sql"), params: &[&uids, &conv.as_str()] };
            let [by_person] = snapshot.ask([by_person]).await?;
            drop(snapshot);
            rows.extend(by_person);
            told.all_to(position).await?;
            let mut found = rows.iter().map(field_of).collect::<Result<Fields, _>>().map_err(failed)?;
            let mut expected = Fields::new();
            for (uid, person) in told.replay.people() {
                let number = int(uid.get());
                if number > after && number <= upto {
                    expected.extend(fields(*uid, person));
                    // Who came between the question and here was not asked for by person.
                    if !uids.contains(&number) {
                        let by_person =
                            |field: &Field| ["member_by_person", "departure"].contains(&field.table);
                        let of = |field: &Field| field.uid == Some(uid.get()) && by_person(field);
                        expected.retain(|field, _| !of(field));
                        found.retain(|field, _| !of(field));
                    }
                }
            }
            pardon_what_was_not_kept(&mut expected, &mut found);
            drifts.compare_fields(&expected, &found);
            if upto == i64::MAX {
                return Ok(());
            }
            after = upto;
        }
    }

    /// Who has deleted what.
    async fn deleted(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let mut after = (0, -1);
        loop {
            let (limit, beyond) = (AT_ONCE as i64, after);
            let params: [&(dyn ToSql + Sync); 4] = [&conv.as_str(), &beyond.0, &beyond.1, &limit];
            let (snapshot, position, rows) =
                self.look(&conv, Ask { sql: include_str!("deleted.sql"), params: &params }).await?;
            drop(snapshot);
            told.all_to(position).await?;
            let read = |row: &Row| {
                let key: (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
                Ok::<_, Error>((key, row.try_get::<_, SqlBits>(2)?.0))
            };
            let found = rows.iter().map(read).collect::<Result<BTreeMap<_, Bits>, _>>().map_err(failed)?;
            let last = found.keys().next_back().copied().filter(|_| found.len() == AT_ONCE);
            let last = last.unwrap_or((i64::MAX, i64::MAX));
            let expired = told.replay.expired_seq();
            let within = |key: &(i64, i64)| *key > after && *key <= last;
            let mut keys: Vec<_> = found.keys().copied().collect();
            let stands =
                told.replay.deleted_buckets().map(|(uid, bucket)| (int(uid.get()), int(bucket.get())));
            keys.extend(stands.filter(within));
            keys.sort_unstable();
            keys.dedup();
            for (uid, number) in keys {
                let bucket = Bucket::new(count(number));
                let stands =
                    Uid::new(count(uid)).map_or(Bits::EMPTY, |uid| told.replay.deleted_in(uid, bucket));
                let is = found.get(&(uid, number)).copied().unwrap_or_default();
                for slot in Bits::new(stands.get() ^ is.get()).slots() {
                    let seq = bucket.seq_at(slot);
                    if seq > expired {
                        let text = |bits: Bits| if bits.has(slot) { "deleted" } else { "not deleted" };
                        drifts.note(
                            Some(count(uid)),
                            "deleted",
                            format_args!("seq {seq}"),
                            text(stands),
                            text(is),
                        );
                    }
                }
            }
            if last == (i64::MAX, i64::MAX) {
                return Ok(());
            }
            after = last;
        }
    }

    /// Who is named where.
    async fn mentions(&self, told: &mut Told<'_>, drifts: &mut Drifts) -> Result<(), VerifyError> {
        let conv = told.replay.conv().clone();
        let mut after = (-1, 0);
        loop {
            let (limit, beyond) = (AT_ONCE as i64, after);
            let params: [&(dyn ToSql + Sync); 4] = [&conv.as_str(), &beyond.0, &beyond.1, &limit];
            let (snapshot, position, rows) =
                self.look(&conv, Ask { sql: include_str!("mentions.sql"), params: &params }).await?;
            drop(snapshot);
            told.all_to(position).await?;
            let read =
                |row: &Row| Ok::<_, Error>(((row.try_get(0)?, row.try_get(1)?), row.try_get::<_, i64>(2)?));
            let found =
                rows.iter().map(read).collect::<Result<BTreeMap<(i64, i64), i64>, _>>().map_err(failed)?;
            let last = found.keys().next_back().copied().filter(|_| found.len() == AT_ONCE);
            let last = last.unwrap_or((i64::MAX, i64::MAX));
            let facts = told.messages_at(found.keys().map(|(_, seq)| Seq::new(count(*seq)))).await?;
            let counts = |seq: Seq| seq > told.replay.expired_seq() && !told.replay.is_erased(seq);
            for ((uid, number), sender) in &found {
                let (who, seq) = (count(*uid), Seq::new(count(*number)));
                let fact = facts.get(&seq).filter(|_| seq <= told.replay.max_seq());
                // Whom a message named whose body has gone is not known any more.
                if !counts(seq) || matches!(fact, Some(None)) {
                    continue;
                }
                let fact = fact.and_then(Option::as_ref);
                let names = fact.is_some_and(|fact| match Uid::new(who) {
                    Ok(who) => fact.mentions.contains(&who) && !fact.sender.is(who),
                    Err(_) => fact.flags.has(Flags::AT_ALL),
                });
                let expected = fact.filter(|_| names).map(|fact| format!("by {}", fact.sender.get()));
                let (expected, is) =
                    (expected.unwrap_or_else(|| "nothing".into()), format!("by {}", count(*sender)));
                if expected != is {
                    drifts.note(Some(who), "mention", format_args!("seq {seq}"), expected, is);
                }
            }
            let named =
                told.replay.named().map(|(uid, seq)| (uid.map_or(0, |uid| int(uid.get())), int(seq.get())));
            for (uid, number) in named.filter(|key| *key > after && *key <= last && !found.contains_key(key))
            {
                let seq = Seq::new(count(number));
                if counts(seq) {
                    drifts.note(
                        Some(count(uid)),
                        "mention",
                        format_args!("seq {seq}"),
                        "a mention",
                        "nothing",
                    );
                }
            }
            if last == (i64::MAX, i64::MAX) {
                return Ok(());
            }
            after = last;
        }
    }
}

/// Which events raised a position and who had left was not kept before V5__sync.sql, and no cursor is older than that:
/// such rows have the position 0, and there may be no departure. A rebuild brings both.
fn pardon_what_was_not_kept(expected: &mut Fields, found: &mut Fields) {
    let position = |table, uid| Field { table, uid, name: "position".to_owned() };
    let people: BTreeSet<_> = expected.keys().map(|field| field.uid).collect();
    for uid in people {
        let (read, left) = (position("group_read", uid), position("departure", uid));
        let is_old = found.get(&read).is_none_or(|position| position == "0");
        if is_old && expected.contains_key(&read) && found.remove(&read).is_some() {
            expected.remove(&read);
        }
        if is_old && !expected.contains_key(&read) && !found.contains_key(&left) {
            expected.remove(&left);
        }
    }
}

fn failed(error: Error) -> VerifyError {
    unavailable(super::DOING, error).into()
}

fn field_of(row: &Row) -> Result<(Field, String), Error> {
    let (name, uid) = (row.try_get::<_, &str>(2)?.to_owned(), Some(count(row.try_get(1)?)));
    Ok((Field { table: table(row.try_get(0)?), uid, name }, row.try_get(3)?))
}

/// A conversation's own facts; none before its first message or its founding.
fn head(told: &Told<'_>) -> Vec<(&'static str, String)> {
    let (replay, group) = (&told.replay, told.replay.group());
    if group.is_none() && replay.max_seq() == Seq::ZERO {
        return vec![];
    }
    let kind = if replay.conv().is_group() { "group" } else { "single" };
    let invite = group.map(|group| group.invite).unwrap_or_default();
    let mut fields = vec![
        ("kind", kind.to_owned()),
        ("max_seq", replay.max_seq().to_string()),
        ("expired_seq", replay.expired_seq().to_string()),
        ("updated_at", replay.updated_at().to_string()),
        ("mute_all", group.is_some_and(|group| group.mute_all).to_string()),
        ("invite", invite.name().to_owned()),
        ("dissolved", group.is_some_and(|group| group.dissolved).to_string()),
    ];
    if let Some(group) = group {
        fields.push(("name", group.name.clone()));
        fields.push(("history", group.history.name().to_owned()));
    }
    fields
}

fn fields(uid: Uid, person: &Person) -> Vec<(Field, String)> {
    let Person { membership, read, cleared, hidden, settings, left } = person;
    let mut fields = Vec::new();
    let mut put = |table: &'static str, name: &str, value: String| {
        fields.push((Field { table, uid: Some(uid.get()), name: name.to_owned() }, value));
    };
    if let Some(membership) = membership {
        put("member_by_conv", "role", membership.role.name().to_owned());
        for table in ["member_by_conv", "member_by_person"] {
            put(table, "joined_seq", membership.joined_seq.to_string());
            put(table, "joined_at", membership.joined_at.to_string());
        }
    }
    if read.seq > Seq::ZERO {
        put("group_read", "read_seq", read.seq.to_string());
        put("group_read", "read_at", read.at.to_string());
        put("group_read", "position", read.position.to_string());
    }
    if cleared.is_some() || hidden.is_some() {
        put("watermark", "cleared_seq", cleared.unwrap_or_default().to_string());
        put("watermark", "hidden_seq", hidden.map_or("never".to_owned(), |seq| seq.to_string()));
    }
    if let Some(settings) = settings {
        put("setting", "pinned", settings.pinned.to_string());
        put("setting", "muted", settings.muted.to_string());
    }
    if let Some(left) = left {
        put("departure", "position", left.to_string());
    }
    fields
}

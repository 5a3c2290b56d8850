//! How far members have read, and who has read one message.

use domain::{ConvId, Seq, Uid};

use crate::{
    history::load::Loaded,
    query::{PageLimit, QueryError, ReadPosition, Readers},
    snapshot::{Ask, Snapshot},
    standing::Standing,
    write::{count, int},
};

/// A page of the members' positions, ascending by uid.
pub(crate) async fn read_positions(
    snapshot: &Snapshot,
    conv: &ConvId,
    viewer: Uid,
    standing: &Standing,
    after: Option<Uid>,
    limit: PageLimit,
) -> Result<Vec<ReadPosition>, QueryError> {
    if let Some(peer) = conv.peer_of(viewer) {
        let of = |uid, (read_seq, read_at)| ReadPosition { uid, read_seq, read_at };
        let mut both = vec![of(viewer, standing.read), of(peer, standing.peer_read)];
        both.sort_by_key(|position| position.uid);
        both.dedup_by_key(|position| position.uid);
        both.retain(|position| after.is_none_or(|after| position.uid > after));
        both.truncate(limit.get() as usize);
        return Ok(both);
    }
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
        [&conv.as_str(), &after.map_or(0, |uid| int(uid.get())), &i64::from(limit.get())];
    let [rows] = snapshot.ask([Ask { sql: include_str!("positions.sql"), params: &params }]).await?;
    let position = |row: &tokio_postgres::Row| {
        let uid = Uid::new(count(row.try_get(0).map_err(|error| snapshot.failed(error))?));
        Ok(ReadPosition {
            uid: uid.map_err(|error| snapshot.failed(error))?,
            read_seq: Seq::new(count(row.try_get(1).map_err(|error| snapshot.failed(error))?)),
            read_at: row.try_get(2).map_err(|error| snapshot.failed(error))?,
        })
    };
    rows.iter().map(position).collect()
}

/// Who of the members now who may see a message has read it; its sender is in neither list.
pub(crate) async fn readers(
    snapshot: &Snapshot,
    conv: &ConvId,
    viewer: Uid,
    standing: &Standing,
    seq: Seq,
    after: Option<Uid>,
    limit: PageLimit,
) -> Result<Readers, QueryError> {
    if seq < standing.min_seq() || seq > standing.max_seq() {
        return Err(QueryError::MessageNotFound);
    }
    let mut loaded = Loaded::default();
    loaded.add(snapshot, viewer, [(conv.clone(), seq)]).await?;
    // Of an erased message the sender is not known here; whoever sent it has read it.
    let sender = loaded.fact(conv, seq).map_or(0, |fact| fact.sender.get());
    let (text, wanted, sender) = (conv.as_str(), int(seq.get()), int(sender));
    let page = i64::from(limit.get()) + 1;
    let [counts, rows] = snapshot
        .ask([
            Ask { sql: include_str!("count_readers.sql"), params: &[&text, &wanted, &sender] },
            Ask {
                sql: include_str!("readers.sql"),
                params: &[&text, &wanted, &sender, &after.map_or(0, |uid| int(uid.get())), &page],
            },
        ])
        .await?;
    let failed = |error: tokio_postgres::Error| snapshot.failed(error);
    let counts = counts.first().ok_or_else(|| snapshot.failed("an answer is missing"))?;
    let mut readers = Readers {
        read_count: count(counts.try_get(0).map_err(failed)?),
        unread_count: count(counts.try_get(1).map_err(failed)?),
        read: Vec::new(),
        unread: Vec::new(),
        next: None,
    };
    let mut last = None;
    for row in rows.iter().take(limit.get() as usize) {
        let uid = Uid::new(count(row.try_get(0).map_err(failed)?)).map_err(|error| snapshot.failed(error))?;
        let list = if row.try_get(1).map_err(failed)? { &mut readers.read } else { &mut readers.unread };
        list.push(uid);
        last = Some(uid);
    }
    readers.next = last.filter(|_| rows.len() as i64 == page);
    Ok(readers)
}

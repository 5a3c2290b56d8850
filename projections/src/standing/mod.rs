//! Where one viewer stands in a conversation: what every answer about it rests on.

mod asked;

use domain::{ConvId, History, Ms, Seq, Settings, Uid, Viewer, view};
use event_store::Position;
use tokio_postgres::{Error, Row};

use crate::write::count;

pub(crate) use asked::Asked;

pub(crate) const STANDING: &str = include_str!("standing.sql");

/// One conversation's head and one viewer's numbers in it, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing {
    pub conv: ConvId,
    pub parked: bool,
    pub name: Option<String>,
    history: Option<History>,
    max_seq: Option<Seq>,
    expired_seq: Seq,
    updated_at: Ms,
    /// The viewer's membership, if there is a row: seq and time of joining.
    joined: Option<(Seq, Ms)>,
    cleared_seq: Seq,
    pub read: (Seq, Ms),
    /// Of a single chat: the other one's.
    pub peer_read: (Seq, Ms),
    pub settings: Settings,
    /// Out of the viewer's list until the next message.
    pub hidden: bool,
    /// What of its shard is in here; none where the generation is gone.
    pub passed: Option<Position>,
}

impl Standing {
    /// Reads a row of `standing.sql`.
    pub(crate) fn read(conv: ConvId, row: &Row) -> Result<Self, Error> {
        let seq =
            |name: &str| Ok::<_, Error>(row.try_get::<_, Option<i64>>(name)?.map(|n| Seq::new(n as u64)));
        let ms = |name: &str| Ok::<_, Error>(row.try_get::<_, Option<i64>>(name)?.unwrap_or(0));
        let history: Option<&str> = row.try_get("history")?;
        let max_seq = seq("max_seq")?;
        Ok(Self {
            conv,
            parked: row.try_get("parked")?,
            name: row.try_get("name")?,
            history: history.and_then(History::parse),
            max_seq,
            expired_seq: seq("expired_seq")?.unwrap_or(Seq::ZERO),
            updated_at: ms("updated_at")?,
            joined: seq("joined_seq")?.map(|seq| Ok::<_, Error>((seq, ms("joined_at")?))).transpose()?,
            cleared_seq: seq("cleared_seq")?.unwrap_or(Seq::ZERO),
            // A batch may end between a joining, which counts the message about it as read, and that message.
            read: (seq("read_seq")?.unwrap_or(Seq::ZERO).min(max_seq.unwrap_or(Seq::ZERO)), ms("read_at")?),
            peer_read: (seq("peer_read_seq")?.unwrap_or(Seq::ZERO), ms("peer_read_at")?),
            settings: Settings { pinned: row.try_get("pinned")?, muted: row.try_get("muted")? },
            hidden: row.try_get("hidden")?,
            passed: row.try_get::<_, Option<i64>>("passed")?.map(|at| Position::new(count(at))),
        })
    }

    /// Has it passed this?
    pub(crate) fn has_passed(&self, wanted: Position) -> bool {
        self.passed.unwrap_or_default() >= wanted
    }

    /// Does it stand in the viewer's list?
    pub(crate) fn is_listed(&self) -> bool {
        self.max_seq.is_some() && !self.parked && !self.hidden
    }

    /// In it now? A single chat's two are, even before its first message.
    pub(crate) fn is_member(&self, uid: Uid) -> bool {
        if self.conv.is_group() { self.joined.is_some() } else { self.conv.has_party(uid) }
    }

    pub(crate) fn max_seq(&self) -> Seq {
        self.max_seq.unwrap_or(Seq::ZERO)
    }

    /// Computed, never stored, so that a change of the history mode works backwards, too.
    pub(crate) fn min_seq(&self) -> Seq {
        let joined = match (self.history, self.joined) {
            (Some(History::Joined), Some((seq, _))) => seq,
            _ => Seq::ZERO,
        };
        view::min_seq(self.cleared_seq, joined, self.expired_seq)
    }

    /// The eyes of a member.
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer { member: true, min_seq: self.min_seq() }
    }

    /// The last message, the founding, or this viewer's joining.
    pub(crate) fn updated_at(&self) -> Ms {
        self.updated_at.max(self.joined.map_or(0, |(_, at)| at))
    }
}

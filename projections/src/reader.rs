//! Answers questions from one generation of the read models: each in one snapshot that has seen what the asker has.
//! Which generation that is, [`crate::ReadModels`] knows.

use std::{sync::Arc, time::Duration};

use domain::{ConvId, Seq, Uid};
use event_store::{EventStore, Position, Shard, Vector};
use futures_util::future::join;
use tokio::time::{Instant, sleep};

use crate::{
    CONVERSATION,
    audience::{self, Audience, Listeners},
    checkpoint,
    generation::Generation,
    group_read::query as group_read,
    head, history,
    member::{
        acquaintances,
        query::{self as member, MEMBERSHIPS, MEMBERSHIPS_AT_ONCE},
    },
    progress::Progress,
    query::{GroupRow, MemberRow, Page, PageLimit, QueryError, Quote, Range, ReadPosition, Readers, Summary},
    serving::Gone,
    snapshot::{Ask, Snapshot, unavailable},
    standing::{Asked, STANDING, Standing},
    summary,
    write::int,
};

/// How long an answer waits for the read models to pass what the asker may have seen: usually milliseconds; past
/// this they are ill, and the asker should hear about it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Where the projector works in another process, how often its checkpoint is looked at.
const POLL: Duration = Duration::from_millis(5);

/// The query side of one generation.
pub(crate) struct Reader {
    store: Arc<dyn EventStore>,
    generation: Generation,
    /// The projector's, where it works in this process; else the checkpoints are looked at.
    progress: Option<Arc<Progress>>,
    /// May another generation come to serve? Then one without checkpoints is gone, and not behind.
    may_go: bool,
}

impl Reader {
    pub(crate) fn new(
        store: Arc<dyn EventStore>,
        generation: Generation,
        progress: Option<Arc<Progress>>,
        may_go: bool,
    ) -> Self {
        Self { store, generation, progress, may_go }
    }

    /// A page of a history.
    pub(crate) async fn page(
        &self,
        conv: &ConvId,
        viewer: Uid,
        range: Range,
        limit: PageLimit,
    ) -> Result<Page, QueryError> {
        let (snapshot, standing) = self.standing("read a page of a history", conv, viewer).await?;
        history::page::page(&snapshot, conv, viewer, &standing, range, limit).await
    }

    /// A conversation as one member sees it. A single chat that nobody has used is there, too.
    pub(crate) async fn summary(&self, conv: &ConvId, viewer: Uid) -> Result<Summary, QueryError> {
        let (snapshot, standing) = self.standing("read a conversation", conv, viewer).await?;
        let mut summaries = summary::summaries(&snapshot, viewer, &[standing]).await?;
        summaries.pop().ok_or_else(|| snapshot.failed("an answer is missing"))
    }

    /// A group's own facts, as a member sees them.
    pub(crate) async fn group(&self, conv: &ConvId, viewer: Uid) -> Result<GroupRow, QueryError> {
        let (snapshot, _) = self.standing("read a group", conv, viewer).await?;
        head::query::group(&snapshot, conv, viewer).await
    }

    /// How far one member has read.
    pub(crate) async fn read_position(&self, conv: &ConvId, uid: Uid) -> Result<ReadPosition, QueryError> {
        let (_, standing) = self.standing("read a read position", conv, uid).await?;
        Ok(ReadPosition { uid, read_seq: standing.read.0, read_at: standing.read.1 })
    }

    /// How far the members after a uid have read, ascending by uid.
    pub(crate) async fn read_positions(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<ReadPosition>, QueryError> {
        let (snapshot, standing) = self.standing("read the read positions", conv, viewer).await?;
        group_read::read_positions(&snapshot, conv, viewer, &standing, after, limit).await
    }

    /// Who has read a message.
    pub(crate) async fn readers(
        &self,
        conv: &ConvId,
        viewer: Uid,
        seq: Seq,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Readers, QueryError> {
        let (snapshot, standing) = self.standing("read a message's readers", conv, viewer).await?;
        group_read::readers(&snapshot, conv, viewer, &standing, seq, after, limit).await
    }

    /// The members after a uid, ascending by uid.
    pub(crate) async fn members(
        &self,
        conv: &ConvId,
        viewer: Uid,
        after: Option<Uid>,
        limit: PageLimit,
    ) -> Result<Vec<MemberRow>, QueryError> {
        let (snapshot, _) = self.standing("read the members", conv, viewer).await?;
        member::members(&snapshot, conv, after, limit).await
    }

    /// Who is in a group, at `at` or later.
    pub(crate) async fn audience(&self, conv: &ConvId, at: Position) -> Result<Audience, QueryError> {
        let snapshot = self.passed("read who is to hear of something", conv, at).await?;
        audience::audience(&snapshot, conv, at).await
    }

    /// Who would hear a member of a group speak; at most so many members are named.
    pub(crate) async fn listeners(
        &self,
        conv: &ConvId,
        speaker: Uid,
        most: usize,
    ) -> Result<Listeners, QueryError> {
        let (snapshot, _) = self.standing("read who would hear somebody", conv, speaker).await?;
        audience::listeners(&snapshot, conv, speaker, most).await
    }

    /// Those of these people who are in a conversation with somebody now, ascending.
    pub(crate) async fn acquaintances(&self, viewer: Uid, people: &[Uid]) -> Result<Vec<Uid>, QueryError> {
        let (snapshot, memberships) = self.memberships("read who knows whom", viewer).await?;
        acquaintances::acquaintances(&snapshot, viewer, memberships, people).await
    }

    /// How a quoted message looks to these people, at `at` or later; those who see the same stand together.
    pub(crate) async fn quotes(
        &self,
        conv: &ConvId,
        at: Position,
        quoted: Seq,
        people: &[Uid],
    ) -> Result<Vec<(Quote, Vec<Uid>)>, QueryError> {
        let snapshot = self.passed("read a quoted message", conv, at).await?;
        audience::quotes(&snapshot, conv, quoted, people).await
    }

    /// A snapshot that has passed a position in the conversation's shard.
    async fn passed(&self, doing: &'static str, conv: &ConvId, at: Position) -> Result<Snapshot, QueryError> {
        let shard = Shard::of(conv, self.store.info().shards);
        let mut patience = Patience::new();
        let generation = self.generation.number();
        loop {
            let positions = Ask { sql: checkpoint::POSITIONS, params: &[&CONVERSATION, &generation] };
            let (snapshot, [rows]) = Snapshot::open(self.generation.pool(), doing, [positions]).await?;
            let positions = self.positions(&snapshot, &rows)?;
            if has_passed(&positions, shard, at) {
                return Ok(snapshot);
            }
            // Given back before waiting: the projector may need the room.
            drop(snapshot);
            self.wait(&[(shard, at)], &mut patience).await?;
        }
    }

    /// A snapshot that has passed the conversation's last event, and where the viewer stands in it: one round trip
    /// where the read models are up to date.
    async fn standing(
        &self,
        doing: &'static str,
        conv: &ConvId,
        viewer: Uid,
    ) -> Result<(Snapshot, Standing), QueryError> {
        if !conv.is_group() && !conv.has_party(viewer) {
            return Err(QueryError::NotAMember);
        }
        let shard = Shard::of(conv, self.store.info().shards);
        let mut patience = Patience::new();
        let convs = [conv.clone()];
        let asked = self.asked(&convs, viewer);
        let open = || self.open_standings(doing, &asked);
        let (opened, wanted) = join(open(), self.store.conversation_position(conv)).await;
        let wanted = wanted.map_err(|error| unavailable(doing, error))?;
        let (mut snapshot, mut standings) = opened?;
        while standings.iter().any(|standing| !standing.has_passed(wanted)) {
            // Given back before waiting: the projector may need the room.
            drop(snapshot);
            self.wait(&[(shard, wanted)], &mut patience).await?;
            (snapshot, standings) = open().await?;
        }
        let standing = standings.pop().ok_or_else(|| snapshot.failed("an answer is missing"))?;
        if standing.parked {
            Err(QueryError::Parked)
        } else if standing.is_member(viewer) {
            Ok((snapshot, standing))
        } else {
            Err(QueryError::NotAMember)
        }
    }

    /// The question where a viewer stands in these conversations.
    pub(crate) fn asked<'a>(&self, convs: &'a [ConvId], viewer: Uid) -> Asked<'a> {
        Asked::new(convs, viewer, self.generation.number(), self.store.info().shards)
    }

    /// A snapshot, and where the viewer stands in these conversations, in any order.
    pub(crate) async fn open_standings(
        &self,
        doing: &'static str,
        asked: &Asked<'_>,
    ) -> Result<(Snapshot, Vec<Standing>), QueryError> {
        let ask = Ask { sql: STANDING, params: &asked.params() };
        let (snapshot, [rows]) = Snapshot::open(self.generation.pool(), doing, [ask]).await?;
        let standings = asked.read(&rows).map_err(|error| snapshot.failed(error))?;
        if self.may_go && standings.iter().any(|standing| standing.passed.is_none()) {
            return Err(snapshot.failed(Gone));
        }
        Ok((snapshot, standings))
    }

    /// As [`Self::abreast`], with the person's first memberships.
    pub(crate) async fn memberships(
        &self,
        doing: &'static str,
        viewer: Uid,
    ) -> Result<(Snapshot, Vec<tokio_postgres::Row>), QueryError> {
        let (uid, limit) = (int(viewer.get()), MEMBERSHIPS_AT_ONCE as i64);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&uid, &"", &limit];
        let (snapshot, _, _, rows) = self.abreast(doing, Ask { sql: MEMBERSHIPS, params: &params }).await?;
        Ok((snapshot, rows))
    }

    /// A snapshot that has passed the heads of all shards as they were when the question came: with the positions
    /// that it has passed, those heads, and the answer to a first question.
    pub(crate) async fn abreast(
        &self,
        doing: &'static str,
        ask: Ask<'_>,
    ) -> Result<(Snapshot, Vector, Vector, Vec<tokio_postgres::Row>), QueryError> {
        let mut patience = Patience::new();
        let open = || self.open(doing, ask);
        let (opened, heads) = join(open(), self.store.shard_heads()).await;
        let heads = heads.map_err(|error| unavailable(doing, error))?;
        let vector = Vector::new(heads.iter().map(|head| head.position).collect());
        let wanted: Vec<_> =
            Shard::all(u16::MAX).zip(heads).map(|(shard, head)| (shard, head.position)).collect();
        let (mut snapshot, mut positions, mut rows) = opened?;
        while wanted.iter().any(|(shard, wanted)| !has_passed(&positions, *shard, *wanted)) {
            drop(snapshot);
            self.wait(&wanted, &mut patience).await?;
            (snapshot, positions, rows) = open().await?;
        }
        let mut passed = Vector::start(self.store.info().shards);
        positions.iter().for_each(|(shard, position)| passed.raise(*shard, *position));
        Ok((snapshot, passed, vector, rows))
    }

    /// The log behind the read models.
    pub(crate) fn store(&self) -> &dyn EventStore {
        &*self.store
    }

    /// The generation that answers.
    pub(crate) fn generation(&self) -> &Generation {
        &self.generation
    }

    /// A snapshot with the checkpoints that it sees and the answer to a first question.
    pub(crate) async fn open(
        &self,
        doing: &'static str,
        ask: Ask<'_>,
    ) -> Result<(Snapshot, Vec<(Shard, Position)>, Vec<tokio_postgres::Row>), QueryError> {
        let generation = self.generation.number();
        let positions = Ask { sql: checkpoint::POSITIONS, params: &[&CONVERSATION, &generation] };
        let (snapshot, [positions, rows]) =
            Snapshot::open(self.generation.pool(), doing, [positions, ask]).await?;
        let positions = self.positions(&snapshot, &positions)?;
        Ok((snapshot, positions, rows))
    }

    fn positions(
        &self,
        snapshot: &Snapshot,
        rows: &[tokio_postgres::Row],
    ) -> Result<Vec<(Shard, Position)>, QueryError> {
        if rows.is_empty() && self.may_go {
            return Err(snapshot.failed(Gone));
        }
        checkpoint::positions(rows).map_err(|error| snapshot.failed(error))
    }

    pub(crate) async fn wait(
        &self,
        wanted: &[(Shard, Position)],
        patience: &mut Patience,
    ) -> Result<(), QueryError> {
        let left = patience.left().ok_or(QueryError::Behind)?;
        let Some(progress) = &self.progress else {
            sleep(POLL.min(left)).await;
            return Ok(());
        };
        if !patience.is_first() {
            // A crash of Postgres has taken rows that the projector believes to be there. It finds out by itself.
            sleep(POLL.min(left)).await;
        }
        // All at once, so that the shards are not waited for one after the other.
        wanted.iter().for_each(|(shard, position)| progress.nudge(*shard, *position));
        for (shard, position) in wanted {
            let left = patience.left().ok_or(QueryError::Behind)?;
            if !progress.reached(*shard, *position, left).await {
                let gone = self.may_go && progress.has_ended();
                return Err(if gone {
                    unavailable("wait for the read models", Gone)
                } else {
                    QueryError::Behind
                });
            }
        }
        Ok(())
    }
}

/// Has a snapshot passed this?
pub(crate) fn has_passed(positions: &[(Shard, Position)], shard: Shard, wanted: Position) -> bool {
    wanted == Position::START || positions.iter().any(|(of, position)| *of == shard && *position >= wanted)
}

/// The time that one answer may spend on waiting.
pub(crate) struct Patience {
    until: Instant,
    asked: bool,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { until: Instant::now() + PATIENCE, asked: false }
    }

    /// True once.
    fn is_first(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    /// None when it is used up.
    fn left(&self) -> Option<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

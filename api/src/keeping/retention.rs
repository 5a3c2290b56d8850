//! Retention: what is older than it may be goes, conversation by conversation, in a list that is fixed at the start.
//!
//! By the time of recording, so that an import of old chats is not gone the next day. An event first, in steps, then the
//! digests of the bodies; at the end the bodies are removed. Whoever is interrupted begins anew and finds what is left.

use std::{collections::HashSet, time::Duration};

use domain::{Command, ConvId, Rejection, Reply, Seq};
use event_store::{
    CommandError, CommandHandler, Request,
    postgres::{
        holds::HoldOn,
        removal::{
            digests::{self, Noted},
            targets::{self, Target},
        },
    },
};
use projections::ReadModels;
use serde::Serialize;
use tokio::time::sleep;
use uuid::Uuid;

use super::{Keeping, KeepingError, policy::Policy, removal::Depth, report::Report};
use crate::entropy::uuid_v7;

/// Conversations that are looked at together.
const PAGE: u32 = 200;
/// Messages that one event lets expire, so that no read model is held up for long.
const STEP: u64 = 10_000;

/// What would go, of one kind of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct WouldGo {
    /// Conversations.
    pub conversations: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes of their bodies in the log.
    pub bytes: u64,
    /// Conversations that are passed over, since a hold stands.
    pub held: u64,
}

impl Keeping {
    /// What would go now: of single chats, and of groups. Nothing is changed.
    pub async fn would_go(
        &self,
        read_models: &ReadModels,
        policy: &Policy,
    ) -> Result<[WouldGo; 2], KeepingError> {
        let mut kinds = [WouldGo::default(); 2];
        let held: HashSet<ConvId> = self.held_by_people(read_models).await?.into_iter().collect();
        let mut pages = Pages::begin(self, policy).await?;
        while let Some(page) = pages.next(self, policy).await? {
            for Target { conv, up_to, retained, .. } in page {
                let kind = &mut kinds[usize::from(conv.is_group())];
                if held.contains(&conv) || self.hold(&HoldOn::Conversation(conv.clone())).await?.is_some() {
                    kind.held += 1;
                    continue;
                }
                let Noted { messages, bytes } =
                    targets::weigh(&self.pool, &conv, (retained, up_to.max(retained))).await?;
                kind.conversations += u64::from(messages > 0);
                kind.messages += messages;
                kind.bytes += bytes;
            }
        }
        Ok(kinds)
    }

    /// Takes what is too old now. At most so many messages a second, where a pace is given.
    pub async fn retain(
        &self,
        commands: &CommandHandler,
        read_models: &ReadModels,
        policy: &Policy,
        depth: Depth,
        pace: Option<u32>,
    ) -> Result<Report, KeepingError> {
        let job = self.job().await?;
        let retained = self.retain_all(commands, read_models, policy, depth, pace).await;
        job.give_back().await;
        retained
    }

    async fn retain_all(
        &self,
        commands: &CommandHandler,
        read_models: &ReadModels,
        policy: &Policy,
        depth: Depth,
        pace: Option<u32>,
    ) -> Result<Report, KeepingError> {
        let mut report = Report::new();
        let correlation_id = uuid_v7(self.surroundings.clock.now(), &*self.surroundings.entropy);
        tracing::info!("retention takes what is too old");
        let held: HashSet<ConvId> = self.held_by_people(read_models).await?.into_iter().collect();
        let mut pages = Pages::begin(self, policy).await?;
        while let Some(page) = pages.next(self, policy).await? {
            for target in page {
                if held.contains(&target.conv) {
                    report.hold(target.conv.to_string());
                    continue;
                }
                self.expire(commands, &target, correlation_id, pace, &mut report).await?;
            }
        }
        self.remove(read_models, depth, &mut report).await?;
        let (messages, conversations, held) = (report.messages, report.conversations, report.held_count);
        tracing::info!(messages, conversations, held, "retention has taken what was too old");
        metrics::counter!("quipu_retention_runs_total").increment(1);
        metrics::counter!("quipu_retention_messages_total").increment(messages);
        Ok(report)
    }

    /// One conversation's events and digests, in steps.
    async fn expire(
        &self,
        commands: &CommandHandler,
        target: &Target,
        correlation_id: Uuid,
        pace: Option<u32>,
        report: &mut Report,
    ) -> Result<(), KeepingError> {
        let Target { conv, up_to, expired, retained } = target;
        let mut noted = Noted::default();
        // What an earlier run has let expire and not come to.
        let mut stands = *expired;
        if stands > *retained {
            noted += digests::note_up_to(&self.pool, conv, stands).await?;
        }
        while stands < *up_to {
            let to = Seq::new((stands.get() + STEP).min(up_to.get()));
            let command = Command::Expire { up_to_seq: to };
            let request = Request { command, device: None, correlation_id, over_limit: None };
            match commands.handle(conv.clone(), request).await {
                Ok(Reply::Expired(reached)) => stands = reached.max(to),
                Ok(_) => return Err(KeepingError::Bug("an expiry was answered with something else")),
                Err(CommandError::Rejected(Rejection::Held { .. })) => {
                    report.hold(conv.to_string());
                    break;
                }
                Err(error) => return Err(error.into()),
            }
            let step = digests::note_up_to(&self.pool, conv, stands).await?;
            noted += step;
            if let Some(pace) = pace {
                sleep(Duration::from_secs_f64(step.messages as f64 / f64::from(pace.max(1)))).await;
            }
        }
        report.conversations += u64::from(noted.messages > 0);
        report.messages += noted.messages;
        report.bytes += noted.bytes;
        Ok(())
    }
}

/// The conversations that were there at the start, in pages.
struct Pages {
    next: Option<i64>,
    last: i64,
    now: i64,
}

impl Pages {
    async fn begin(keeping: &Keeping, _: &Policy) -> Result<Self, KeepingError> {
        let last = targets::last(&keeping.pool).await?;
        Ok(Self { next: Some(0), last, now: keeping.surroundings.clock.now() })
    }

    async fn next(
        &mut self,
        keeping: &Keeping,
        policy: &Policy,
    ) -> Result<Option<Vec<Target>>, KeepingError> {
        let Some(after) = self.next else { return Ok(None) };
        let (before, own) = (policy.before(self.now), policy.own(self.now));
        let page = targets::page(&keeping.pool, (after, self.last), PAGE, before, &own).await?;
        self.next = page.next;
        Ok(Some(page.targets))
    }
}

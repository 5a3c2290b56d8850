//! Erasure of a person: everything that they have said goes, in every conversation that they are or were in.
//!
//! Asked for by an event in the person's stream; then, conversation by conversation, the messages are named in events and
//! their digests are noted; then the bodies are removed; then another event ends it with a report. Whoever is interrupted
//! begins anew and finds what is left.

use domain::{
    Command, ConvId, Erasure, PersonCommand, PersonReply, Rejection, Reply, Sender, Seq, Uid,
    keeping::ERASED_PER_EVENT,
};
use event_store::{
    CommandError, CommandHandler, Request,
    persons::by_system,
    postgres::{
        holds::HoldOn,
        removal::digests::{self, Noted},
    },
};
use projections::ReadModels;
use uuid::Uuid;

use super::{Keeping, KeepingError, removal::Depth, report::Report};
use crate::entropy::uuid_v7;

/// Messages of a conversation that are looked through at once.
const WINDOW: u32 = 4000;

impl Keeping {
    /// Goes on with an erasure that was asked for, to its end.
    pub async fn erase(
        &self,
        commands: &CommandHandler,
        read_models: &ReadModels,
        uid: Uid,
    ) -> Result<Erasure, KeepingError> {
        let job = self.job().await?;
        let erased = self.erase_to_its_end(commands, read_models, uid).await;
        job.give_back().await;
        erased
    }

    async fn erase_to_its_end(
        &self,
        commands: &CommandHandler,
        read_models: &ReadModels,
        uid: Uid,
    ) -> Result<Erasure, KeepingError> {
        let state = self.persons.state(uid).await?;
        let Some(erasure) = state.erasure else { return Err(KeepingError::NotAsked) };
        if erasure.done.is_some() {
            return Ok(erasure);
        }
        let mut report = Report::new();
        let correlation_id = uuid_v7(self.surroundings.clock.now(), &*self.surroundings.entropy);
        tracing::info!(%uid, "erasing what a person has said");
        let mut after: Option<ConvId> = None;
        loop {
            let page = read_models.ever_in(uid, after.as_ref()).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            for conv in &page {
                self.not_held(uid).await?;
                self.erase_in(commands, conv, (uid, erasure.asked.by, correlation_id), &mut report).await?;
            }
        }
        self.not_held(uid).await?;
        self.remove(read_models, Depth::Thorough, &mut report).await?;
        // What a hold has spared in the last moment is not erased: it goes on once the hold is lifted.
        self.not_held(uid).await?;
        let (messages, conversations, held) = (report.messages, report.conversations, report.held_count);
        tracing::info!(%uid, messages, conversations, held, "erased what a person has said");
        metrics::counter!("quipu_erasures_total").increment(1);
        let at = self.surroundings.clock.now();
        // Plain values: serialising these into memory cannot fail.
        let report = serde_json::to_string(&report).unwrap_or_default();
        let done = PersonCommand::Done { at, report };
        match self.persons.handle(uid, &by_system(correlation_id), &done).await? {
            PersonReply::Erasure(erasure) => Ok(erasure),
            _ => Err(KeepingError::Bug("the end of an erasure was answered with something else")),
        }
    }

    /// Fails while a hold stands on this person.
    async fn not_held(&self, uid: Uid) -> Result<(), KeepingError> {
        match self.hold(&HoldOn::Person(uid)).await? {
            Some(hold) => Err(CommandError::Rejected(Rejection::Held { since: hold.at }).into()),
            None => Ok(()),
        }
    }

    /// Everything that this person has said in one conversation is named and on its way.
    async fn erase_in(
        &self,
        commands: &CommandHandler,
        conv: &ConvId,
        (uid, by, correlation_id): (Uid, Sender, Uuid),
        report: &mut Report,
    ) -> Result<(), KeepingError> {
        let mut noted = Noted::default();
        let mut from = Some(Seq::ZERO);
        while let Some(after) = from {
            let (seqs, next) = digests::of_person(&self.pool, conv, uid, after, WINDOW).await?;
            for some in seqs.chunks(ERASED_PER_EVENT) {
                let command = Command::Erase { uid, seqs: some.to_vec(), by };
                let request = Request { command, device: None, correlation_id, over_limit: None };
                match commands.handle(conv.clone(), request).await {
                    Ok(Reply::Erased(_)) => {}
                    Ok(_) => return Err(KeepingError::Bug("an erasure was answered with something else")),
                    Err(CommandError::Rejected(Rejection::Held { .. })) => {
                        report.hold(conv.to_string());
                        return Ok(());
                    }
                    Err(error) => return Err(error.into()),
                }
                noted += digests::note_seqs(&self.pool, conv, some).await?;
            }
            from = next;
        }
        report.conversations += u64::from(noted.messages > 0);
        report.messages += noted.messages;
        report.bytes += noted.bytes;
        Ok(())
    }
}

//! Coming back: by resume, or by sync and batch, at random. After either, everything that was acknowledged before the
//! device asked is on the device.

use hyper::Method;
use serde_json::json;
use tokio::time::sleep;

use super::{Connection, Device, NOT_NOW_PAUSE};
use crate::{
    client::{
        ClientError,
        rest::batch_body,
        wire::{Batch, Conversation, Problem, Range, Resumed, SyncPage, Synced},
    },
    population::{fault::Kind, ledger::Due},
};

/// Of all returns, so many are by resume.
const RESUMES: f64 = 0.5;
/// Conversations on a page of a sync; few, so that there are several pages.
const PAGE: u32 = 20;
/// Ranges in one batch: the contract's bound.
const RANGES_MAX: usize = 100;
/// A history that does not come in so many pages does not come.
const FRUITLESS_MAX: u32 = 20;

impl Device {
    /// Catches up, in one way or the other.
    pub(super) async fn catch_up(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        let due = self.world.ledger.due(self.uid);
        let cursor = self.cursor.clone().filter(|_| self.dice.happens(RESUMES));
        let resumes = cursor.is_some();
        c.whole = resumes;
        c.opened = self.world.ledger.tick();
        let fields = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
        match self.ask::<Resumed>(c, "resume", fields).await? {
            Ok(resumed) if c.whole => self.cursor = Some(resumed.cursor),
            Ok(_) => {}
            Err(problem) => {
                if !problem.passes() {
                    self.fault(Kind::Answer, format!("a resume was answered with {problem:?}"));
                    self.cursor = None;
                }
                return Err(ClientError::Closed);
            }
        }
        if resumes && c.whole {
            self.world.tally.resumes.add();
            let whole = |it: &&Due| !c.incomplete.contains(&it.conv);
            self.check(due.iter().filter(whole), "a resume");
            self.settle(c).await?;
            c.incomplete.clear();
            self.check(&due, "a resume and what it was known to lack");
        } else {
            self.sync(c).await?;
        }
        let convs: Vec<String> = self.replica.kept.keys().cloned().collect();
        convs.iter().for_each(|conv| self.notice(conv));
        Ok(())
    }

    /// Everything that was due is here.
    fn check<'a>(&self, due: impl IntoIterator<Item = &'a Due>, way: &str) {
        for it in due.into_iter().filter(|it| self.world.ledger.stands(self.uid, it)) {
            let conv = &it.conv;
            match self.replica.kept.get(conv) {
                None => self.fault(Kind::Loss, format!("{conv} is not there after {way}")),
                // What came before one has come in is fetched later.
                Some(kept) if !kept.known => {
                    if kept.max_seq < it.head {
                        self.fault(Kind::Loss, format!("{conv} ends before {} after {way}", it.head));
                    }
                }
                Some(kept) => {
                    if let Some(seq) = kept.lacks(it.head) {
                        self.fault(Kind::Loss, format!("{conv}: {seq} is not there after {way}"));
                    }
                }
            }
        }
    }

    /// Syncs from the device's cursor, with all that belongs to it.
    pub(super) async fn sync(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        let due = self.world.ledger.due(self.uid);
        c.whole = false;
        // What is pushed as missing from now on asks for another one.
        c.resync = false;
        let mut cursor = self.cursor.clone();
        loop {
            let page = self.sync_page(c, cursor.as_deref()).await?;
            let has_more = page.has_more;
            cursor = Some(page.cursor.clone());
            self.take_page(c, page);
            if !has_more {
                break;
            }
        }
        self.settle(c).await?;
        self.world.tally.syncs.add();
        self.check(&due, "a sync");
        // Not before: a device that breaks off in between must not believe that it knows.
        self.cursor = cursor;
        c.incomplete.clear();
        c.whole = true;
        Ok(())
    }

    async fn sync_page(&mut self, c: &mut Connection, cursor: Option<&str>) -> Result<SyncPage, ClientError> {
        loop {
            self.asked = self.world.ledger.tick();
            c.joined.clear();
            let answer = if self.dice.happens(0.5) {
                self.ask(c, "sync", json!({"cursor": cursor, "limit": PAGE})).await?
            } else {
                let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
                c.rest.ask(Method::GET, &format!("/v1/sync?limit={PAGE}{cursor}"), None).await?
            };
            match answer {
                Ok(page) => return Ok(page),
                Err(problem) => self.not_now("a sync", &problem).await?,
            }
        }
    }

    fn take_page(&mut self, c: &mut Connection, page: SyncPage) {
        if page.reset {
            self.fault(Kind::Loss, "a sync did not know the cursor any more");
        }
        for entry in page.conversations {
            match entry {
                // The answer may be older than a push that came before it: out, and in again since?
                Synced::Left(left) if c.joined.contains(&left.conv_id) => {
                    c.doubtful.insert(left.conv_id);
                }
                Synced::Left(left) => self.is_out(c, &left.conv_id),
                Synced::Here(here) => {
                    self.replica.take_changes(&here.conversation.conv_id, &here.changes);
                    self.take_conversation(&here.conversation);
                }
            }
        }
    }

    pub(super) fn take_conversation(&mut self, it: &Conversation) {
        let asked = self.asked;
        self.look_at(it);
        self.world.ledger.heard_of(&it.conv_id, self.uid, asked, "its numbers");
        self.replica.take_numbers(it);
    }

    /// Checks what a conversation's answer shows of a message.
    pub(super) fn look_at(&self, it: &Conversation) {
        if let Some(last) = &it.last_message {
            self.world.ledger.told(&it.conv_id, self.uid, last, self.asked);
        }
    }

    /// Waits where the server says "not now"; anything else is against the contract.
    pub(super) async fn not_now(&self, what: &str, problem: &Problem) -> Result<(), ClientError> {
        if !problem.passes() {
            self.fault(Kind::Answer, format!("{what} was answered with {problem:?}"));
            return Err(ClientError::Closed);
        }
        sleep(NOT_NOW_PAUSE).await;
        Ok(())
    }

    /// Asks for what the device has only heard of, and for messages that are missing.
    pub(super) async fn settle(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        let mut fruitless = 0;
        loop {
            let mut unsure = std::mem::take(&mut c.doubtful);
            unsure.extend(self.replica.unknown());
            for conv in unsure {
                self.ask_about(c, &conv).await?;
            }
            let holes = self.replica.holes(RANGES_MAX);
            if holes.is_empty() {
                return Ok(());
            }
            fruitless = if self.fill(c, &holes).await? { 0 } else { fruitless + 1 };
            if fruitless > FRUITLESS_MAX {
                // Goes on without them, as a person would.
                self.fault(Kind::Loss, format!("these ranges do not come: {holes:?}"));
                return Ok(());
            }
        }
    }

    /// Learns a conversation's numbers, or that the person is out.
    async fn ask_about(&mut self, c: &mut Connection, conv: &str) -> Result<(), ClientError> {
        loop {
            self.asked = self.world.ledger.tick();
            let path = format!("/v1/conversations/{conv}");
            match c.rest.ask::<Conversation>(Method::GET, &path, None).await? {
                Ok(conversation) => self.take_conversation(&conversation),
                Err(problem) if problem.code == "not_a_member" => {
                    self.world.tally.ghosts.add();
                    self.is_out(c, conv);
                }
                Err(problem) => {
                    self.not_now("a conversation", &problem).await?;
                    continue;
                }
            }
            return Ok(());
        }
    }

    /// An answer said that the person is not in a group any more.
    fn is_out(&mut self, c: &mut Connection, conv: &str) {
        self.replica.leave(conv);
        c.order.left(conv);
    }

    /// Fetches ranges; true if anything came of it.
    async fn fill(
        &mut self,
        c: &mut Connection,
        holes: &[(String, u64, Option<u64>)],
    ) -> Result<bool, ClientError> {
        let asked = self.world.ledger.tick();
        let path = "/v1/messages/batch";
        let batch = match c.rest.ask::<Batch>(Method::POST, path, Some(&batch_body(holes))).await? {
            Ok(batch) => batch,
            Err(problem) => {
                self.not_now("a batch", &problem).await?;
                return Ok(false);
            }
        };
        let mut fruitful = false;
        for ((conv, ..), range) in holes.iter().zip(batch.pages) {
            match range {
                Range::Failed(failed) if failed.error.code == "not_a_member" => {
                    self.is_out(c, conv);
                    fruitful = true;
                }
                Range::Failed(failed) => self.not_now("a range", &failed.error).await?,
                Range::Page(page) => {
                    fruitful |= !page.items.is_empty();
                    for item in &page.items {
                        self.told(conv, item, asked);
                    }
                    if let Some(kept) = self.replica.kept.get_mut(conv) {
                        fruitful |= page.min_seq > kept.min_seq;
                        kept.begins(page.min_seq);
                        kept.max_seq = kept.max_seq.max(page.max_seq);
                    }
                }
            }
        }
        Ok(fruitful)
    }
}

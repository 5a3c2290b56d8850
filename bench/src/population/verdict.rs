//! How it went, for people: PASS or FAIL, the counts, the first faults of each kind in words, and the seed.

use std::fmt;

use super::{
    fault::{Kind, Noted},
    tally::Tally,
    world::World,
};

/// The end of a run.
#[derive(Debug)]
pub struct Verdict {
    /// Draws the same again.
    pub seed: u64,
    population: String,
    counts: Vec<(&'static str, u64)>,
    /// What was not kept.
    pub faults: Noted,
    /// A run in which nothing happened proves nothing.
    pub nothing_happened: Option<&'static str>,
    /// Where the server's data and log were left.
    pub left: Option<String>,
}

impl Verdict {
    /// Of what has been counted and noted.
    pub fn new(world: &World, kills_due: u64, rebuilds_due: bool) -> Self {
        let (tally, plan) = (&world.tally, &world.plan);
        let population = format!(
            "{} people x {} devices, {} conversations, speed {}",
            plan.people.len(),
            world.devices,
            plan.conversations.len(),
            world.speed
        );
        let missing = [
            (tally.acked.get() == 0, "nothing was said"),
            (tally.pushes.get() == 0, "nothing was pushed"),
            (tally.compared.get() == 0, "nothing was compared"),
            (tally.kills.get() < kills_due, "the server was not killed so often"),
            (rebuilds_due && tally.rebuilds.get() == 0, "no rebuild came to its end"),
        ];
        let nothing_happened = missing.iter().find(|(missing, _)| *missing).map(|(_, what)| *what);
        let faults = world.faults.noted();
        Self { seed: world.seed, population, counts: counts(tally), faults, nothing_happened, left: None }
    }

    /// Were all promises kept, and was there something to keep?
    pub fn passed(&self) -> bool {
        self.faults.is_empty() && self.nothing_happened.is_none()
    }

    /// How many faults there are of a kind.
    pub fn count(&self, kind: Kind) -> u64 {
        self.faults.get(&kind).map_or(0, |(count, _)| *count)
    }
}

fn counts(tally: &Tally) -> Vec<(&'static str, u64)> {
    vec![
        ("sends acknowledged", tally.acked.get()),
        ("  of them already there", tally.repeated.get()),
        ("sends refused (sender out)", tally.refused.get()),
        ("pushes", tally.pushes.get()),
        ("kills with -9", tally.kills.get()),
        ("rebuilds of read models", tally.rebuilds.get()),
        ("connections", tally.connections.get()),
        ("  broken under a device", tally.broken.get()),
        ("resumes", tally.resumes.get()),
        ("syncs", tally.syncs.get()),
        ("resyncs told", tally.resyncs.get()),
        ("recalls", tally.recalls.get()),
        ("deletions for oneself", tally.deletes.get()),
        ("read positions", tally.reads.get()),
        ("comings and goings", tally.moves.get()),
        ("questions from outside, refused", tally.refusals.get()),
        ("conversations compared", tally.compared.get()),
        ("  of them with unread messages", tally.unread.get()),
        ("  given up as moving", tally.unsettled.get()),
        ("departures learnt by asking", tally.ghosts.get()),
    ]
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.population)?;
        for (what, count) in &self.counts {
            writeln!(f, "  {what:<34}{count:>12}")?;
        }
        writeln!(f, "what must not happen:")?;
        for kind in Kind::ALL {
            writeln!(f, "  {kind:<34}{:>12}", self.count(kind))?;
        }
        for (kind, (count, kept)) in &self.faults {
            writeln!(f, "{kind}, the first {} of {count}:", kept.len())?;
            for what in kept {
                writeln!(f, "  {what}")?;
            }
        }
        if let Some(left) = &self.left {
            writeln!(f, "the server's data and log: {left}")?;
        }
        let verdict = if self.passed() { "PASS" } else { "FAIL" };
        let why = self.nothing_happened.map(|what| format!(" ({what})")).unwrap_or_default();
        write!(f, "{verdict}{why}, seed {}", self.seed)
    }
}

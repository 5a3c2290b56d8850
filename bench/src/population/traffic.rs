//! Who says what when: bursts in conversations, as in life. Tells devices what to do; knows nothing of what comes of it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};

use super::{
    deed::Deed,
    fact::Names,
    plan::{Kind, Planned, TALK_EXPONENT},
    text,
    world::{Handle, World},
};
use crate::chance::{Dice, Zipf};

/// Messages of a burst: at least, at most.
const BURST: (usize, usize) = (8, 20);
/// Half of all gaps in a burst are shorter, in seconds of life.
const GAP_MEDIAN_S: f64 = 12.0;
/// How far gaps spread: the deviation of the logarithm.
const GAP_SPREAD: f64 = 1.0;
/// People who talk in one burst, at most.
const TALKERS_MAX: usize = 5;
/// Of all messages, so many quote another one.
const QUOTING: f64 = 0.05;
/// Of all messages, so many name somebody.
const NAMING: f64 = 0.05;
/// Of all messages in groups, so many are for everybody's attention.
const FOR_ALL: f64 = 0.005;

/// The devices of each person.
pub type Handles = HashMap<u64, Vec<Handle>>;

/// How often people change their minds.
#[derive(Debug, Clone, Copy)]
pub struct TakenBack {
    /// Of all messages, so many are recalled.
    pub recalled: f64,
    /// So many are deleted by somebody for themselves.
    pub deleted: f64,
}

/// One stream of bursts, one after the other, until the end is called.
pub async fn talk(
    world: Arc<World>,
    handles: Arc<Handles>,
    taken_back: TakenBack,
    stream: usize,
    mut ending: watch::Receiver<bool>,
) {
    let mut dice = Dice::new(world.seed, &format!("talk {stream}"));
    let busy = Zipf::new(world.plan.conversations.len(), TALK_EXPONENT);
    let talking = async {
        loop {
            let Some(planned) = world.plan.conversations.get(busy.draw(&mut dice)) else { return };
            burst(&world, &handles, taken_back, &mut dice, planned).await;
        }
    };
    tokio::select! {
        () = talking => {}
        _ = ending.wait_for(|ending| *ending) => {}
    }
}

async fn burst(world: &World, handles: &Handles, taken_back: TakenBack, dice: &mut Dice, planned: &Planned) {
    let messages = BURST.0 + dice.below(BURST.1 - BURST.0 + 1);
    let chattiness = Zipf::new(planned.members.len(), TALK_EXPONENT);
    let talkers: Vec<u64> = {
        let drawn = (0..2 + dice.below(TALKERS_MAX - 1)).map(|_| planned.members[chattiness.draw(dice)]);
        drawn.collect()
    };
    for _ in 0..messages {
        let gap = dice.log_normal(GAP_MEDIAN_S, GAP_SPREAD) / world.speed;
        sleep(Duration::from_secs_f64(gap)).await;
        let members = world.ledger.members(&planned.conv);
        // Who has gone in the middle of a burst says nothing more; somebody else does.
        let inside: Vec<u64> = talkers.iter().copied().filter(|uid| members.contains(uid)).collect();
        let Some(sender) = dice.one(&inside).or(members.first()).copied() else { return };
        let deed = say(dice, planned, &members);
        tell(handles, dice, sender, deed);
        let conv = || planned.conv.clone();
        if dice.happens(taken_back.recalled) {
            tell(handles, dice, sender, Deed::Recall { conv: conv() });
        }
        if dice.happens(taken_back.deleted)
            && let Some(uid) = dice.one(&members).copied()
        {
            tell(handles, dice, uid, Deed::Delete { conv: conv() });
        }
    }
}

fn say(dice: &mut Dice, planned: &Planned, members: &[u64]) -> Deed {
    let all = planned.kind != Kind::Single && dice.happens(FOR_ALL);
    let named = if dice.happens(NAMING) { dice.one(members).copied() } else { None };
    let names = Names { all, uids: named.into_iter().collect() };
    let (text, quotes) = (text::draw(dice), dice.happens(QUOTING));
    Deed::Say { conv: planned.conv.clone(), text, names, quotes }
}

/// On a device that the person has at hand, if one is connected; else it waits on one of the others.
fn tell(handles: &Handles, dice: &mut Dice, uid: u64, deed: Deed) {
    let Some(devices) = handles.get(&uid) else { return };
    let at_hand: Vec<&Handle> = devices.iter().filter(|it| it.is_connected()).collect();
    let handle = match dice.one(&at_hand) {
        Some(handle) => Some(*handle),
        None => dice.one(devices),
    };
    if let Some(handle) = handle {
        handle.tell(deed);
    }
}

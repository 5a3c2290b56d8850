//! Groups are founded, and in some of them people come and go: over REST, as from a browser beside the devices.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    PopulationError,
    fault::Kind,
    plan::{self, Planned},
    world::World,
};
use crate::{
    chance::Dice,
    client::{
        ClientError,
        rest::Rest,
        wire::{Page, Problem},
    },
};

/// Between two comings or goings of the whole population, on average, in seconds of life.
const PAUSE_MEAN_S: f64 = 8.0;
/// Between two attempts of one command.
const AGAIN_PAUSE: Duration = Duration::from_millis(500);
/// A command that is not answered for so long is not answered.
const PATIENCE: Duration = Duration::from_secs(240);

/// To a foundation.
#[derive(Deserialize)]
struct Founded {
    duplicate: bool,
}

/// One person's browser.
struct Browsers {
    world: Arc<World>,
    open: HashMap<u64, Rest>,
}

impl Browsers {
    fn of(&mut self, uid: u64) -> Result<&mut Rest, ClientError> {
        if !self.open.contains_key(&uid) {
            let token = self.world.token(uid, "browser")?;
            self.open.insert(uid, Rest::new(&self.world.address, &token));
        }
        // Just put there.
        self.open.get_mut(&uid).ok_or(ClientError::Closed)
    }

    /// Asks until there is an answer that is not "not now"; a command may be sent again.
    async fn insist<T: serde::de::DeserializeOwned>(
        &mut self,
        uid: u64,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Result<T, Problem>, ClientError> {
        let give_up = Instant::now() + PATIENCE;
        loop {
            match self.of(uid)?.ask(method.clone(), path, body).await {
                Ok(Err(problem)) if problem.passes() && Instant::now() < give_up => {}
                Err(ClientError::Lost { .. } | ClientError::Closed) if Instant::now() < give_up => {}
                answered => return answered,
            }
            sleep(AGAIN_PAUSE).await;
        }
    }
}

/// Founds all groups of the plan.
pub async fn found(world: &Arc<World>) -> Result<(), PopulationError> {
    let mut browsers = Browsers { world: Arc::clone(world), open: HashMap::new() };
    for planned in &world.plan.conversations {
        let plan::Kind::Group { shows_all } = planned.kind else { continue };
        let (owner, others) = (planned.members[0], &planned.members[1..]);
        let history = if shows_all { "all" } else { "joined" };
        let body =
            json!({"group_id": planned.conv, "name": planned.conv, "members": others, "history": history});
        let founded = browsers.insist::<Founded>(owner, Method::POST, "/v1/groups", Some(&body)).await;
        match founded.map_err(PopulationError::Found)? {
            Ok(founded) if !founded.duplicate => {}
            Ok(_) => return Err(PopulationError::Again),
            Err(problem) => {
                return Err(PopulationError::Refused { code: problem.code, detail: problem.detail });
            }
        }
    }
    Ok(())
}

/// People come and go, one after the other, until the end is called.
pub async fn come_and_go(world: Arc<World>, mut ending: watch::Receiver<bool>) {
    let mut dice = Dice::new(world.seed, "comings");
    let churning: Vec<&Planned> = world.plan.conversations.iter().filter(|it| it.churns).collect();
    let mut browsers = Browsers { world: Arc::clone(&world), open: HashMap::new() };
    while !*ending.borrow() {
        let pause = Duration::from_secs_f64(dice.exponential(PAUSE_MEAN_S) / world.speed);
        tokio::select! {
            () = sleep(pause) => {}
            _ = ending.wait_for(|ending| *ending) => return,
        }
        let Some(planned) = dice.one(&churning) else { return };
        // Not cut off: what has been asked for must be answered, or nobody knows who is in.
        if let Err(error) = step(&world, &mut browsers, &mut dice, planned).await {
            world.fault(Kind::Answer, format!("{}: {error:?}", planned.conv));
            return;
        }
    }
}

/// Somebody comes in, leaves, or is removed.
async fn step(
    world: &World,
    browsers: &mut Browsers,
    dice: &mut Dice,
    planned: &Planned,
) -> Result<(), ClientError> {
    let (conv, owner) = (&planned.conv, planned.members[0]);
    let inside = world.ledger.members(conv);
    let others: Vec<u64> = inside.iter().copied().filter(|uid| *uid != owner).collect();
    let outside: Vec<u64> = world.plan.people.iter().copied().filter(|uid| !inside.contains(uid)).collect();
    let members = format!("/v1/groups/{conv}/members");
    let goes = others.len() > 1 && dice.happens(0.5);
    if let Some(uid) = dice.one(&others).copied().filter(|_| goes) {
        let by = if dice.happens(0.5) { uid } else { owner };
        let path = format!("{members}/{uid}");
        if moved(world, browsers, (conv, uid, false), by, Method::DELETE, &path, None).await? {
            is_refused(world, browsers, conv, uid).await?;
        }
    } else if let Some(uid) = dice.one(&outside).copied() {
        let body = json!({"uids": [uid]});
        moved(world, browsers, (conv, uid, true), owner, Method::POST, &members, Some(&body)).await?;
    }
    Ok(())
}

/// Asks for one coming or going, with its entries in the book.
async fn moved(
    world: &World,
    browsers: &mut Browsers,
    (conv, uid, inside): (&str, u64, bool),
    by: u64,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Result<bool, ClientError> {
    world.ledger.moving(conv, uid);
    let answer = browsers.insist::<Value>(by, method, path, body).await?;
    match answer {
        Ok(_) => {
            world.tally.moves.add();
            world.ledger.moved(conv, uid, inside);
            Ok(true)
        }
        Err(problem) => {
            world.fault(Kind::Answer, format!("{path} was answered with {problem:?}"));
            Ok(false)
        }
    }
}

/// A removed member's next question is refused.
async fn is_refused(world: &World, browsers: &mut Browsers, conv: &str, uid: u64) -> Result<(), ClientError> {
    let path = format!("/v1/conversations/{conv}/messages?limit=1");
    match browsers.insist::<Page>(uid, Method::GET, &path, None).await? {
        Err(problem) if problem.code == "not_a_member" => world.tally.refusals.add(),
        answered => {
            world.fault(Kind::Forbidden, format!("{conv}: {uid} is out and was answered {answered:?}"))
        }
    }
    Ok(())
}

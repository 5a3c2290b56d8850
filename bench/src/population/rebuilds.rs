//! An operator who rebuilds read models while people talk, again and again, with rollbacks and drops between: nobody
//! else may notice, and what comes out must be what was there.

use std::{sync::Arc, time::Duration};

use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};

use super::{fault::Kind, world::World};
use crate::client::{ClientError, rest::Rest, token};

/// Between two looks at how it goes.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Nobody else has this uid.
const OPERATOR: u64 = 1 << 52;
/// What is rebuilt, each by an operator of its own.
const NAMES: [&str; 2] = ["conversation", "notification"];
/// What may be answered where somebody is at it, or the server is coming back.
const FOR_LATER: [&str; 3] = ["rebuild_running", "unavailable", "too_many_requests"];

#[derive(Debug, Deserialize)]
struct Projections {
    projections: Vec<Projection>,
}

#[derive(Debug, Deserialize)]
struct Projection {
    name: String,
    generations: Vec<Generation>,
}

#[derive(Debug, Deserialize)]
struct Generation {
    generation: u64,
    state: String,
    differing: u64,
    differences: Vec<String>,
}

/// Operates until nobody talks any more. What was begun then, the server ends.
pub async fn operate(world: Arc<World>, ending: watch::Receiver<bool>) {
    let token = match token::sign_as(&world.secret, OPERATOR, "operator", &["admin"]) {
        Ok(token) => token,
        Err(error) => return world.fault(Kind::Answer, format!("the operator has no token: {error}")),
    };
    let mut operators = NAMES.map(|name| {
        let (rest, world) = (Rest::new(&world.address, &token), Arc::clone(&world));
        Operator { rest, world, name, ended: 0, built: false, back: false }
    });
    while !*ending.borrow() {
        for operator in &mut operators {
            // No answer: the server was killed, and what it was at is seen at the next look.
            let _ = operator.look().await;
        }
        sleep(LOOK_EVERY).await;
    }
}

struct Operator {
    rest: Rest,
    world: Arc<World>,
    /// Of what.
    name: &'static str,
    /// Rebuilds whose end was seen.
    ended: u64,
    /// Was a rebuild begun whose end has not been seen?
    built: bool,
    /// Was this one rolled back already?
    back: bool,
}

impl Operator {
    async fn look(&mut self) -> Result<(), ClientError> {
        let asked = self.rest.ask(Method::GET, "/v1/admin/projections", None).await?;
        let all: Projections = match asked {
            Ok(all) => all,
            Err(problem) => {
                self.refused("how the read models stand", &problem.code);
                return Ok(());
            }
        };
        let Some(projection) = all.projections.iter().find(|projection| projection.name == self.name) else {
            self.world.fault(Kind::Answer, format!("there are no read models called {}", self.name));
            return Ok(());
        };
        match projection.generations.get(1).map(|other| &*other.state) {
            None | Some("interrupted") => {
                self.tell("rebuild").await?;
                (self.built, self.back) = (true, false);
            }
            Some("kept") => {
                if std::mem::take(&mut self.built) {
                    self.world.tally.rebuilds.add();
                    self.ended += 1;
                    projection.generations.iter().for_each(|generation| self.compare(generation));
                }
                // Every second one is rolled back before what it leaves is dropped.
                if self.ended % 2 == 1 && !self.back {
                    self.tell("rollback").await?;
                    self.back = true;
                } else {
                    self.tell("drop").await?;
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn compare(&self, generation: &Generation) {
        if generation.differing > 0 {
            let Generation { generation, differing, differences, .. } = generation;
            let what =
                format!("generation {generation} differed in {differing} conversations: {differences:?}");
            self.world.fault(Kind::Contradiction, what);
        }
    }

    async fn tell(&mut self, what: &str) -> Result<(), ClientError> {
        let path = format!("/v1/admin/projections/{}/{what}", self.name);
        if let Err(problem) = self.rest.ask::<Value>(Method::POST, &path, Some(&json!({}))).await? {
            self.refused(what, &problem.code);
        }
        Ok(())
    }

    fn refused(&self, what: &str, code: &str) {
        if !FOR_LATER.contains(&code) {
            self.world.fault(Kind::Answer, format!("the operator's {what} was answered with {code}"));
        }
    }
}

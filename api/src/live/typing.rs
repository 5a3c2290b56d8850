//! Who is typing: told to the others who are connected, on every node, and never stored.

use std::{sync::Arc, time::Duration};

use domain::{ConvId, Rejection, Uid};
use governor::clock::DefaultClock;
use projections::ReadModels;
use tokio_postgres::Config;

use super::{
    batch::READS_PUSHED_MEMBERS_MAX,
    bus::{self, Bus},
    hub::Hub,
    push::{What, passing},
};
use crate::{
    problem::{Code, Problem},
    rates::{Buckets, Rate},
};

/// What one person's typing may come to in all their conversations: more than somebody does who types.
const OF_A_PERSON: Rate = Rate::per_second(10, 50);

/// Passes on who is typing.
pub struct Typing {
    hub: Arc<Hub>,
    bus: Bus,
    /// Of one person in one conversation.
    pace: Option<Buckets<(Uid, ConvId)>>,
    people: Option<Buckets<Uid>>,
}

impl Typing {
    /// `every`: how often one person's typing in one conversation is passed on. None where this is switched off.
    pub fn start(database: &Config, node: u16, hub: &Arc<Hub>, every: Option<Duration>) -> Option<Self> {
        let pace = Buckets::new(Rate { every: every?, burst: 1 }, DefaultClock::default());
        let people = Buckets::new(OF_A_PERSON, DefaultClock::default());
        let here = Arc::clone(hub);
        let bus = Bus::start(database, node, Arc::new(move |typing| push(&here, &typing)));
        Some(Self { hub: Arc::clone(hub), bus, pace, people })
    }

    /// Somebody is typing. Who may not send here may not be seen typing either; what comes too often, or would reach
    /// more people than it is worth, is not passed on, and nobody has to know.
    pub async fn tell(&self, read_models: &ReadModels, conv: ConvId, uid: Uid) -> Result<(), Problem> {
        let to = match conv.peer_of(uid) {
            Some(peer) => Some(vec![peer]).filter(|_| peer != uid),
            None => listeners(read_models, &conv, uid).await?,
        };
        let Some(to) = to.filter(|to| !to.is_empty()) else { return Ok(()) };
        let too_often = |taken: Option<Option<u32>>| taken.flatten().is_some();
        if too_often(self.pace.as_ref().map(|pace| pace.take(&(uid, conv.clone()))))
            || too_often(self.people.as_ref().map(|people| people.take(&uid)))
        {
            return Ok(());
        }
        let typing = bus::Typing { conv, uid, to };
        push(&self.hub, &typing);
        self.bus.tell(typing);
        Ok(())
    }
}

/// The other members of a group that is not too large.
async fn listeners(read_models: &ReadModels, conv: &ConvId, uid: Uid) -> Result<Option<Vec<Uid>>, Problem> {
    let listeners = read_models.listeners(conv, uid, READS_PUSHED_MEMBERS_MAX).await?;
    if listeners.dissolved {
        Err(Rejection::GroupDissolved.into())
    } else if listeners.muted {
        Err(Rejection::Muted.into())
    } else {
        Ok(listeners.others)
    }
}

/// Where there is no such op.
pub fn switched_off() -> Problem {
    Problem::new(Code::SwitchedOff, "typing is switched off on this server")
}

fn push(hub: &Hub, bus::Typing { conv, uid, to }: &bus::Typing) {
    let text: Arc<str> = passing(&What::Typing { conv_id: conv.as_str(), uid: uid.get() }).into();
    hub.pass(to.iter().copied(), &text);
}

//! `quipu bench population`: people with several devices each, from one seed, and a book of what they were promised.
//!
//! First everybody talks while the server is killed; then it is quiet, every device comes back once more, and must show
//! exactly what the book says. A device that knows nothing comes, too, for each person.

mod comings;
mod deed;
mod device;
mod fact;
pub mod fault;
mod ledger;
mod order;
mod plan;
mod rebuilds;
mod reckoning;
mod replica;
mod tally;
mod text;
mod traffic;
mod verdict;
mod world;

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use futures_util::{StreamExt, stream};
use tokio::{
    signal,
    sync::watch,
    task::JoinSet,
    time::{Instant, interval_at, sleep_until, timeout},
};

pub use verdict::Verdict;

use crate::{
    Elsewhere,
    chance::Dice,
    client::{Address, ClientError},
    own_server::{OwnServer, OwnServerError},
};
use device::{Device, Unreachable};
use fault::{Faults, Kind};
use ledger::Ledger;
use plan::Plan;
use tally::Tally;
use traffic::{Handles, TakenBack};
use world::World;

/// Streams of bursts: one for so many people.
const PEOPLE_A_STREAM: usize = 4;
/// Once nobody talks any more, devices come to rest within this time, or something hangs.
const REST_TIME_MAX: Duration = Duration::from_secs(400);
/// Devices that are reckoned with at once.
const RECKONED_AT_ONCE: usize = 16;
/// How often the run says how it goes.
const SAY_EVERY: Duration = Duration::from_secs(5);
/// Kills fall into this part of the run, so that there is something before and after each.
const KILLS_WITHIN: (f64, f64) = (0.15, 0.9);
/// The number of the device that knows nothing.
const FRESH: usize = 99;

/// How many, how long, how fast.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// People
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(2..=5000))]
    pub people: u16,
    /// Devices of each
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=10))]
    pub devices: u8,
    /// How long they talk, in seconds
    #[arg(long, default_value_t = 180, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// How often the server is killed with -9
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub kills: u8,
    /// How many times faster than in life everything goes
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub speed: u16,
    /// Conversations [default: two for each person]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub conversations: Option<u32>,
    /// Of all messages, so many are taken back, from 0 to 1
    #[arg(long, default_value_t = 0.005, value_parser = share)]
    pub recalled: f64,
    /// Of all messages, so many are deleted by somebody for themselves, from 0 to 1
    #[arg(long, default_value_t = 0.003, value_parser = share)]
    pub deleted: f64,
    /// Rebuild the read models again and again while they talk, roll back, drop
    #[arg(long)]
    pub rebuild: bool,
    /// Draws what an earlier run drew [default: any]
    #[arg(long)]
    pub seed: Option<u64>,
    /// A server that runs already, like http://127.0.0.1:7300; it is not killed. Its secret: --jwt-secret or --data
    /// [default: one of the tool's own]
    #[arg(long)]
    pub url: Option<String>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share is a number from 0 to 1".into())
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum PopulationError {
    /// The server of the tool's own.
    #[error(transparent)]
    OwnServer(#[from] OwnServerError),
    /// Not http://host:port.
    #[error("read the URL {0}: it is not like http://127.0.0.1:7300")]
    Url(String),
    /// The groups could not be founded.
    #[error("found the groups")]
    Found(#[source] ClientError),
    /// The groups were not taken.
    #[error("found the groups: {code}: {detail}")]
    Refused {
        /// The problem's code.
        code: String,
        /// What exactly.
        detail: String,
    },
    /// This seed's people are there already.
    #[error("this seed was played on this server before: its people and groups are there already")]
    Again,
    /// Tokens cannot be signed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server did not come back.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// Standard output.
    #[error("say how it goes")]
    Say(#[from] io::Error),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A device that hangs or has panicked.
    #[error("wait for the devices: {0}")]
    Stuck(String),
}

/// Plays it to the end.
pub async fn run(
    arguments: &Arguments,
    elsewhere: Option<Elsewhere>,
    out: &mut (dyn Write + Send),
) -> Result<Verdict, PopulationError> {
    let seed = arguments.seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    writeln!(out, "seed {seed}")?;
    if let Some(Elsewhere { url, secret, .. }) = elsewhere {
        let address = Address::of_url(&url).ok_or(PopulationError::Url(url))?;
        let world = world(arguments, seed, address, secret);
        interrupted(play(arguments, &world, None, out)).await?;
        let verdict = Verdict::new(&world, 0, arguments.rebuild);
        writeln!(out, "{verdict}")?;
        return Ok(verdict);
    }
    let name = format!("quipu-bench-{:08x}", RandomState::new().build_hasher().finish() as u32);
    let mut server = OwnServer::start(&name).await?;
    let played = match server.secret() {
        Ok(secret) => {
            let world = world(arguments, seed, server.address.clone(), secret);
            let played = interrupted(play(arguments, &world, Some(&mut server), out)).await;
            let in_order = server.stop().await?;
            let panics = server.panics();
            played.map(|()| {
                if !in_order {
                    world.fault(Kind::Answer, "the server did not stop in order");
                }
                panics.into_iter().for_each(|line| world.fault(Kind::Answer, line));
                Verdict::new(&world, arguments.kills.into(), arguments.rebuild)
            })
        }
        Err(error) => Err(error.into()),
    };
    server.stop().await?;
    let mut verdict = played?;
    if verdict.passed() {
        server.remove()?;
    } else {
        verdict.left = Some(server.place().display().to_string());
    }
    writeln!(out, "{verdict}")?;
    Ok(verdict)
}

fn world(arguments: &Arguments, seed: u64, address: Address, secret: String) -> Arc<World> {
    let people = usize::from(arguments.people);
    let conversations = arguments.conversations.map_or(people * 2, |it| it as usize);
    let (plan, faults) = (Plan::new(seed, people, conversations), Arc::new(Faults::default()));
    Arc::new(World {
        seed,
        address,
        secret,
        speed: f64::from(arguments.speed),
        devices: arguments.devices.into(),
        ledger: Ledger::new(&plan, Arc::clone(&faults)),
        faults,
        tally: Tally::default(),
        plan,
    })
}

/// Ctrl-C ends a run, so that its server can be stopped in order.
async fn interrupted<T>(run: impl Future<Output = Result<T, PopulationError>>) -> Result<T, PopulationError> {
    tokio::select! {
        ended = run => ended,
        _ = signal::ctrl_c() => Err(PopulationError::Interrupted),
    }
}

async fn play(
    arguments: &Arguments,
    world: &Arc<World>,
    server: Option<&mut OwnServer>,
    out: &mut (dyn Write + Send),
) -> Result<(), PopulationError> {
    let began = Instant::now();
    comings::found(world).await?;
    writeln!(out, "{:>4} s  {} conversations", began.elapsed().as_secs(), world.plan.conversations.len())?;
    let (end, ending) = watch::channel(false);
    let (mut handles, mut living) = (Handles::new(), JoinSet::new());
    for uid in &world.plan.people {
        let mut own = Vec::new();
        for number in 0..world.devices {
            let (device, handle) = Device::new(world, *uid, number)?;
            living.spawn(device.live(ending.clone()));
            own.push(handle);
        }
        handles.insert(*uid, own);
    }
    let handles = Arc::new(handles);
    let mut talking = JoinSet::new();
    for stream in 0..world.plan.people.len().div_ceil(PEOPLE_A_STREAM) {
        let taken_back = TakenBack { recalled: arguments.recalled, deleted: arguments.deleted };
        let talk = traffic::talk(Arc::clone(world), Arc::clone(&handles), taken_back, stream, ending.clone());
        talking.spawn(talk);
    }
    if arguments.rebuild {
        talking.spawn(rebuilds::operate(Arc::clone(world), ending.clone()));
    }
    talking.spawn(comings::come_and_go(Arc::clone(world), ending));
    let time = Duration::from_secs(arguments.seconds.into());
    {
        let killing = kill_at_random(world, server, arguments.kills.into(), time);
        tokio::pin!(killing);
        let over = began + time.max(Duration::from_millis(1));
        talk_until(world, (over, arguments.rebuild), began, killing.as_mut(), out).await?;
    }
    end.send_replace(true);
    while let Some(talked) = talking.join_next().await {
        talked.map_err(|error| PopulationError::Stuck(error.to_string()))?;
    }
    say(world, began, "coming to rest", out)?;
    let mut devices = timeout(REST_TIME_MAX, rested(living))
        .await
        .map_err(|_| PopulationError::Stuck(format!("not at rest after {} s", REST_TIME_MAX.as_secs())))??;
    say(world, began, "reckoning", out)?;
    for uid in &world.plan.people {
        devices.push(Device::new(world, *uid, FRESH)?.0);
    }
    reckon(world, devices).await
}

/// Says how it goes until it is over, and until every kill has been made good and the read models were rebuilt once,
/// if they are to be.
async fn talk_until(
    world: &World,
    (over, rebuild): (Instant, bool),
    began: Instant,
    mut killing: std::pin::Pin<&mut impl Future<Output = Result<(), OwnServerError>>>,
    out: &mut (dyn Write + Send),
) -> Result<(), PopulationError> {
    let mut looks = interval_at(Instant::now() + SAY_EVERY, SAY_EVERY);
    let (mut time_is_up, mut killed) = (false, false);
    // Late on a busy machine; where it never comes, the verdict says so.
    let rebuilt = || !rebuild || world.tally.rebuilds.get() > 0 || over.elapsed() > REST_TIME_MAX;
    while !(time_is_up && killed && rebuilt()) {
        tokio::select! {
            () = sleep_until(over), if !time_is_up => time_is_up = true,
            done = &mut killing, if !killed => {
                done?;
                killed = true;
            }
            _ = looks.tick() => say(world, began, "talking", out)?,
        }
    }
    Ok(())
}

fn say(world: &World, began: Instant, what: &str, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let tally = &world.tally;
    writeln!(
        out,
        "{:>4} s  {what}: {} sends, {} pushes, {} connections, {} kills, {} faults",
        began.elapsed().as_secs(),
        tally.acked.get(),
        tally.pushes.get(),
        tally.connections.get(),
        tally.kills.get(),
        world.faults.count(),
    )?;
    out.flush()
}

/// One kill in each of as many parts of the time, so that none falls into the start after another.
async fn kill_at_random(
    world: &World,
    server: Option<&mut OwnServer>,
    kills: u64,
    time: Duration,
) -> Result<(), OwnServerError> {
    let Some(server) = server else { return Ok(()) };
    let (mut dice, began) = (Dice::new(world.seed, "kills"), Instant::now());
    let (first, last) = KILLS_WITHIN;
    for nth in 0..kills {
        let place = first + (last - first) * (nth as f64 + dice.part()) / kills as f64;
        sleep_until(began + time.mul_f64(place)).await;
        server.kill().await?;
        world.tally.kills.add();
        server.start_again().await?;
    }
    Ok(())
}

async fn rested(mut living: JoinSet<Result<Device, Unreachable>>) -> Result<Vec<Device>, PopulationError> {
    let mut devices = Vec::new();
    while let Some(lived) = living.join_next().await {
        devices.push(lived.map_err(|error| PopulationError::Stuck(error.to_string()))??);
    }
    Ok(devices)
}

/// All devices come back, and are compared with the server; then, when everything has been told, with the book.
async fn reckon(world: &Arc<World>, devices: Vec<Device>) -> Result<(), PopulationError> {
    let reckoned = stream::iter(devices).map(async |mut device| {
        device.reckon().await?;
        Ok::<_, Unreachable>((device.name, device.replica))
    });
    let reckoned: Vec<_> = reckoned.buffer_unordered(RECKONED_AT_ONCE).collect().await;
    let mut replicas = HashMap::new();
    for one in reckoned {
        let (name, replica) = one?;
        replicas.insert(name, replica);
    }
    reckoning::check_book(&world.ledger, &world.faults);
    for (name, replica) in &replicas {
        reckoning::check(&world.ledger, &world.faults, name, replica);
    }
    Ok(())
}

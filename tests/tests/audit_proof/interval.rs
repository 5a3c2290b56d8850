//! Checkpoints that serving nodes make by themselves.

use std::sync::Arc;
use std::time::Duration;

use event_store::EventStore;
use event_store::postgres::pool;
use event_store::postgres::proof::{LogReader, newest};
use event_store::surroundings::Surroundings;
use quipu::audit::checkpointer::{Checkpointer, Settings};
use quipu::clock::SystemClock;
use tests::log::{CountingEntropy, postgres_log};
use tests::process::until;

use crate::world::{World, key};

async fn number(world: &World) -> u64 {
    newest(&world.reader).await.unwrap().map_or(0, |it| it.unsigned.number)
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_make_one_row_of_checkpoints_and_none_where_nothing_happens() {
    let world = World::new().await;
    let mut checkpointers = vec![];
    for _ in 0..2 {
        let store: Arc<dyn EventStore> = Arc::new(postgres_log(&world.database.config).await);
        let reader = LogReader::new(pool(&world.database.config, 2).unwrap(), store.info().clone());
        let surroundings =
            Surroundings { clock: Arc::new(SystemClock), entropy: Arc::new(CountingEntropy::default()) };
        let settings = Settings { key: key(), every: Some(Duration::from_millis(5)) };
        checkpointers.extend(Checkpointer::start(&reader, &store, surroundings, settings));
    }
    assert_eq!(checkpointers.len(), 2);
    for n in 20..25 {
        let before = number(&world).await;
        world.say(1, 2, n).await;
        until("a checkpoint is made", async || number(&world).await > before).await;
    }
    for checkpointer in checkpointers {
        checkpointer.stop().await;
    }
    // Each of the seven or eight has seen something; whatever the two did at once is one.
    let made = number(&world).await;
    assert!((5..=12).contains(&(made - 2)), "{made} checkpoints for five messages");
    assert_eq!(world.verify().await, []);
    let every = Settings { key: key(), every: None };
    assert!(Checkpointer::start(&world.reader, &world.store, world.surroundings.clone(), every).is_none());
}

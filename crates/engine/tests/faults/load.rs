//! The clients: as many writers, workers, readers and followers of events as a small company has.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_engine::Engine;
use tokio::task::JoinSet;

use crate::follower::Follower;
use crate::ledger::Ledger;
use crate::luck::Luck;
use crate::reader::read;
use crate::worker::Worker;
use crate::writer::write;

const WRITERS: u64 = 8;
const WORKERS: u64 = 6;
const READERS: u64 = 2;
const FOLLOWERS: u64 = 2;

/// Clients at work.
pub(crate) struct Load {
    ledger: Arc<Ledger>,
    writing: JoinSet<()>,
    working: JoinSet<()>,
    following: JoinSet<Follower>,
}

impl Load {
    /// Starts the clients, who share the engines evenly.
    pub(crate) fn start(engines: &[Engine], ledger: &Arc<Ledger>, seed: u64) -> Self {
        let mut load = Self {
            ledger: Arc::clone(ledger),
            writing: JoinSet::new(),
            working: JoinSet::new(),
            following: JoinSet::new(),
        };
        let mut engines = engines.iter().cycle().cloned().zip(1..);
        let mut next = || engines.next().unwrap();
        for _ in 0..WRITERS {
            let (engine, who) = next();
            let client = write(engine, Arc::clone(ledger), Luck::of(seed, who));
            load.writing.spawn(client);
        }
        for _ in 0..READERS {
            let (engine, who) = next();
            let client = read(engine, Arc::clone(ledger), Luck::of(seed, who));
            load.writing.spawn(client);
        }
        for _ in 0..WORKERS {
            let (engine, number) = next();
            let ledger = Arc::clone(ledger);
            let worker = Worker { engine, ledger, number };
            load.working.spawn(worker.work(Luck::of(seed, number)));
        }
        for _ in 0..FOLLOWERS {
            let (engine, _) = next();
            load.following.spawn(Follower::new(engine, ledger).follow());
        }
        load
    }

    /// Nothing more is submitted; what was, is answered.
    pub(crate) async fn stop_writing(&mut self) {
        self.ledger.writers_stop.store(true, Ordering::Relaxed);
        end(&mut self.writing).await;
    }

    /// Workers finish what they have; whoever follows the events comes back with what it was told.
    pub(crate) async fn stop_working(&mut self) -> Vec<Follower> {
        self.ledger.workers_stop.store(true, Ordering::Relaxed);
        end(&mut self.working).await;
        end(&mut self.following).await
    }
}

async fn end<T: 'static>(clients: &mut JoinSet<T>) -> Vec<T> {
    let mut ended = Vec::new();
    while let Some(client) = clients.join_next().await {
        ended.push(client.unwrap());
    }
    ended
}

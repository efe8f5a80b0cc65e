//! The clients: as many writers, workers and readers as a small company has.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_engine::Engine;
use tokio::task::JoinSet;

use crate::ledger::Ledger;
use crate::luck::Luck;
use crate::reader::read;
use crate::worker::Worker;
use crate::writer::write;

const WRITERS: u64 = 8;
const WORKERS: u64 = 6;
const READERS: u64 = 2;

/// Clients at work.
pub(crate) struct Load {
    ledger: Arc<Ledger>,
    writing: JoinSet<()>,
    working: JoinSet<()>,
}

impl Load {
    /// Starts the clients, who share the engines evenly.
    pub(crate) fn start(engines: &[Engine], ledger: &Arc<Ledger>, seed: u64) -> Self {
        let mut load = Self {
            ledger: Arc::clone(ledger),
            writing: JoinSet::new(),
            working: JoinSet::new(),
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
        load
    }

    /// Nothing more is submitted; what was, is answered.
    pub(crate) async fn stop_writing(&mut self) {
        self.ledger.writers_stop.store(true, Ordering::Relaxed);
        end(&mut self.writing).await;
    }

    /// Workers finish what they have.
    pub(crate) async fn stop_working(&mut self) {
        self.ledger.workers_stop.store(true, Ordering::Relaxed);
        end(&mut self.working).await;
    }
}

async fn end(clients: &mut JoinSet<()>) {
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
}

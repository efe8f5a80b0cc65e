//! The clients: as many as a small company has.

use std::sync::Arc;

use ff_sdk::Remote;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ledger::Ledger;
use super::signaller::send_signals;
use super::submitter::submit;
use super::worker::Worker;
use crate::luck::Luck;

const SUBMITTERS: u64 = 4;
const WORKERS: u64 = 4;

/// Clients at work.
pub(crate) struct Load {
    ledger: Arc<Ledger>,
    submitting: JoinSet<()>,
    working: JoinSet<()>,
}

impl Load {
    /// Starts the clients, each with connections of its own.
    pub(crate) fn start(mut client: impl FnMut() -> Remote, ledger: &Arc<Ledger>, seed: u64) -> Self {
        let (suspended, waiting) = mpsc::unbounded_channel();
        let (mut submitting, mut working) = (JoinSet::new(), JoinSet::new());
        for who in 1..=SUBMITTERS {
            submitting.spawn(submit(client(), Arc::clone(ledger), Luck::of(seed, who)));
        }
        for who in SUBMITTERS + 1..=SUBMITTERS + WORKERS {
            let worker = Worker::new(client(), Arc::clone(ledger), who, suspended.clone());
            working.spawn(worker.work(Luck::of(seed, who)));
        }
        // It ends when the last worker has.
        let luck = Luck::of(seed, SUBMITTERS + WORKERS + 1);
        working.spawn(send_signals(client(), Arc::clone(ledger), waiting, luck));
        Self {
            ledger: Arc::clone(ledger),
            submitting,
            working,
        }
    }

    /// Nothing more is submitted; what was, is answered.
    pub(crate) async fn stop_submitting(&mut self) {
        self.ledger.stop_submitting();
        end(&mut self.submitting).await;
    }

    /// Workers finish what they have.
    pub(crate) async fn stop_working(&mut self) {
        self.ledger.stop_working();
        end(&mut self.working).await;
    }
}

async fn end(clients: &mut JoinSet<()>) {
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
}

//! Workers in the background of a test, and the tasks that they run.

use std::sync::Arc;

use ff_sdk::{Task, Worker, WorkerError};
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "hello", output = String)]
pub(crate) struct Hello {
    pub(crate) name: String,
}

impl Hello {
    pub(crate) fn ana() -> Self {
        Self { name: "Ana".to_owned() }
    }
}

/// A worker that runs until it is told to end.
pub(crate) struct Working {
    end: oneshot::Sender<()>,
    worked: JoinHandle<Result<(), WorkerError>>,
}

impl Working {
    pub(crate) fn new(worker: &Worker) -> Self {
        let (end, ended) = oneshot::channel();
        let worker = worker.clone();
        let until = async {
            let _ = ended.await;
        };
        Self {
            end,
            worked: tokio::spawn(async move { worker.run_until(until).await }),
        }
    }

    /// Tells it to end, and waits until it has.
    pub(crate) async fn end(self) -> Result<(), WorkerError> {
        let _ = self.end.send(());
        self.worked.await.unwrap()
    }

    /// Drops it where it stands.
    pub(crate) async fn abort(self) {
        self.worked.abort();
        let _ = self.worked.await;
    }

    /// How it ends by itself.
    pub(crate) async fn ended(self) -> Result<(), WorkerError> {
        let ended = self.worked.await.unwrap();
        drop(self.end);
        ended
    }
}

/// A handler tells that it has begun, and goes on when it is let.
#[derive(Clone, Default)]
pub(crate) struct Door {
    begun: Arc<Notify>,
    open: Arc<Notify>,
}

impl Door {
    /// The handler's side.
    pub(crate) async fn pass(&self) {
        self.begun.notify_one();
        self.open.notified().await;
    }

    /// Waits until a handler stands before it.
    pub(crate) async fn reached(&self) {
        self.begun.notified().await;
    }

    /// Lets one handler pass.
    pub(crate) fn open(&self) {
        self.open.notify_one();
    }
}

/// Looks until something holds that other threads bring about.
pub(crate) async fn until<F: Future<Output = bool>>(holds: impl Fn() -> F) {
    let looking = async {
        while !holds().await {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    };
    let patience = std::time::Duration::from_secs(30);
    tokio::time::timeout(patience, looking).await.expect("it comes to hold");
}

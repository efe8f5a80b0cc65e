//! A worker of the SDK beside what is measured.

use ff_sdk::{Worker, WorkerError};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A worker that runs until it is told to end.
pub(super) struct Working {
    end: oneshot::Sender<()>,
    worked: JoinHandle<Result<(), WorkerError>>,
}

impl Working {
    pub(super) fn start(worker: Worker) -> Self {
        let (end, ended) = oneshot::channel();
        let until = async {
            let _ = ended.await;
        };
        Self {
            end,
            worked: tokio::spawn(async move { worker.run_until(until).await }),
        }
    }

    /// Tells it to end, and waits until it has.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let _ = self.end.send(());
        Ok(self.worked.await??)
    }
}

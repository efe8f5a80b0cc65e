//! Callers that come at the same time share a call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::host::Host;

/// Calls under way at the same time: one that the store works on, and others that are on their way there or back.
const RUNNING_MAX: usize = 3;

/// Collects questions while earlier ones are being answered, and asks them together.
pub(crate) struct Batcher<Q, A> {
    ask: Box<dyn Fn(Vec<Q>) -> BoxFuture<'static, Vec<A>> + Send + Sync>,
    size_max: usize,
    line: Mutex<Line<Q, A>>,
}

struct Line<Q, A> {
    waiting: VecDeque<(Q, oneshot::Sender<A>)>,
    running: usize,
}

impl<Q: Send + 'static, A: Send + 'static> Batcher<Q, A> {
    pub(crate) fn new(
        size_max: usize,
        ask: impl Fn(Vec<Q>) -> BoxFuture<'static, Vec<A>> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            ask: Box::new(ask),
            size_max,
            line: Mutex::new(Line {
                waiting: VecDeque::new(),
                running: 0,
            }),
        })
    }

    /// Asks; `None` when whoever was to ask is gone, and nobody knows whether it did.
    ///
    /// The call is made by a task of its own: a caller that goes away does not take the others with it.
    pub(crate) async fn call(self: &Arc<Self>, host: &dyn Host, question: Q) -> Option<A> {
        let (sender, receiver) = oneshot::channel();
        let starts = {
            let mut line = self.line();
            line.waiting.push_back((question, sender));
            let starts = line.running < RUNNING_MAX;
            line.running += usize::from(starts);
            starts
        };
        if starts {
            host.spawn(Box::pin(Arc::clone(self).run()));
        }
        receiver.await.ok()
    }

    async fn run(self: Arc<Self>) {
        loop {
            // Whoever is about to ask as well gets a turn first: that costs nothing when nobody is.
            tokio::task::yield_now().await;
            let Some(batch) = self.next_batch() else { return };
            let (questions, senders): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            for (sender, answer) in senders.into_iter().zip((self.ask)(questions).await) {
                // A caller that went away does not want its answer.
                let _ = sender.send(answer);
            }
        }
    }

    /// What waits, or `None` after which this runner is counted out.
    fn next_batch(&self) -> Option<Vec<(Q, oneshot::Sender<A>)>> {
        let mut line = self.line();
        if line.waiting.is_empty() {
            line.running -= 1;
            return None;
        }
        let size = line.waiting.len().min(self.size_max);
        Some(line.waiting.drain(..size).collect())
    }

    fn line(&self) -> std::sync::MutexGuard<'_, Line<Q, A>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Wake-ups that do not come.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::hint::{Hint, HintStream};
use ff_backend::layer::Layer;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::id::ExecutionId;
use tokio::sync::broadcast;

use crate::liar::lies;

lies! {
    Ended;
    /// Nobody is told anything.
    HintsNeverSent,
    /// Nobody is told that a budget or quota has a new generation.
    CauseNotHinted,
    /// Nobody is told that a stream ended.
    StreamEndNotHinted,
}

/// The streams that have ended.
type Ended = Arc<Mutex<BTreeSet<(ExecutionId, u32)>>>;

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let ends = batch.iter().flat_map(|transaction| &transaction.stream_ends);
        let ended = ends.map(|end| (end.execution_id, end.attempt_index));
        self.seen.lock().expect("no panic").extend(ended);
        self.inner().commit(batch).await
    }

    fn hints(&self) -> HintStream {
        let (lie, ended, mut heard) = (self.lie, Arc::clone(&self.seen), self.inner().hints());
        let (told, listener) = broadcast::channel(1_024);
        tokio::spawn(async move {
            while let Some(hint) = heard.next().await {
                if !lie.hides(&hint, &ended) && told.send(hint).is_err() {
                    return;
                }
            }
        });
        HintStream::new(listener)
    }
}

impl Lie {
    fn hides(self, hint: &Hint, ended: &Ended) -> bool {
        match (self, hint) {
            (Lie::HintsNeverSent, _) | (Lie::CauseNotHinted, Hint::Cause(_)) => true,
            (
                Lie::StreamEndNotHinted,
                Hint::Stream {
                    execution_id,
                    attempt_index,
                },
            ) => {
                let stream = (*execution_id, *attempt_index);
                ended.lock().expect("no panic").contains(&stream)
            }
            _ => false,
        }
    }
}

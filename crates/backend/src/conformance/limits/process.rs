//! Somebody who asks, and when what was asked was decided.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ff_core::ledger::{LedgerCall, ReadMeters};
use ff_core::time::Timestamp;

use crate::layer::Layer;
use crate::ledger::LedgerReply;
use crate::limits::Direct;
use crate::{Backend, Result};

/// Somebody who has never asked before.
pub(super) struct Process {
    pub(super) direct: Direct,
    timed: Arc<Timed>,
}

/// When an operation was decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    /// The time of the last call that did not only write what was decided before.
    pub(super) last: Timestamp,
    /// The times at which whole accounts were read.
    pub(super) readings: Vec<Timestamp>,
}

impl Process {
    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        let timed = Arc::new(Timed {
            backend,
            moments: Mutex::default(),
        });
        Self {
            direct: Direct::new(Arc::clone(&timed) as Arc<dyn Backend>),
            timed,
        }
    }

    /// The moments since this was asked last.
    pub(super) fn moments(&self) -> Moments {
        std::mem::take(&mut self.timed.moments())
    }
}

/// A store whose times are noted.
struct Timed {
    backend: Arc<dyn Backend>,
    moments: Mutex<Moments>,
}

impl Timed {
    fn moments(&self) -> MutexGuard<'_, Moments> {
        self.moments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Timed {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let replies = self.backend.ledger(calls.clone()).await;
        let mut moments = self.moments();
        for (call, reply) in calls.iter().zip(&replies) {
            let Ok(LedgerReply { now, .. }) = reply else { continue };
            match call {
                LedgerCall::Amend(_) => continue,
                LedgerCall::Read(read) if read.meters == ReadMeters::All => moments.readings.push(*now),
                _ => {}
            }
            moments.last = *now;
        }
        drop(moments);
        replies
    }
}

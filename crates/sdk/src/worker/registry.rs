//! The handlers of a worker by kind.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_core::id::ExecutionId;
use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::handler::{Ending, Given, Handler, Needs, RawHandler, TaskLimits};

/// How long what exceeds a limit is put off the first time; each time twice as long as before.
const PUT_OFF_FIRST: Duration = Duration::from_secs(1);
/// The longest time it is put off.
const PUT_OFF_LONGEST: Duration = Duration::from_secs(15);
/// Executions whose last pause is remembered; beyond it they begin again.
const REMEMBERED_MAX: usize = 10_000;

/// A handler whose type is forgotten.
pub(crate) trait Run: Send + Sync {
    fn run(&self, given: Given) -> BoxFuture<'static, Ending>;
}

struct Typed<H, Args>(H, PhantomData<fn(Args)>);

impl<H: Handler<Args>, Args: 'static> Run for Typed<H, Args> {
    fn run(&self, given: Given) -> BoxFuture<'static, Ending> {
        self.0.clone().call(given)
    }
}

struct OfBytes<H, Args>(H, PhantomData<fn(Args)>);

impl<H: RawHandler<Args>, Args: 'static> Run for OfBytes<H, Args> {
    fn run(&self, given: Given) -> BoxFuture<'static, Ending> {
        self.0.clone().call(given)
    }
}

/// A handler as its worker knows it.
pub(crate) struct Registered {
    pub(crate) run: Arc<dyn Run>,
    pub(crate) needs: Needs,
    pub(crate) limit: Option<Limit>,
}

impl Registered {
    pub(super) fn typed<H: Handler<Args>, Args: 'static>(handler: H) -> Self {
        Self {
            needs: H::needs(),
            limit: handler.limits().map(Limit::new),
            run: Arc::new(Typed(handler, PhantomData)),
        }
    }

    pub(super) fn of_bytes<H: RawHandler<Args>, Args: 'static>(handler: H) -> Self {
        Self {
            needs: H::needs(),
            limit: None,
            run: Arc::new(OfBytes(handler, PhantomData)),
        }
    }

    /// Whether its limit lets nothing through.
    pub(super) fn runs_nothing(&self) -> bool {
        self.limit
            .as_ref()
            .is_some_and(|limit| limit.permits.available_permits() == 0)
    }
}

/// How many tasks of a kind run at once, and how often others were put off.
pub(crate) struct Limit {
    permits: Arc<Semaphore>,
    put_off: Mutex<HashMap<ExecutionId, Duration>>,
}

impl Limit {
    fn new(limits: TaskLimits) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(limits.concurrency)),
            put_off: Mutex::default(),
        }
    }

    /// Leave to run one of them, or for how long it is put off.
    pub(crate) fn admit(&self, id: ExecutionId) -> Result<OwnedSemaphorePermit, Duration> {
        let mut put_off = self.put_off.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            put_off.remove(&id);
            return Ok(permit);
        }
        if put_off.len() >= REMEMBERED_MAX {
            put_off.clear();
        }
        let pause = put_off.entry(id).or_insert(PUT_OFF_FIRST);
        let now = *pause;
        *pause = (now * 2).min(PUT_OFF_LONGEST);
        Err(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_a_limit_is_put_off_longer_each_time_until_it_runs() {
        let limit = Limit::new(TaskLimits { concurrency: 1 });
        let id = |text: &str| text.parse::<ExecutionId>().unwrap();
        let first = id("fp:1:01999999-0000-7000-8000-000000000001");
        let second = id("fp:1:01999999-0000-7000-8000-000000000002");
        let running = limit.admit(first).unwrap();
        let pauses: Vec<_> = (0..6).map(|_| limit.admit(second).unwrap_err().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 15, 15]);
        drop(running);
        let running = limit.admit(second).unwrap();
        assert_eq!(limit.admit(first).unwrap_err().as_secs(), 1);
        drop(running);
    }
}

//! The store's time, as far as a worker knows it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ff_core::time::Timestamp;

use crate::duration::millis;

/// The store's time: what it said last, and what has passed here since.
#[derive(Clone, Default)]
pub(crate) struct StoreClock {
    last: Arc<Mutex<Option<(Timestamp, Instant)>>>,
    /// Somebody moves the store's time, and says what it is.
    given: Option<Arc<dyn Fn() -> Timestamp + Send + Sync>>,
    /// Somebody moves the store's time, and only its replies say what it is.
    stands: Arc<AtomicBool>,
}

impl StoreClock {
    /// The clock of a store whose time somebody moves.
    #[cfg(feature = "test")]
    pub(crate) fn given(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            given: Some(Arc::new(now)),
            ..Self::default()
        }
    }

    /// From now on no time passes for the store but what its replies say.
    #[cfg(feature = "client")]
    pub(crate) fn stand_still(&self) {
        self.stands.store(true, Ordering::Relaxed);
    }

    /// Whether time here says nothing about the store's.
    pub(crate) fn is_moved(&self) -> bool {
        self.given.is_some() || self.stands.load(Ordering::Relaxed)
    }

    fn at(&self, (said, heard): (Timestamp, Instant)) -> Timestamp {
        match self.is_moved() {
            true => said,
            false => said + floor(heard.elapsed()),
        }
    }

    /// Takes over what the store just said.
    pub(crate) fn heard(&self, now: Timestamp) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A reply that was long on its way says less than an earlier one and the time since.
        if last.is_none_or(|last| self.at(last) < now) {
            *last = Some((now, Instant::now()));
        }
    }

    /// The store's time; zero before it was heard of.
    pub(crate) fn now(&self) -> Timestamp {
        if let Some(given) = &self.given {
            return given();
        }
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map(|last| self.at(last)).unwrap_or_default()
    }
}

/// Whole milliseconds that have passed.
fn floor(elapsed: Duration) -> ff_core::time::Duration {
    millis(elapsed).saturating_sub(ff_core::time::Duration::from_millis(1))
}

/// How long from now until a moment of the store.
pub(crate) fn left(expires_at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(expires_at.since(now).as_millis())
}

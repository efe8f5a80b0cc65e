//! The store's time, as far as a worker knows it.

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

    /// Whether time here says nothing about the store's.
    pub(crate) const fn is_given(&self) -> bool {
        self.given.is_some()
    }

    /// Takes over what the store just said.
    pub(crate) fn heard(&self, now: Timestamp) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A reply that was long on its way says less than an earlier one and the time since.
        if last.is_none_or(|last| at(last) < now) {
            *last = Some((now, Instant::now()));
        }
    }

    /// The store's time; zero before it was heard of.
    pub(crate) fn now(&self) -> Timestamp {
        if let Some(given) = &self.given {
            return given();
        }
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map(at).unwrap_or_default()
    }
}

fn at((said, heard): (Timestamp, Instant)) -> Timestamp {
    said + floor(heard.elapsed())
}

/// Whole milliseconds that have passed.
fn floor(elapsed: Duration) -> ff_core::time::Duration {
    millis(elapsed).saturating_sub(ff_core::time::Duration::from_millis(1))
}

/// How long from now until a moment of the store.
pub(crate) fn left(expires_at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(expires_at.since(now).as_millis())
}

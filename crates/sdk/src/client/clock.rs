//! What time it is for the store: delays are moments on its clock, not on ours.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ff_core::time::Timestamp;

use super::Client;
use crate::duration::millis;
use crate::error::Result;

/// How the store's time is known.
#[derive(Clone, Default)]
pub(super) enum Clock {
    /// From the server, or else it is that of this machine.
    #[default]
    Usual,
    /// Somebody moves it.
    Given(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Client {
    /// The same client over a store whose time `clock` tells: for engines whose time is moved by a test.
    #[must_use]
    pub fn clock(&self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.with(|shared| shared.clock = Clock::Given(Arc::new(clock)))
    }

    /// The moment so long after the store's now.
    pub(crate) async fn moment_after(&self, delay: Duration) -> Result<Timestamp> {
        Ok(self.now().await? + millis(delay))
    }

    async fn now(&self) -> Result<Timestamp> {
        if let Clock::Given(clock) = &self.shared.clock {
            return Ok(clock());
        }
        #[cfg(feature = "client")]
        if let Some(server) = &self.shared.remote {
            return server.now().await;
        }
        Ok(timestamp(SystemTime::now()))
    }
}

/// A moment of this machine's clock in Unix milliseconds.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(millis(since).as_millis())
}

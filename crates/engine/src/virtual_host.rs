//! A host whose time passes only when it is told to: for tests, and for trying out what happens in three days.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use crate::host::Host;

/// Virtual time on a tokio runtime, with luck from a seed.
#[derive(Debug)]
pub struct VirtualHost {
    inner: Mutex<Inner>,
    /// Whether whoever sleeps waits for this time only, and not for real time.
    is_patient: bool,
}

#[derive(Debug)]
struct Inner {
    elapsed: Duration,
    /// Who sleeps until when, in the order they fell asleep.
    sleepers: BTreeMap<(Duration, u64), oneshot::Sender<()>>,
    slept: u64,
    luck: u64,
}

impl VirtualHost {
    /// Time stands at zero.
    pub fn new(seed: u64) -> Self {
        Self {
            inner: Mutex::new(Inner {
                elapsed: Duration::ZERO,
                sleepers: BTreeMap::new(),
                slept: 0,
                luck: seed,
            }),
            is_patient: true,
        }
    }

    /// The same for a server: whoever waits for something gives up by the clock on the wall, as its callers do.
    pub fn with_impatient_callers(seed: u64) -> Self {
        Self {
            is_patient: false,
            ..Self::new(seed)
        }
    }

    /// Lets time pass and wakes whoever has slept enough.
    pub fn advance(&self, by: Duration) {
        let mut inner = self.inner();
        inner.elapsed += by;
        let still_asleep = (inner.elapsed + Duration::from_nanos(1), 0);
        let later = inner.sleepers.split_off(&still_asleep);
        for sleeper in std::mem::replace(&mut inner.sleepers, later).into_values() {
            // Somebody who no longer waits does not mind.
            let _ = sleeper.send(());
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for VirtualHost {
    fn elapsed(&self) -> Duration {
        self.inner().elapsed
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut inner = self.inner();
        // Pauses between tries are not worth waiting for somebody to let time pass.
        if duration < Duration::from_millis(100) {
            return Box::pin(tokio::task::yield_now());
        }
        let (sender, receiver) = oneshot::channel();
        inner.slept += 1;
        let place = (inner.elapsed + duration, inner.slept);
        inner.sleepers.retain(|_, sleeper| !sleeper.is_closed());
        inner.sleepers.insert(place, sender);
        // The host is gone: there is no time to wait for.
        let woken = async move { _ = receiver.await };
        match self.is_patient {
            true => Box::pin(woken),
            false => Box::pin(async move { _ = tokio::time::timeout(duration, woken).await }),
        }
    }

    fn random(&self) -> u128 {
        let mut inner = self.inner();
        (u128::from(inner.next_luck()) << 64) | u128::from(inner.next_luck())
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        tokio::spawn(task);
    }
}

impl Inner {
    /// SplitMix64: every seed gives another sequence, and the same seed the same.
    fn next_luck(&mut self) -> u64 {
        self.luck = self.luck.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.luck;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

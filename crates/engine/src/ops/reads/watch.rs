//! Waiting for something to happen, without holding on to the store.
//!
//! ```text
//! let mut watch = engine.watch(wait)?;
//! loop {
//!     let wake = waiter.next_wake();
//!     let found = look().await?;
//!     if is_enough(&found) || !watch.wait(wake).await? {
//!         return Ok(found);
//!     }
//! }
//! ```

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::name::Identity;
use ff_core::record::Actor;
use ff_core::time::Duration as Millis;
use futures::future::{Either, select};

use crate::engine::Engine;
use crate::fault::shutting_down;

/// Reads that wait at the same time in one process. A server has limits of its own, below these.
const WAITING_MAX: usize = 50_000;
/// Reads of one key that wait at the same time: as many streams and long polls as a server lets it have.
const WAITING_PER_KEY_MAX: usize = 12_000;
/// The pause between the first vague wake-up and the look that follows it; it doubles with each one.
const PAUSE_FIRST: Duration = Duration::from_millis(5);
/// The longest one.
const PAUSE_MAX: Duration = Duration::from_millis(80);

/// How many reads wait.
#[derive(Default)]
pub(crate) struct WaitingReads {
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    all: usize,
    by_key: BTreeMap<Identity, usize>,
}

/// The permission to wait; given back when dropped.
struct WaitPermit<'p> {
    waiting: &'p WaitingReads,
    key: Option<Identity>,
}

impl WaitingReads {
    /// A permit for one more, if there is one left. Who has no key counts only among all.
    fn take(&self, actor: &Actor) -> Option<WaitPermit<'_>> {
        let key = match actor {
            Actor::Client(identity) => Some(identity.clone()),
            Actor::Worker(_) | Actor::Engine | Actor::Anonymous => None,
        };
        let mut counts = self.counts();
        let of_key = key.as_ref().and_then(|key| counts.by_key.get(key)).copied();
        if counts.all >= WAITING_MAX || of_key.unwrap_or(0) >= WAITING_PER_KEY_MAX {
            return None;
        }
        counts.all += 1;
        if let Some(key) = &key {
            *counts.by_key.entry(key.clone()).or_default() += 1;
        }
        drop(counts);
        Some(WaitPermit { waiting: self, key })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitPermit<'_> {
    fn drop(&mut self) {
        let mut counts = self.waiting.counts();
        counts.all -= 1;
        let Some(key) = &self.key else { return };
        if let Some(of_key) = counts.by_key.get_mut(key) {
            *of_key -= 1;
            if *of_key == 0 {
                counts.by_key.remove(key);
            }
        }
    }
}

/// One read that looks again and again until its time is over.
pub(crate) struct Watch<'e> {
    engine: &'e Engine,
    until: Duration,
    permit: Option<WaitPermit<'e>>,
    was_woken: bool,
    pause: Duration,
    over: bool,
}

impl Engine {
    /// Begins to wait, for at most `wait`.
    pub(crate) fn watch(&self, wait: Millis) -> Result<Watch<'_>> {
        let wait_max = self.wait_max;
        if wait > wait_max {
            return Err(Code::InvalidInput.because(format!("a read waits at most {wait_max}, not {wait}")));
        }
        Ok(Watch {
            engine: self,
            until: self.host().elapsed() + Duration::from_millis(wait.as_millis()),
            permit: None,
            was_woken: false,
            pause: PAUSE_FIRST,
            over: false,
        })
    }
}

impl Watch<'_> {
    /// Waits for `wake`, which was made before the last look. `false`: the time is over, and the last look stands.
    ///
    /// A wake-up may get lost. The liveness sweep makes up for it, and there is another look when the time is over. A process
    /// that stops wakes everybody, and for whoever waited the time is over. Who only begins to wait is sent elsewhere: whoever
    /// asks again and again must not be told again and again, at once, that there is nothing.
    pub(crate) async fn wait(&mut self, wake: impl Future<Output = ()> + Send) -> Result<bool> {
        // The first one is believed.
        match std::mem::replace(&mut self.was_woken, true) {
            false => self.wait_for(wake, std::future::pending()).await,
            true => self.wait_for(std::future::pending(), wake).await,
        }
    }

    /// The same with two wake-ups: `exact` is about what is waited for; `vague` may be about what concerns somebody else, and some
    /// of those may come together before there is another look.
    pub(crate) async fn wait_for(
        &mut self,
        exact: impl Future<Output = ()> + Send,
        vague: impl Future<Output = ()> + Send,
    ) -> Result<bool> {
        let host = self.engine.host();
        let left = self.until.saturating_sub(host.elapsed());
        if self.over || left.is_zero() {
            return Ok(false);
        }
        if self.engine.is_stopping() {
            return self.permit.as_ref().map(|_| false).ok_or_else(shutting_down);
        }
        self.take_permit()?;
        let pause = self.pause;
        let vague = async {
            vague.await;
            host.sleep(pause).await;
        };
        match select(select(pin!(exact), pin!(vague)), host.sleep(left)).await {
            Either::Left((Either::Left(_), _)) => {}
            Either::Left((Either::Right(_), _)) => self.pause = PAUSE_MAX.min(pause * 2),
            Either::Right(_) => self.over = true,
        }
        Ok(true)
    }

    fn take_permit(&mut self) -> Result<()> {
        if self.permit.is_none() {
            let permit = self.engine.shared.waiting_reads.take(&self.engine.caller.actor);
            let full = || Code::TooManyStreams.because("too many reads wait already; try again later");
            self.permit = Some(permit.ok_or_else(full)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ff_backend::memory::MemoryBackend;
    use ff_core::limits::WAIT_MAX;
    use ff_core::partition::{Partition, PartitionCounts};
    use ff_core::time::Timestamp;
    use futures::poll;

    use super::*;
    use crate::ops::reads::feed_grew;
    use crate::{Config, VirtualHost};

    fn engine(host: &Arc<VirtualHost>) -> Engine {
        let counts = PartitionCounts::new(2, 1, 1).unwrap();
        let backend = MemoryBackend::new(Timestamp::from_millis(1_000_000), counts);
        Engine::new(Arc::new(backend), Arc::clone(host) as _, Config::new(counts))
    }

    #[tokio::test]
    async fn a_wake_up_between_the_look_and_the_wait_is_heard() {
        let engine = engine(&Arc::new(VirtualHost::new(1)));
        let waiter = engine.shared.feeds.join(Partition::flow(0));
        let mut watch = engine.watch(WAIT_MAX).unwrap();
        let wake = waiter.next_wake();
        feed_grew(&engine, Partition::flow(0));
        assert!(watch.wait(wake).await.unwrap());
        assert_eq!(engine.shared.waiting_reads.counts().all, 1);
        drop(watch);
        assert_eq!(engine.shared.waiting_reads.counts().all, 0);
    }

    #[tokio::test]
    async fn wake_ups_that_never_stop_do_not_keep_a_read_beyond_its_time() {
        let host = Arc::new(VirtualHost::new(1));
        let engine = engine(&host);
        let mut watch = engine.watch(Millis::from_secs(1)).unwrap();
        for _ in 0..100 {
            assert!(watch.wait(std::future::ready(())).await.unwrap());
        }
        host.advance(Duration::from_secs(1));
        assert!(!watch.wait(std::future::ready(())).await.unwrap());
    }

    #[tokio::test]
    async fn only_what_may_concern_somebody_else_makes_a_read_more_patient() {
        let engine = engine(&Arc::new(VirtualHost::new(1)));
        let mut watch = engine.watch(WAIT_MAX).unwrap();
        let (now, never) = (std::future::ready(()), std::future::pending());
        assert!(watch.wait_for(now.clone(), now.clone()).await.unwrap());
        assert_eq!(watch.pause, PAUSE_FIRST);
        assert!(watch.wait_for(never, now).await.unwrap());
        assert_eq!(watch.pause, PAUSE_FIRST * 2);
    }

    #[tokio::test]
    async fn there_is_a_last_look_when_the_time_is_over() {
        let host = Arc::new(VirtualHost::new(1));
        let engine = engine(&host);
        let mut watch = engine.watch(Millis::from_secs(15)).unwrap();
        let mut waiting = Box::pin(watch.wait(std::future::pending()));
        host.advance(Duration::from_secs(14));
        assert!(poll!(&mut waiting).is_pending());
        host.advance(Duration::from_secs(1));
        assert!(waiting.await.unwrap());
        assert!(!watch.wait(std::future::pending()).await.unwrap());
    }

    fn client(name: &str) -> Actor {
        Actor::Client(Identity::parse(name).unwrap())
    }

    #[test]
    fn a_key_may_keep_only_so_many_reads_waiting_and_gets_their_permits_back() {
        let waiting = WaitingReads::default();
        let permits: Vec<_> = (0..WAITING_PER_KEY_MAX)
            .map_while(|_| waiting.take(&client("a")))
            .collect();
        assert_eq!(permits.len(), WAITING_PER_KEY_MAX);
        assert!(waiting.take(&client("a")).is_none());
        assert!(waiting.take(&client("b")).is_some());
        drop(permits);
        assert!(waiting.take(&client("a")).is_some());
        assert!(waiting.counts().by_key.is_empty());
    }

    #[test]
    fn a_process_keeps_only_so_many_reads_waiting() {
        let waiting = WaitingReads::default();
        let permits: Vec<_> = (0..=WAITING_MAX)
            .map_while(|_| waiting.take(&Actor::Anonymous))
            .collect();
        assert_eq!(permits.len(), WAITING_MAX);
        assert!(waiting.take(&client("a")).is_none());
    }
}

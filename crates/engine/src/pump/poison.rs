//! Items whose handling fails are pushed back, in this process only: the store reports them until they are done, and other
//! items must not wait for them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::time::Timestamp;

use super::follow_up::Progress;
use super::items::Item;
use crate::engine::Engine;
use crate::mint;

/// The first push-back after a failure; every further one is twice as long.
const FAILED_MIN: Duration = Duration::from_secs(1);
/// The longest push-back after a failure.
const FAILED_MAX: Duration = Duration::from_mins(5);
/// The first push-back of an item that is only not ready yet, or whose store does not answer.
const LATER_MIN: Duration = Duration::from_millis(100);
/// The longest of those.
const LATER_MAX: Duration = Duration::from_secs(2);
/// Times an item may be done and still be reported as due since the same moment before it is given a rest.
const STILL_DUE_MAX: u32 = 64;
/// Items watched for that.
const WATCHED_MAX: usize = 16_384;

/// Something the pump cannot get done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poisoned {
    /// Which execution, flow, budget or quota policy.
    pub subject: String,
    /// How often in a row it failed.
    pub failures: u32,
    /// Why it failed last.
    pub reason: String,
    /// How long until it is tried again.
    pub next_try_in: Duration,
}

/// What is pushed back.
#[derive(Default)]
pub(super) struct Poison {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    troubles: BTreeMap<Item, Trouble>,
    /// Since when an item was due each time it was taken up, and how often.
    watched: BTreeMap<Item, (Timestamp, u32)>,
}

#[derive(Default)]
struct Trouble {
    /// Not before this moment of the host's clock; `None` while it is being tried again.
    until: Option<Duration>,
    failures: u32,
    postponements: u32,
    reason: String,
}

/// What is left to do about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    Done,
    /// It goes on at once.
    Again,
    /// It comes back by itself.
    PushedBack,
}

impl Poison {
    /// Whether `item` is to be left alone for now. What was asked for anew is tried again unless it fails.
    pub(super) fn holds_back(&self, item: &Item, asked_anew: bool) -> bool {
        let inner = self.inner();
        let trouble = inner.troubles.get(item).filter(|trouble| trouble.until.is_some());
        trouble.is_some_and(|trouble| trouble.failures > 0 || !asked_anew)
    }

    /// Takes the items whose time has come again.
    pub(super) fn take_ready(&self, now: Duration) -> Vec<Item> {
        let mut inner = self.inner();
        let over = |trouble: &Trouble| trouble.until.is_some_and(|until| until <= now);
        let taken = inner.troubles.iter_mut().filter(|(_, trouble)| over(trouble));
        taken
            .map(|(item, trouble)| {
                trouble.until = None;
                item.clone()
            })
            .collect()
    }

    /// When the next of them comes back.
    pub(super) fn next(&self) -> Option<Duration> {
        self.inner().troubles.values().filter_map(|trouble| trouble.until).min()
    }

    /// How many items are in trouble.
    pub(super) fn len(&self) -> usize {
        self.inner().troubles.len()
    }

    /// The store reports `item` as due since `due_at`: whether that was so very often although it was done each time. It may
    /// be nudged without end, or something is wrong; neither must keep the loop spinning.
    pub(super) fn still_due(&self, item: &Item, due_at: Timestamp) -> bool {
        let mut inner = self.inner();
        if inner.watched.len() >= WATCHED_MAX {
            inner.watched.clear();
        }
        let watched = inner.watched.entry(item.clone()).or_insert((due_at, 0));
        if watched.0 != due_at {
            *watched = (due_at, 0);
        }
        watched.1 = watched.1.saturating_add(1);
        if watched.1 == STILL_DUE_MAX {
            tracing::warn!(%item, "it was done again and again, and is still due; the pump slows down");
        }
        watched.1 >= STILL_DUE_MAX
    }

    /// Begins to watch anew.
    pub(super) fn watch_anew(&self) {
        self.inner().watched.clear();
    }

    fn forget(&self, item: &Item) {
        self.inner().troubles.remove(item);
    }

    /// Pushes back an item that is not ready yet.
    fn postpone(&self, item: Item, now: Duration) {
        let mut inner = self.inner();
        let trouble = inner.troubles.entry(item).or_default();
        trouble.until = Some(now + doubled(LATER_MIN, LATER_MAX, trouble.postponements));
        trouble.postponements += 1;
    }

    /// Pushes back an item that failed; answers how often it has.
    ///
    /// Items that failed together because they shared a call come back apart, so that the healthy ones get through.
    fn push_back(&self, item: Item, why: &Rejection, now: Duration, dice: u64) -> u32 {
        let mut inner = self.inner();
        let trouble = inner.troubles.entry(item).or_default();
        let delay = doubled(FAILED_MIN, FAILED_MAX, trouble.failures);
        trouble.until = Some(now + jittered(delay, dice));
        trouble.failures += 1;
        trouble.reason = why.to_string();
        trouble.failures
    }

    /// What fails, for a person to look at.
    pub(super) fn list(&self, now: Duration) -> Vec<Poisoned> {
        let inner = self.inner();
        let failing = inner.troubles.iter().filter(|(_, trouble)| trouble.failures > 0);
        failing
            .map(|(item, trouble)| Poisoned {
                subject: item.to_string(),
                failures: trouble.failures,
                reason: trouble.reason.clone(),
                next_try_in: trouble.until.unwrap_or(now).saturating_sub(now),
            })
            .collect()
    }

    fn failing(&self) -> Vec<(Item, String)> {
        let inner = self.inner();
        let failing = inner.troubles.iter().filter(|(_, trouble)| trouble.failures > 0);
        failing
            .map(|(item, trouble)| (item.clone(), trouble.reason.clone()))
            .collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `min`, twice as long with every time before, up to `max`.
fn doubled(min: Duration, max: Duration, times: u32) -> Duration {
    min.saturating_mul(1 << times.min(16)).min(max)
}

/// `delay` less up to a quarter of it.
fn jittered(delay: Duration, dice: u64) -> Duration {
    let quarter = delay.as_millis() / 4;
    let less = u128::from(dice) % (quarter + 1);
    delay.saturating_sub(Duration::from_millis(u64::try_from(less).unwrap_or(0)))
}

/// Every item that fails, and why.
pub(crate) fn failing_items(engine: &Engine) -> Vec<(Item, String)> {
    engine.shared.pump.poison.failing()
}

/// Takes note of what became of an item.
pub(super) fn conclude(engine: &Engine, item: &Item, result: Result<Progress>) -> Verdict {
    let poison = &engine.shared.pump.poison;
    let now = engine.host().elapsed();
    match result {
        Ok(Progress::Done) => {
            poison.forget(item);
            Verdict::Done
        }
        Ok(Progress::More) => {
            poison.forget(item);
            Verdict::Again
        }
        Ok(Progress::Later) => {
            poison.postpone(item.clone(), now);
            Verdict::PushedBack
        }
        // Not the item's fault: others got in its way, or the store does not answer for anybody.
        Err(error) if matches!(error.code, Code::Contention | Code::Unavailable) => {
            tracing::debug!(%item, %error, "the pump could not get at it; it tries again soon");
            poison.postpone(item.clone(), now);
            Verdict::PushedBack
        }
        Err(error) => {
            let failures = poison.push_back(item.clone(), &error, now, mint::dice(engine.host()));
            tracing::error!(%item, %error, failures, "the pump failed; it tries again later");
            Verdict::PushedBack
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_backs_double_up_to_five_minutes() {
        let delays = [0, 1, 2, 8, 9, 40].map(|times| doubled(FAILED_MIN, FAILED_MAX, times).as_secs());
        assert_eq!(delays, [1, 2, 4, 256, 300, 300]);
    }

    #[test]
    fn jitter_takes_a_quarter_at_most() {
        let delay = Duration::from_secs(4);
        for dice in 0..2_000 {
            let jittered = jittered(delay, dice);
            assert!(jittered <= delay && jittered >= Duration::from_secs(3));
        }
    }
}

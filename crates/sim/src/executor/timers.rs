//! Virtual time and who sleeps in it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::future::BoxFuture;

/// When somebody wants to be woken; the number tells apart those who want it at the same time.
type Alarm = (Duration, u64);

#[derive(Default)]
pub(super) struct Timers {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    elapsed: Duration,
    asleep: BTreeMap<Alarm, Waker>,
    alarms: u64,
    listeners: Vec<Arc<dyn Fn(Duration) + Send + Sync>>,
}

struct Sleep {
    timers: Arc<Timers>,
    alarm: Alarm,
}

impl Timers {
    pub(super) fn elapsed(&self) -> Duration {
        self.inner().elapsed
    }

    pub(super) fn on_time(&self, listener: Box<dyn Fn(Duration) + Send + Sync>) {
        self.inner().listeners.push(Arc::from(listener));
    }

    pub(super) fn sleep(this: &Arc<Self>, duration: Duration) -> BoxFuture<'static, ()> {
        let mut inner = this.inner();
        inner.alarms += 1;
        let alarm = (inner.elapsed + duration, inner.alarms);
        drop(inner);
        Box::pin(Sleep {
            timers: Arc::clone(this),
            alarm,
        })
    }

    /// Jumps to the next alarm and wakes everybody who waits for it; `false` when nobody sleeps.
    pub(super) fn jump(&self) -> bool {
        let (woken, listeners, elapsed) = {
            let mut inner = self.inner();
            let Some((at, _)) = inner.asleep.keys().next().copied() else {
                return false;
            };
            inner.elapsed = inner.elapsed.max(at);
            let later = inner.asleep.split_off(&(at, u64::MAX));
            let woken = std::mem::replace(&mut inner.asleep, later);
            (woken, inner.listeners.clone(), inner.elapsed)
        };
        for listener in listeners {
            listener(elapsed);
        }
        woken.into_values().for_each(Waker::wake);
        true
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.timers.inner();
        if self.alarm.0 <= inner.elapsed {
            return Poll::Ready(());
        }
        inner.asleep.insert(self.alarm, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    /// Time does not stop at an alarm nobody waits for.
    fn drop(&mut self) {
        self.timers.inner().asleep.remove(&self.alarm);
    }
}

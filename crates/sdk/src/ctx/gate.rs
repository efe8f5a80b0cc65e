//! Whether a handler may go on: it may have ended, or be about to pause once nothing it began is under way.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::command::suspend::Suspend;
use ff_core::name::StepKey;
use ff_core::time::Timestamp;
use tokio::sync::watch;

use crate::task_error::TaskError;

/// How a handler gives up its task before it has ended.
#[derive(Debug)]
pub(crate) enum Pause {
    /// It sleeps, or looks again later.
    Delay { until: Timestamp, step: Option<StepKey> },
    /// It waits for signals.
    Suspend(Box<Suspend>),
    /// It waits for its children.
    WaitChildren,
    /// Whoever is next goes on.
    Release,
    /// It is not to go on at all, for this reason.
    Cancel(String),
    /// It has made a mistake that nothing it does later can mend.
    Fail(TaskError),
    /// The task is no longer its own.
    Abandon,
}

/// Whether a call may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Open,
    /// Nothing is answered any more: the handler is about to be dropped.
    Pausing,
}

#[derive(Debug)]
pub(crate) struct Gate {
    inner: Mutex<Inner>,
    /// Moves whenever a pause may have become due, or the handler has ended.
    changes: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    has_ended: bool,
    pause: Option<(Option<StepKey>, Pause)>,
    /// What is under way, by number.
    bodies: BTreeMap<u64, StepKey>,
    last_body: u64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            inner: Mutex::default(),
            changes: watch::Sender::new(()),
        }
    }
}

impl Gate {
    /// Whether the handler may ask for anything.
    pub(crate) fn standing(&self) -> Result<Standing, TaskError> {
        let inner = self.inner();
        match inner.has_ended {
            true => Err(ended()),
            false if inner.pause.is_some() => Ok(Standing::Pausing),
            false => Ok(Standing::Open),
        }
    }

    /// Something begins that a pause has to wait for.
    pub(crate) fn begin(&self, key: StepKey) -> u64 {
        let mut inner = self.inner();
        inner.last_body += 1;
        let number = inner.last_body;
        inner.bodies.insert(number, key);
        number
    }

    /// It has ended, or was given up.
    pub(crate) fn end(&self, number: u64) {
        self.inner().bodies.remove(&number);
        self.changes.send_replace(());
    }

    /// Gives up the task as soon as nothing is under way. The first wish counts, unless two of them are waits that cannot both be
    /// had: then neither is.
    pub(crate) fn pause(&self, key: Option<StepKey>, pause: Pause) {
        let mut inner = self.inner();
        match (&inner.pause, &key) {
            (None, _) => inner.pause = Some((key, pause)),
            // The results of several children are one wait.
            (Some((_, Pause::WaitChildren)), _) if matches!(pause, Pause::WaitChildren) => {}
            (Some((Some(first), _)), Some(second)) if first != second => {
                let told = format!(
                    "the handler waits for {first} and {second} at once: one after the other, or use wait_all, wait_any or the \
                     timeout of a wait"
                );
                inner.pause = Some((None, Pause::Fail(TaskError::permanent(told))));
            }
            (Some(_), _) => {}
        }
        drop(inner);
        self.changes.send_replace(());
    }

    /// Completes when the handler is to be dropped.
    pub(crate) async fn pause_is_due(&self) {
        let is_due = |inner: &Inner| inner.pause.is_some() && inner.bodies.is_empty();
        self.until(is_due).await;
    }

    /// Completes when the handler has ended.
    pub(crate) async fn handler_ended(&self) {
        self.until(|inner| inner.has_ended).await;
    }

    async fn until(&self, holds: impl Fn(&Inner) -> bool) {
        let mut changes = self.changes.subscribe();
        while !holds(&self.inner()) {
            // The sender lives as long as the gate.
            let _ = changes.changed().await;
        }
    }

    /// From now on every call is an error. What is still under way, which nobody will hear of, and the pause there was.
    pub(crate) fn close(&self) -> (Vec<StepKey>, Option<Pause>) {
        let mut inner = self.inner();
        inner.has_ended = true;
        let left = inner.bodies.values().cloned().collect();
        let pause = inner.pause.take().map(|(_, pause)| pause);
        drop(inner);
        self.changes.send_replace(());
        (left, pause)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a call is told that comes too late.
pub(crate) fn ended() -> TaskError {
    TaskError::permanent("the handler of this task has ended: nothing can be asked through its Ctx any more")
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn key(text: &str) -> StepKey {
        StepKey::parse(text).unwrap()
    }

    #[test]
    fn a_pause_waits_for_what_is_under_way() {
        let gate = Gate::default();
        let body = gate.begin(key("a#0"));
        gate.pause(None, Pause::Release);
        assert_eq!(gate.standing().unwrap(), Standing::Pausing);
        assert!(gate.pause_is_due().now_or_never().is_none());
        gate.end(body);
        gate.pause_is_due().now_or_never().unwrap();
    }

    #[test]
    fn two_waits_at_once_are_a_mistake_that_names_both() {
        let gate = Gate::default();
        let sleep = |name: &str| Pause::Delay {
            until: Timestamp::from_millis(1),
            step: Some(key(name)),
        };
        gate.pause(Some(key("a#0")), sleep("a#0"));
        gate.pause(Some(key("b#0")), sleep("b#0"));
        let (_, pause) = gate.close();
        let Some(Pause::Fail(error)) = pause else {
            panic!("{pause:?}")
        };
        assert!(error.is_permanent());
        assert!(error.to_string().contains("a#0 and b#0"), "{error}");
    }

    #[test]
    fn after_the_end_every_call_is_an_error_and_what_is_left_is_named() {
        let gate = Gate::default();
        gate.begin(key("late#0"));
        let (left, _) = gate.close();
        assert_eq!(left, [key("late#0")]);
        assert!(gate.standing().unwrap_err().to_string().contains("has ended"));
        gate.handler_ended().now_or_never().unwrap();
    }
}

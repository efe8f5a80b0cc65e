//! What steps did.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;

use crate::ctx::Probe;
use crate::json;

type Mock = Box<dyn Fn() -> Option<Payload> + Send + Sync>;

/// What steps did in a test, and what is to happen to them.
#[derive(Default)]
pub(super) struct Records(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    calls: HashMap<StepKey, usize>,
    /// In the order of recording.
    recorded: Vec<(ExecutionId, StepKey)>,
    crash_after: Vec<Recording>,
    /// Bodies that ran although they were recorded.
    repeated: Vec<StepKey>,
    mocks: HashMap<String, Mock>,
}

/// The recording of a step. Executions have new ids each time a scenario runs, so they are told apart by their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recording {
    pub(super) key: StepKey,
    /// How many executions had recorded this key before.
    pub(super) after: usize,
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, after } = self;
        match after {
            0 => write!(f, "{key}"),
            _ => write!(f, "{key} (of execution {} that has such a step)", after + 1),
        }
    }
}

impl Records {
    pub(super) fn crash_after(&self, recording: Recording) {
        self.inner().crash_after.push(recording);
    }

    pub(super) fn mock<T: serde::Serialize>(&self, name: &str, value: impl Fn() -> T + Send + Sync + 'static) {
        let mock: Mock = Box::new(move || json::write(&value()).ok());
        self.inner().mocks.insert(name.to_owned(), mock);
    }

    pub(super) fn calls(&self, name: &str) -> usize {
        let inner = self.inner();
        let is_meant = |key: &StepKey| key.as_str() == name || name_of(key) == name;
        inner
            .calls
            .iter()
            .filter(|(key, _)| is_meant(key))
            .map(|(_, calls)| calls)
            .sum()
    }

    /// Notes a recorded step. Whether the worker is to die now.
    pub(super) fn record(&self, id: ExecutionId, key: &StepKey) -> bool {
        let mut inner = self.inner();
        let recorded = (id, key.clone());
        if inner.recorded.contains(&recorded) {
            return false;
        }
        let recording = inner.recording(key);
        inner.recorded.push(recorded);
        let armed = inner.crash_after.len();
        inner.crash_after.retain(|crash| *crash != recording);
        inner.crash_after.len() < armed
    }

    /// Everything that was recorded, in order.
    pub(super) fn recorded(&self) -> Vec<Recording> {
        let mut before = Inner::default();
        let told = |(id, key): &(ExecutionId, StepKey)| {
            let recording = before.recording(key);
            before.recorded.push((*id, key.clone()));
            recording
        };
        self.inner().recorded.iter().map(told).collect()
    }

    /// Bodies that ran although they were recorded.
    pub(super) fn repeated(&self) -> Vec<StepKey> {
        self.inner().repeated.clone()
    }

    /// Whether a crash is still to come.
    pub(super) fn is_armed(&self) -> bool {
        !self.inner().crash_after.is_empty()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The next recording of a key.
    fn recording(&self, key: &StepKey) -> Recording {
        Recording {
            key: key.clone(),
            after: self.recorded.iter().filter(|(_, other)| other == key).count(),
        }
    }
}

impl Probe for Records {
    fn begins(&self, id: ExecutionId, key: &StepKey) -> Option<Payload> {
        let mut inner = self.inner();
        *inner.calls.entry(key.clone()).or_default() += 1;
        if inner.recorded.contains(&(id, key.clone())) {
            inner.repeated.push(key.clone());
        }
        inner.mocks.get(name_of(key)).and_then(|mock| mock())
    }
}

/// The name in a key: of `a/fetch#3`, `fetch`.
fn name_of(key: &StepKey) -> &str {
    let last = key.as_str().rsplit('/').next().unwrap_or_default();
    last.split(['#', '[']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_stands_in_the_key() {
        let name = |key| name_of(&StepKey::parse(key).unwrap()).to_owned();
        assert_eq!(
            (name("fetch#3"), name("a/b/fetch[x]")),
            ("fetch".to_owned(), "fetch".to_owned())
        );
    }
}

//! The memory backend as it is, or broken on purpose.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend::memory::{Flaw, MemoryBackend};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};

use super::liar::{Liar, Lie};

/// Some moment; the clock of the store stands there until it is moved.
const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Few enough to be reached by a case.
const FEED_LINES_MAX: usize = 2_000;

/// What is wrong with a store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mutation {
    /// Nothing.
    None,
    /// It does wrong.
    Flaw(Flaw),
    /// It hears or answers wrong.
    Lie(Lie),
}

impl Mutation {
    /// Everything that can be wrong.
    pub(crate) fn all() -> Vec<Mutation> {
        let flaws = Flaw::ALL.iter().copied().map(Mutation::Flaw);
        flaws.chain(Lie::ALL.iter().copied().map(Mutation::Lie)).collect()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Mutation::None => "Honest".to_owned(),
            Mutation::Flaw(flaw) => format!("{flaw:?}"),
            Mutation::Lie(lie) => format!("{lie:?}"),
        };
        f.pad(&name)
    }
}

/// A store in memory, perhaps behind a liar.
pub(crate) struct MutantHarness {
    memory: Arc<MemoryBackend>,
    liar: Option<Arc<Liar>>,
}

/// A fresh store that is broken in this way.
pub(crate) fn make(mutation: Mutation) -> MutantHarness {
    let counts = PartitionCounts::default();
    let memory = match mutation {
        Mutation::Flaw(flaw) => MemoryBackend::with_flaw(START, counts, flaw),
        Mutation::None | Mutation::Lie(_) => MemoryBackend::new(START, counts),
    };
    let memory = Arc::new(memory.with_feed_lines_max(FEED_LINES_MAX));
    let liar = match mutation {
        Mutation::Lie(lie) => Some(Arc::new(Liar::new(Arc::clone(&memory), lie))),
        Mutation::None | Mutation::Flaw(_) => None,
    };
    MutantHarness { memory, liar }
}

#[async_trait]
impl Harness for MutantHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        match &self.liar {
            Some(liar) => liar.clone(),
            None => self.memory.clone(),
        }
    }

    async fn advance(&self, by: Duration) {
        self.memory.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn work_counter(&self) -> Option<u64> {
        Some(self.memory.entries_visited() + self.liar.as_ref().map_or(0, |liar| liar.scanned()))
    }

    fn hint_wait(&self) -> std::time::Duration {
        std::time::Duration::from_millis(100)
    }

    fn feed_lines_max(&self) -> Option<usize> {
        Some(FEED_LINES_MAX)
    }
}

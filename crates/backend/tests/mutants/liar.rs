//! A wrong store is an honest one behind a liar, who changes what is asked or answered. Each lie breaks one promise.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::conformance::Harness;
use ff_backend::layer::Layer;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::time::{Duration, Timestamp};

/// Some moment; the clock of the store stands there until it is moved.
const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
/// Few enough to be reached by a case.
const FEED_LINES_MAX: usize = 2_000;

/// Every partition that records live in.
pub(crate) fn partitions() -> Vec<Partition> {
    PartitionCounts::default().all(Family::Flow).collect()
}

/// A store that keeps every promise.
pub(crate) struct Honest {
    pub(crate) memory: MemoryBackend,
    /// Entries of queues that a liar pretends to have visited.
    pub(crate) visited_in_vain: AtomicU64,
}

impl Layer for Honest {
    fn inner(&self) -> &dyn Backend {
        &self.memory
    }
}

impl Honest {
    /// Reads one snapshot.
    pub(crate) async fn load_one(&self, load: Load) -> Snapshot {
        let mut snapshots = self.memory.load(vec![load]).await.expect("memory answers");
        snapshots.remove(0)
    }

    /// Commits one transaction.
    pub(crate) async fn commit_one(&self, transaction: Transaction) -> Result<Committed, CommitError> {
        self.memory.commit(vec![transaction]).await.remove(0)
    }
}

/// Tells a lie about an honest store.
pub(crate) struct Liar<L, S> {
    pub(crate) honest: Arc<Honest>,
    pub(crate) lie: L,
    /// What it remembers of the calls so far.
    pub(crate) seen: S,
}

/// Lists the lies of one subject, after the type of what whoever tells them remembers.
macro_rules! lies {
    ($seen:ty; $($(#[$doc:meta])+ $name:ident,)+) => {
        /// A promise that is broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Lie {
            $($(#[$doc])+ $name,)+
        }

        type Liar = crate::liar::Liar<Lie, $seen>;

        /// A wrong store for each of the lies.
        pub(crate) fn mutants() -> Vec<crate::liar::Mutant> {
            let lies = [$(Lie::$name,)+];
            let telling = |lie| crate::liar::Mutant::telling::<Lie, $seen>(module_path!(), lie);
            lies.map(telling).into()
        }
    };
}
pub(crate) use lies;

type Wrap = dyn Fn(Arc<Honest>) -> Arc<dyn Backend> + Send + Sync;

/// A store that is wrong in one way.
#[derive(Clone)]
pub(crate) struct Mutant {
    pub(crate) name: String,
    wrap: Arc<Wrap>,
}

impl Mutant {
    /// Nothing is wrong.
    pub(crate) fn honest() -> Self {
        Self {
            name: "Honest".to_owned(),
            wrap: Arc::new(|honest| honest),
        }
    }

    /// Tells this lie of the subject of a module.
    pub(crate) fn telling<L, S>(module: &str, lie: L) -> Self
    where
        L: Copy + Debug + Send + Sync + 'static,
        S: Default,
        Liar<L, S>: Backend,
    {
        let wrap = move |honest| -> Arc<dyn Backend> {
            let seen = S::default();
            Arc::new(Liar { honest, lie, seen })
        };
        let subject = module.rsplit("::").next().unwrap_or(module);
        Self {
            name: format!("{subject}::{lie:?}"),
            wrap: Arc::new(wrap),
        }
    }

    /// A fresh store of this kind.
    pub(crate) fn harness(&self) -> MutantHarness {
        let memory = MemoryBackend::new(START, PartitionCounts::default()).with_feed_lines_max(FEED_LINES_MAX);
        let honest = Arc::new(Honest {
            memory,
            visited_in_vain: AtomicU64::new(0),
        });
        let store = (self.wrap)(Arc::clone(&honest));
        MutantHarness { honest, store }
    }
}

/// A wrong store, and the honest one in it.
pub(crate) struct MutantHarness {
    honest: Arc<Honest>,
    store: Arc<dyn Backend>,
}

#[async_trait]
impl Harness for MutantHarness {
    fn backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.store)
    }

    async fn advance(&self, by: Duration) {
        self.honest.memory.advance(by);
    }

    fn counts(&self) -> PartitionCounts {
        PartitionCounts::default()
    }

    fn work_counter(&self) -> Option<u64> {
        Some(self.honest.memory.entries_visited() + self.honest.visited_in_vain.load(Ordering::Relaxed))
    }

    fn hint_wait(&self) -> std::time::Duration {
        std::time::Duration::from_millis(100)
    }

    fn feed_lines_max(&self) -> Option<usize> {
        Some(FEED_LINES_MAX)
    }
}

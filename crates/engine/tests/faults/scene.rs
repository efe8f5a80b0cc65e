//! Two engines over one store, clients at work, and the reckoning.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ff_backend::Backend;
use ff_core::partition::PartitionCounts;
use ff_engine::{Config, Engine, TokioHost};

use crate::audit::audit;
use crate::ledger::Ledger;
use crate::load::Load;
use crate::luck::Luck;
use crate::verdict::{Tally, Verdict};
use crate::window::Windows;

/// Engines that serve one store.
const REPLICAS: usize = 2;

/// A store with clients at work.
pub(crate) struct Scene {
    /// Decides when and where something goes wrong.
    pub(crate) luck: Luck,
    pub(crate) windows: Windows,
    engines: Vec<Engine>,
    stores: Vec<Arc<dyn Backend>>,
    ledger: Arc<Ledger>,
    load: Load,
    seed: u64,
}

impl Scene {
    /// Opens the store as many processes would, and lets the clients begin.
    pub(crate) async fn begin<F: Future<Output = Arc<dyn Backend>>>(open: impl Fn() -> F) -> Self {
        let seed = Luck::seed();
        let (mut engines, mut stores) = (Vec::new(), Vec::new());
        for _ in 0..REPLICAS {
            let store = open().await;
            engines.push(engine_over(Arc::clone(&store)));
            stores.push(store);
        }
        let ledger = Arc::new(Ledger::default());
        let load = Load::start(&engines, &ledger, seed);
        Self {
            luck: Luck::of(seed, 0),
            windows: Windows::default(),
            engines,
            stores,
            ledger,
            load,
            seed,
        }
    }

    /// A moment nobody chose.
    pub(crate) async fn random_moment(&mut self, milliseconds: std::ops::Range<u64>) {
        self.luck.pause(milliseconds).await;
    }

    /// How often a client had to ask again so far.
    pub(crate) fn retries(&self) -> u64 {
        self.ledger.retries.load(Ordering::Relaxed)
    }

    /// Lets everything end, and compares it with what the clients were told.
    ///
    /// # Panics
    ///
    /// When something that was promised is not so.
    pub(crate) async fn end(mut self, name: &str) -> Tally {
        self.load.stop_writing().await;
        let since = Instant::now();
        let mut verdict = Verdict::new(&self.engines[0], &self.ledger, &self.windows);
        verdict.wait_for_ends().await;
        let drained_in = since.elapsed();
        let followers = self.load.stop_working().await;
        verdict.judge(followers).await;
        for engine in &self.engines {
            engine.stop().await;
        }
        verdict.broken.extend(audit(self.stores[0].as_ref()).await);
        eprintln!("{name}: {:?}, drained in {drained_in:?}", verdict.tally);
        let broken = &verdict.broken;
        assert!(
            broken.is_empty(),
            "{name}, FF_TEST_SEED={}: {} promises are broken:\n{}",
            self.seed,
            broken.len(),
            broken[..broken.len().min(20)].join("\n")
        );
        verdict.tally
    }
}

/// An engine that works.
pub(crate) fn engine_over(store: Arc<dyn Backend>) -> Engine {
    let config = Config {
        liveness_interval: Duration::from_secs(5),
        ..Config::new(PartitionCounts::default())
    };
    let engine = Engine::new(store, Arc::new(TokioHost::new()), config);
    engine.start();
    engine
}

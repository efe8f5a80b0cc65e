//! What a test's worker is told.

use std::sync::{Arc, Mutex};

use ff_engine::{VirtualHost, VirtualTime};

use super::records::Records;
use super::trouble::Losses;
use super::{Inner, TestEngine};
use crate::client::Client;
use crate::handler::{Handler, RawHandler};
use crate::worker::WorkerBuilder;

type Describe = Box<dyn Fn(WorkerBuilder) -> WorkerBuilder + Send + Sync>;

/// A test that is being described.
#[must_use = "start it"]
pub struct TestBuilder {
    seed: u64,
    described: Vec<Describe>,
}

impl Default for TestBuilder {
    fn default() -> Self {
        Self {
            seed: 7,
            described: Vec::new(),
        }
    }
}

impl TestBuilder {
    /// Where luck comes from: the same seed makes the same.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A value that handlers take as `State`.
    pub fn state<S: Clone + Send + Sync + 'static>(self, state: S) -> Self {
        self.worker(move |worker| worker.state(state.clone()))
    }

    /// A handler of a task.
    pub fn task<H: Handler<Args>, Args: 'static>(self, handler: H) -> Self {
        self.worker(move |worker| worker.task(handler.clone()))
    }

    /// A handler of bytes.
    pub fn on<H: RawHandler<Args>, Args: 'static>(self, kind: &str, handler: H) -> Self {
        let kind = kind.to_owned();
        self.worker(move |worker| worker.on(kind.clone(), handler.clone()))
    }

    /// Anything else that a worker can be told; every worker of the test is told it.
    pub fn worker(mut self, describe: impl Fn(WorkerBuilder) -> WorkerBuilder + Send + Sync + 'static) -> Self {
        self.described.push(Box::new(describe));
        self
    }

    /// Starts the engine and a worker.
    ///
    /// # Panics
    ///
    /// When the worker cannot be built: the message says why.
    pub async fn start(self) -> TestEngine {
        let time = VirtualTime::new(VirtualHost::new(self.seed));
        let engine = time.engine().clone();
        let clock = time.clone();
        let described = self.described;
        let inner = Arc::new(Inner {
            client: Client::local(engine.clone()).clock(move || clock.now()),
            engine,
            losses: Losses::new(Arc::clone(time.host())),
            time,
            records: Arc::new(Records::default()),
            describe: Box::new(move |worker| described.iter().fold(worker, |worker, describe| describe(worker))),
            worker: Mutex::default(),
        });
        inner.start_worker();
        inner.pump();
        TestEngine { inner }
    }
}

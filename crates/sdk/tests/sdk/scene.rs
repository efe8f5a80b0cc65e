//! An engine over a store in memory, whose time passes only when it is told to, with a client and a worker of it.

use std::sync::Arc;
use std::time::Duration as Span;

use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_core::caller::Caller;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lease::{Complete, Fail};
use ff_core::fabric::On;
use ff_core::name::{Category, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, VirtualHost};
use ff_sdk::{Client, Fabric, json};
use ff_server::{Server, Settings, serve};
use serde::Serialize;

/// When the store's time begins.
pub(crate) const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// One engine, with a client of it.
pub(crate) struct Scene {
    pub(crate) engine: Engine,
    pub(crate) client: Client,
    store: Arc<MemoryBackend>,
    host: Arc<VirtualHost>,
}

impl Scene {
    /// With a client in the same process.
    pub(crate) fn local() -> Self {
        Self::over(Arc::new(MemoryBackend::new(START, PartitionCounts::default())))
    }

    /// With a store that keeps the last two events of each partition.
    pub(crate) fn forgetful() -> Self {
        let store = MemoryBackend::new(START, PartitionCounts::default());
        Self::over(Arc::new(store.with_feed_lines_max(2)))
    }

    /// Another process over the same store.
    pub(crate) fn another(&self) -> Self {
        Self::over(Arc::clone(&self.store))
    }

    fn over(store: Arc<MemoryBackend>) -> Self {
        let host = Arc::new(VirtualHost::new(7));
        let config = Config::new(PartitionCounts::default());
        let engine = Engine::new(
            Arc::clone(&store) as Arc<dyn Backend>,
            Arc::clone(&host) as Arc<dyn ff_engine::Host>,
            config,
        );
        engine.listen();
        let clock = Arc::clone(&store);
        Self {
            client: Client::local(engine.clone()).clock(move || clock.now()),
            engine,
            store,
            host,
        }
    }

    /// With a client that reaches it through a server.
    pub(crate) fn served() -> Self {
        let scene = Self::local();
        let client = Client::connect(scene.serve()).open().unwrap();
        Self { client, ..scene }
    }

    /// One of each: what holds for one holds for the other.
    pub(crate) fn each() -> [Self; 2] {
        [Self::local(), Self::served()]
    }

    /// Starts a server in front of the engine; its address.
    pub(crate) fn serve(&self) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        tokio::spawn(self.serve_on(listener, std::future::pending()));
        format!("http://{address}")
    }

    /// Serves the engine until it is told to stop, which stops the engine, too.
    pub(crate) fn serve_on(
        &self,
        listener: tokio::net::TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let settings = Settings {
            everybody: Some(Caller::local()),
            ..Settings::default()
        };
        let server = Server::new(self.engine.clone(), settings);
        async move { serve(&server, listener, None, stop).await }
    }

    /// Lets time pass, and does what is due then.
    pub(crate) async fn pass(&self, by: Span) {
        self.store
            .advance(Duration::from_millis(u64::try_from(by.as_millis()).unwrap()));
        self.host.advance(by);
        self.settle().await;
    }

    /// Does everything that is due.
    pub(crate) async fn settle(&self) {
        while self.engine.pump_pass().await.unwrap() > 0 {}
    }

    /// Claims what a worker of these lanes is handed now.
    pub(crate) async fn claim(&self, lanes: &[&str], capabilities: &[&str]) -> Vec<Task> {
        self.settle().await;
        let claim = Claim {
            namespace: Namespace::default_namespace(),
            worker: WorkerId::parse("worker").unwrap(),
            instance: WorkerInstanceId::parse("worker-1").unwrap(),
            incarnation: None,
            want: Want {
                lanes: lanes.iter().map(|lane| LaneId::parse(lane).unwrap()).collect(),
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::parse(capabilities).unwrap(),
                max: 100,
                lease_ttl: None,
            },
            wait: Duration::ZERO,
        };
        self.engine.claim(claim).await.unwrap()
    }

    /// Claims the one task of the default lane.
    pub(crate) async fn claim_one(&self) -> Task {
        let mut tasks = self.claim(&["default"], &[]).await;
        assert_eq!(tasks.len(), 1, "one task is to be had");
        tasks.remove(0)
    }

    /// Ends a task well.
    pub(crate) async fn complete<T: Serialize>(&self, task: &Task, result: &T) {
        let complete = Complete {
            fence: Some(task.fence),
            result: Some(json::write(result).unwrap()),
            steps: Vec::new(),
        };
        self.engine
            .complete(On::new(task.execution_id, complete))
            .await
            .unwrap();
        self.settle().await;
    }

    /// Ends a task badly.
    pub(crate) async fn fail(&self, task: &Task, category: &str, reason: &str) {
        let fail = Fail {
            fence: Some(task.fence),
            reason: reason.to_owned(),
            category: Category::parse(category).unwrap(),
            retry_after: None,
            steps: Vec::new(),
        };
        self.engine.fail(On::new(task.execution_id, fail)).await.unwrap();
        self.settle().await;
    }
}

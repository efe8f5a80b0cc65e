//! A server in this process whose clock stands still, with a little of everything: what `ff` prints is then always the same.

use std::process::Command;
use std::sync::Arc;

use ff_backend::memory::MemoryBackend;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::submit::CreateExecution;
use ff_core::command::worker::{RegisterWorker, WorkerLoad};
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::record::Incarnation;
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, VirtualHost};
use ff_server::{Server, Settings};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::printed::Session;
use crate::ff;

/// 2027-01-15 08:00:00.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A server and its store.
pub(crate) struct Scene {
    runtime: Runtime,
    store: Arc<MemoryBackend>,
    host: Arc<VirtualHost>,
    pub(crate) engine: Engine,
    pub(crate) url: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Scene {
    /// An empty one.
    pub(crate) fn empty() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let counts = PartitionCounts::default();
        let store = Arc::new(MemoryBackend::new(START, counts));
        let host = Arc::new(VirtualHost::with_impatient_callers(7));
        let (engine, url) = runtime.block_on(async {
            let engine = Engine::new(store.clone(), host.clone(), Config::new(counts));
            engine.start();
            engine.register_worker(worker()).await.unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let server = Server::new(engine.clone(), Settings::loopback());
            tokio::spawn(async move { ff_server::serve(&server, listener, None, std::future::pending()).await });
            (engine, url)
        });
        Self {
            runtime,
            store,
            host,
            engine,
            url,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Does something to it.
    pub(crate) fn with<T>(&self, what: impl AsyncFnOnce(&Engine) -> T) -> T {
        self.runtime.block_on(what(&self.engine))
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, seconds: u64) {
        self.store.advance(Duration::from_secs(seconds));
        let _inside = self.runtime.enter();
        self.host.advance(std::time::Duration::from_secs(seconds));
    }

    /// Submits what `submit` says, under a fixed id.
    pub(crate) fn submit(&self, number: u128, kind: &str, change: impl FnOnce(&mut CreateExecution)) -> ExecutionId {
        let mut command = CreateExecution::new(ExecutionKind::parse(kind).unwrap(), Payload::default());
        command.execution_uuid = Some(uuid(number));
        change(&mut command);
        self.with(async |engine| engine.create_execution(command).await.unwrap().execution_id())
    }

    /// Hands the next execution of a lane to the worker `w-1`.
    pub(crate) fn claim(&self, lane: &str) -> Task {
        self.claim_within(lane, Duration::from_secs(5)).expect("a task")
    }

    /// Hands what may run now to the worker `w-1`, if there is something.
    pub(crate) fn claim_now(&self, lane: &str) -> Option<Task> {
        self.claim_within(lane, Duration::ZERO)
    }

    fn claim_within(&self, lane: &str, wait: Duration) -> Option<Task> {
        let worker = worker();
        let claim = Claim {
            namespace: worker.namespace,
            worker: worker.worker,
            instance: worker.instance,
            incarnation: Some(worker.incarnation),
            want: Want {
                lanes: vec![LaneId::parse(lane).unwrap()],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max: 1,
                lease_ttl: None,
            },
            wait,
        };
        self.with(async |engine| engine.claim(claim).await.unwrap().pop())
    }

    /// `ff` with these arguments, asking this server, in a terminal of 80 columns.
    pub(crate) fn ff(&self, arguments: &[&str]) -> Command {
        self.ff_in(80, arguments)
    }

    /// The same in a terminal of so many columns.
    pub(crate) fn ff_in(&self, columns: usize, arguments: &[&str]) -> Command {
        let mut command = ff(self.folder.path());
        for variable in ["FF_KEY", "FF_NAMESPACE", "FF_OUTPUT", "FF_CONFIG", "FF_LOG"] {
            command.env_remove(variable);
        }
        command
            .env("FF_URL", &self.url)
            .env("COLUMNS", columns.to_string())
            .args(arguments);
        command
    }

    /// Runs each line and compares what all of them print with what is expected.
    pub(crate) fn prints(&self, name: &str, lines: &[&str]) {
        let mut session = Session::default();
        for line in lines {
            let arguments: Vec<&str> = line.split(' ').collect();
            session.run(self.ff(&arguments), line);
        }
        session.is_as_expected(name);
    }

    /// What `ff` prints as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.ff(arguments).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        serde_json::from_slice(&ran.stdout).unwrap()
    }
}

/// The worker `w-1`, which serves the default lane.
fn worker() -> RegisterWorker {
    RegisterWorker {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse("w").unwrap(),
        instance: WorkerInstanceId::parse("w-1").unwrap(),
        incarnation: Incarnation(uuid(0x99)),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::default(),
        ttl: Some(Duration::from_hours(1)),
        load: WorkerLoad {
            slots: Some(4),
            running: Some(1),
            version: Some("1.2.3".to_owned()),
        },
    }
}

/// A fixed UUID whose last digits tell its number.
pub(crate) fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0x0190_c5d4_7a6b_7c3d_8e9f_0000_0000_0000 + number)
}

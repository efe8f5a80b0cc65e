//! An engine on a store in memory, and the little that other files of the engine do in a running one: workers that take
//! leases, flows, signals.

pub(crate) mod faulty;

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::query::{Query, Range};
use ff_backend::reserve::Reserve;
use ff_backend::transaction::{Tag, Transaction};
use ff_core::caller::Caller;
use ff_core::capability::CapabilitySet;
use ff_core::command::flow::{Assembly, CreateFlow};
use ff_core::command::signal::DeliverSignal;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Fabric;
use ff_core::id::{AttemptId, ExecutionId, FlowId, GrantId, LeaseId, SignalId, WaitpointId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::index::Index;
use ff_core::machine::signal::{Target, deliver};
use ff_core::machine::{Context, Draft, flow};
use ff_core::name::{ExecutionKind, FlowKind, Identity, LaneId, Namespace, SignalName, WorkerId, WorkerInstanceId};
use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{Execution, Fence, RecordKey, Tags};
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, VirtualHost};
use futures::FutureExt;
use uuid::Uuid;

use self::faulty::FaultyBackend;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(30);

/// An engine, its store and its time.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) backend: Arc<FaultyBackend>,
    pub(crate) host: Arc<VirtualHost>,
    pub(crate) counts: PartitionCounts,
}

/// A leased execution, as its worker sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) id: ExecutionId,
    pub(crate) fence: Fence,
}

impl World {
    pub(crate) fn new() -> Self {
        let counts = PartitionCounts::default();
        let memory = Arc::new(MemoryBackend::new(START, counts));
        let backend = Arc::new(FaultyBackend::new(memory));
        let host = Arc::new(VirtualHost::new(7));
        let store: Arc<dyn Backend> = Arc::clone(&backend) as _;
        Self {
            engine: Engine::new(store, Arc::clone(&host) as _, Config::new(counts)),
            backend,
            host,
            counts,
        }
    }

    /// Another process on the same store.
    pub(crate) fn another_engine(&self) -> Engine {
        let store: Arc<dyn Backend> = Arc::clone(&self.backend) as _;
        Engine::new(store, Arc::new(VirtualHost::new(8)), Config::new(self.counts))
    }

    /// Lets time pass, here and in the store.
    pub(crate) fn advance(&self, by: Duration) {
        self.backend.memory.advance(by);
        self.host.advance(std::time::Duration::from_millis(by.as_millis()));
    }

    /// The engine for a caller that sees one namespace only.
    pub(crate) fn bound_to(&self, namespace: &str) -> Engine {
        self.engine.acting_as(Caller {
            namespace: Some(Namespace::parse(namespace).unwrap()),
            ..Caller::local()
        })
    }

    pub(crate) async fn submit(&self, command: CreateExecution) -> ExecutionId {
        match self.engine.create_execution(command).await.unwrap() {
            Created::Created { execution_id: id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Submits an execution and takes its lease.
    pub(crate) async fn running(&self, command: CreateExecution) -> Held {
        let id = self.submit(command).await;
        let held = take(&self.backend.memory, 1);
        assert_eq!(held.id, id);
        held
    }

    pub(crate) fn read(&self, id: ExecutionId) -> Execution {
        let snapshot = load(&self.backend.memory, id.partition(), [RecordKey::Execution(id)]);
        snapshot.execution(&RecordKey::Execution(id)).unwrap().clone()
    }

    /// How many executions the store has.
    pub(crate) fn executions(&self) -> usize {
        let query = Query {
            of: Range::of(Index::Age(None), self.counts.all(Family::Flow).collect()).into(),
            after: None,
            limit: 1_000,
        };
        let page = self.backend.memory.list(query).now_or_never().unwrap().unwrap();
        page.executions().len()
    }

    pub(crate) fn create_flow(&self, number: u128, namespace: &str) -> FlowId {
        let id = FlowId::from_uuid(Uuid::from_u128(number));
        let command = CreateFlow {
            namespace: Namespace::parse(namespace).unwrap(),
            flow_kind: FlowKind::parse("nightly").unwrap(),
            tags: Tags::new(),
            retention: None,
            assembly: Assembly::Open,
        };
        let decided = flow::create(None, id, &command, &Context::engine(START)).unwrap();
        let memory = &self.backend.memory;
        commit(memory, decided.draft, &Snapshot::empty(self.counts.of_flow(id), START));
        id
    }
}

/// A submission of kind `work` to the default lane.
pub(crate) fn work() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("work").unwrap(), Payload::binary(&b"input"[..]))
}

pub(crate) fn code<T: std::fmt::Debug>(answer: Result<T, Rejection>) -> Code {
    answer.unwrap_err().code
}

pub(crate) fn load(memory: &MemoryBackend, partition: Partition, records: impl Into<Vec<RecordKey>>) -> Snapshot {
    let load = Load::records(partition, records);
    let mut snapshots = memory.load(vec![load]).now_or_never().unwrap().unwrap();
    snapshots.pop().unwrap()
}

/// Commits behind the engine's back.
pub(crate) fn commit(memory: &MemoryBackend, draft: Draft, snapshot: &Snapshot) {
    let transaction = Transaction::bind(draft, snapshot, Tag(u64::from(u32::MAX)));
    let answers = memory.commit(vec![transaction]).now_or_never().unwrap();
    answers.into_iter().for_each(|answer| drop(answer.unwrap()));
}

/// A worker takes the lease of the next eligible execution; `number` tells its leases apart.
pub(crate) fn take(memory: &MemoryBackend, number: u128) -> Held {
    let uuid = Uuid::from_u128(number);
    let claimant = Claimant {
        worker: WorkerId::parse("worker").unwrap(),
        instance: WorkerInstanceId::parse("worker-1").unwrap(),
        grant_id: GrantId::from_uuid(uuid),
        lease_id: LeaseId::from_uuid(uuid),
        attempt_id: AttemptId::from_uuid(uuid),
        lease_ttl: LEASE_TTL,
        grant_ttl: Duration::from_secs(5),
    };
    let ask = Reserve {
        namespace: Namespace::default_namespace(),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::default(),
        closed: Vec::new(),
        mode: HandOut::Lease,
        claimants: vec![claimant],
        tag: Tag(u64::from(u32::MAX) + u64::try_from(number).unwrap()),
    };
    let reservation = memory.reserve(ask).now_or_never().unwrap().unwrap();
    let execution = &reservation.tasks[0].execution;
    Held {
        id: execution.id,
        fence: execution.lease().unwrap().fence(execution.attempt.as_ref().unwrap().id),
    }
}

/// Delivers a signal behind the engine's back.
pub(crate) fn signal(memory: &MemoryBackend, id: ExecutionId, waitpoint_id: WaitpointId, number: u128) -> SignalId {
    let signal_id = SignalId::from_uuid(Uuid::from_u128(number));
    let command = DeliverSignal {
        waitpoint_id,
        signal_id: None,
        signal_name: SignalName::approved(),
        category: "callback".to_owned(),
        source_type: "test".to_owned(),
        source_identity: Identity::parse("alice").unwrap(),
        payload: Payload::default(),
        idempotency_key: None,
        correlation_id: None,
    };
    let waitpoint = RecordKey::Waitpoint(id, waitpoint_id);
    let snapshot = load(memory, id.partition(), [RecordKey::Execution(id), waitpoint.clone()]);
    let target = Target {
        execution: snapshot.execution(&RecordKey::Execution(id)).unwrap(),
        waitpoint: snapshot.waitpoint(&waitpoint).unwrap(),
        signal_id,
        same_id: None,
        same_key: None,
        buffered_signals: 0,
    };
    let decided = deliver(target, &command, &Context::engine(snapshot.now)).unwrap();
    commit(memory, decided.draft, &snapshot);
    signal_id
}

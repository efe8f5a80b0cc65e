//! One engine over a store in memory, and the few moves that bring executions into the states that are read.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::frames::{Append, Keep, NewFrame};
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::reserve::Reserve;
use ff_backend::transaction::{Tag, Transaction};
use ff_core::caller::Caller;
use ff_core::capability::CapabilitySet;
use ff_core::command::flow::{Assembly, CancelFlow, CreateFlow};
use ff_core::command::lease::{Complete, Fail, Renew};
use ff_core::command::operator::{CancelExecution, HoldExecution};
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::worker::RegisterWorker;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Fabric;
use ff_core::frame::FrameId;
use ff_core::id::{AttemptId, ExecutionId, FlowId, GrantId, LeaseId, WaitpointId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::member::{self, Membership};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::suspend::{self, Early};
use ff_core::machine::{Context, Decided, fail, flow, lease, operator};
use ff_core::name::{Category, ExecutionKind, FlowKind, FrameType, LaneId, Namespace};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{
    CancelFlowPolicy, CounterKey, Execution, Fence, FlowCounter, Incarnation, Matcher, ReasonCode, RecordKey,
    ResumeCondition, Tags, TimeoutBehavior, Worker,
};
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, VirtualHost};
use uuid::Uuid;

pub(crate) const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

pub(crate) struct Stage {
    pub(crate) backend: Arc<MemoryBackend>,
    pub(crate) host: Arc<VirtualHost>,
    pub(crate) engine: Engine,
    pub(crate) counts: PartitionCounts,
    minted: Cell<u128>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::over(|backend| backend)
    }

    /// With a store that is not quite the usual one.
    pub(crate) fn over(change: impl FnOnce(MemoryBackend) -> MemoryBackend) -> Self {
        let counts = PartitionCounts::new(8, 2, 2).unwrap();
        let backend = Arc::new(change(MemoryBackend::new(START, counts)));
        let host = Arc::new(VirtualHost::new(1));
        Self {
            engine: Engine::new(
                Arc::clone(&backend) as Arc<dyn Backend>,
                Arc::clone(&host) as Arc<dyn ff_engine::Host>,
                Config::new(counts),
            ),
            backend,
            host,
            counts,
            minted: Cell::new(0),
        }
    }

    pub(crate) fn mint(&self) -> Uuid {
        self.minted.set(self.minted.get() + 1);
        Uuid::from_u128(self.minted.get())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.backend.now()
    }

    /// Lets time pass, in the store and in the process.
    pub(crate) fn advance(&self, by: Duration) {
        self.backend.advance(by);
        self.host.advance(std::time::Duration::from_millis(by.as_millis()));
    }

    /// The engine as a key that is bound to a namespace sees it.
    pub(crate) fn bound_to(&self, namespace: &str) -> Engine {
        self.engine.acting_as(Caller {
            namespace: Some(namespace.parse().unwrap()),
            ..Caller::local()
        })
    }

    /// Commits what a rule decided from `snapshot`.
    pub(crate) async fn land<O>(&self, snapshot: &Snapshot, decided: Decided<O>) -> O {
        let tag = Tag(u64::try_from(self.mint().as_u128()).unwrap());
        let transaction = Transaction::bind(decided.draft, snapshot, tag);
        self.backend.commit(vec![transaction]).await.remove(0).unwrap();
        decided.outcome
    }

    pub(crate) async fn load(&self, load: Load) -> Snapshot {
        self.backend.load(vec![load]).await.unwrap().remove(0)
    }

    pub(crate) async fn stored(&self, id: ExecutionId) -> Execution {
        let snapshot = self
            .load(Load::records(id.partition(), [RecordKey::Execution(id)]))
            .await;
        snapshot.execution(&RecordKey::Execution(id)).unwrap().clone()
    }

    /// Decides about one execution and commits it.
    pub(crate) async fn decide<O>(
        &self,
        id: ExecutionId,
        rule: impl FnOnce(&Execution, &Context) -> Result<Decided<O>, Rejection>,
    ) -> O {
        let load = Load::records(id.partition(), [RecordKey::Execution(id)]).with_gates();
        let snapshot = self.load(load).await;
        let execution = snapshot.execution(&RecordKey::Execution(id)).unwrap();
        let gate = execution.definition.flow.map(RecordKey::Gate);
        let context = Context {
            gate: gate.and_then(|gate| Some(snapshot.gate(&gate)?.state)),
            ..Context::engine(snapshot.now)
        };
        let decided = rule(execution, &context).unwrap();
        self.land(&snapshot, decided).await
    }

    pub(crate) async fn submit(&self, command: &CreateExecution) -> ExecutionId {
        let uuid = self.mint();
        let id = ExecutionId::new(self.counts.of_execution_uuid(uuid).index, uuid);
        let decided = submit::create(command, id, Known::default(), &Context::engine(self.now())).unwrap();
        self.land(&Snapshot::empty(id.partition(), self.now()), decided).await;
        id
    }

    /// Takes the best execution of the default lane.
    pub(crate) async fn claim(&self) -> (ExecutionId, Fence) {
        let execution = self.reserve(HandOut::Lease).await;
        let attempt = execution.attempt.as_ref().unwrap().id;
        let fence = execution.lease().unwrap().fence(attempt);
        let renew = Renew {
            fence: Some(fence),
            ttl: None,
            doing: Vec::new(),
        };
        self.decide(execution.id, |execution, context| {
            lease::renew(execution, &renew, context)
        })
        .await;
        (execution.id, fence)
    }

    /// Reserves the best execution of the default lane without leasing it.
    pub(crate) async fn grant(&self) -> ExecutionId {
        self.reserve(HandOut::Grant).await.id
    }

    async fn reserve(&self, mode: HandOut) -> Execution {
        let ask = Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode,
            claimants: vec![Claimant {
                worker: "worker".parse().unwrap(),
                instance: "worker-1".parse().unwrap(),
                grant_id: GrantId::from_uuid(self.mint()),
                lease_id: LeaseId::from_uuid(self.mint()),
                attempt_id: AttemptId::from_uuid(self.mint()),
                lease_ttl: Duration::from_hours(1),
                grant_ttl: Duration::from_secs(5),
            }],
            tag: Tag(u64::try_from(self.mint().as_u128()).unwrap()),
        };
        self.backend.reserve(ask).await.unwrap().tasks.remove(0).execution
    }

    pub(crate) async fn complete(&self, id: ExecutionId, fence: Fence, result: Option<&str>) {
        let command = Complete {
            fence: Some(fence),
            result: result.map(|text| Payload::binary(text.to_owned())),
            ..Complete::default()
        };
        self.decide(id, |execution, context| lease::complete(execution, &command, context))
            .await;
    }

    pub(crate) async fn fail(&self, id: ExecutionId, fence: Fence) {
        let command = Fail {
            fence: Some(fence),
            reason: "no luck".to_owned(),
            category: Category::parse("transient").unwrap(),
            retry_after: None,
            steps: Vec::new(),
        };
        self.decide(id, |execution, context| fail::fail(execution, &command, context))
            .await;
    }

    pub(crate) async fn cancel(&self, id: ExecutionId) {
        let command = CancelExecution {
            reason: "enough".to_owned(),
            fence: None,
        };
        self.decide(id, |execution, context| operator::cancel(execution, &command, context))
            .await;
    }

    pub(crate) async fn hold(&self, id: ExecutionId, reason: &str) {
        let command = HoldExecution {
            reason: Some(reason.to_owned()),
        };
        self.decide(id, |execution, context| operator::hold(execution, &command, context))
            .await;
    }

    /// Suspends until a signal named `go` comes to its one waitpoint, which is answered.
    pub(crate) async fn suspend(&self, id: ExecutionId, fence: Fence, how: How) -> WaitpointId {
        let waitpoint_id = WaitpointId::from_uuid(self.mint());
        let command = Suspend {
            fence: Some(fence),
            waitpoints: vec![WaitpointChoice::Fresh {
                waitpoint_key: "door".parse().unwrap(),
                waitpoint_id: Some(waitpoint_id),
            }],
            resume_condition: ResumeCondition::Single {
                waitpoint_key: "door".parse().unwrap(),
                matcher: how.matcher,
            },
            reason_code: how.reason_code,
            timeout_at: how.timeout_at,
            timeout_behavior: Some(TimeoutBehavior::Escalate),
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        };
        self.decide(id, |execution, context| {
            suspend::suspend(execution, &command, Early::default(), context)
        })
        .await;
        waitpoint_id
    }

    /// Submits, claims and suspends one execution.
    pub(crate) async fn suspended(&self, how: How) -> (ExecutionId, WaitpointId) {
        self.submit(&submission()).await;
        let (id, fence) = self.claim().await;
        (id, self.suspend(id, fence, how).await)
    }

    pub(crate) async fn append(&self, id: ExecutionId, fence: Fence, text: &str) -> FrameId {
        let execution = self.stored(id).await;
        let frame = NewFrame {
            frame_type: FrameType::parse("text").unwrap(),
            payload: Payload::binary(text.to_owned()),
            correlation_id: None,
            mode: Keep::Durable,
            key: None,
        };
        let appended = self.backend.append(vec![Append::to(&execution, fence, frame)]).await;
        appended.into_iter().next().unwrap().unwrap().frame_id
    }

    pub(crate) async fn create_flow(&self, assembly: Assembly) -> FlowId {
        let id = FlowId::from_uuid(self.mint());
        let command = CreateFlow {
            namespace: Namespace::default_namespace(),
            flow_kind: FlowKind::parse("graph").unwrap(),
            tags: Tags::new(),
            retention: None,
            assembly,
        };
        let decided = flow::create(None, id, &command, &Context::engine(self.now())).unwrap();
        self.land(&Snapshot::empty(self.counts.of_flow(id), self.now()), decided)
            .await;
        id
    }

    pub(crate) async fn submit_member(&self, flow_id: FlowId, upstreams: &[ExecutionId]) -> ExecutionId {
        let partition = self.counts.of_flow(flow_id);
        let id = ExecutionId::new(partition.index, self.mint());
        let depends_on: Vec<DependsOn> = upstreams
            .iter()
            .map(|upstream| DependsOn {
                edge_id: None,
                upstream: *upstream,
                dependency_kind: Default::default(),
                data_passing_ref: None,
            })
            .collect();
        let command = CreateExecution {
            flow_id: Some(flow_id),
            depends_on: depends_on.clone(),
            ..submission()
        };
        let context = Context::engine(self.now());
        let snapshot = self.load_flow(partition, flow_id, upstreams).await;
        let mut decided = submit::create(&command, id, Known::default(), &context).unwrap();
        let found: Vec<&Execution> = upstreams
            .iter()
            .filter_map(|id| snapshot.execution(&RecordKey::Execution(*id)))
            .collect();
        let counts = counted(&snapshot, flow_id);
        let membership = Membership {
            flow: loaded(&snapshot, flow_id, &counts),
            depends_on: &depends_on,
            upstreams: &found,
        };
        member::join(&mut decided.draft, id, membership, &context).unwrap();
        self.land(&snapshot, decided).await;
        id
    }

    pub(crate) async fn cancel_flow(&self, flow_id: FlowId) {
        let snapshot = self.load_flow(self.counts.of_flow(flow_id), flow_id, &[]).await;
        let command = CancelFlow {
            reason: "enough".to_owned(),
            policy: CancelFlowPolicy::CancelAll,
            wait: Duration::ZERO,
        };
        let context = Context::engine(self.now());
        let counts = counted(&snapshot, flow_id);
        let decided = flow::cancel(loaded(&snapshot, flow_id, &counts), &command, &context).unwrap();
        self.land(&snapshot, decided).await;
    }

    async fn load_flow(&self, partition: Partition, flow_id: FlowId, members: &[ExecutionId]) -> Snapshot {
        let mut keys = vec![RecordKey::Flow(flow_id), RecordKey::Gate(flow_id)];
        keys.extend(members.iter().map(|id| RecordKey::Execution(*id)));
        let counters = FlowCounter::all().map(|counter| CounterKey::Flow(flow_id, counter));
        self.load(Load::records(partition, keys).with_counters(counters)).await
    }

    /// Registers a worker process of the default lane.
    pub(crate) async fn register(&self, instance: &str, capabilities: &[&str]) -> Worker {
        self.engine
            .register_worker(registration(instance, 1, capabilities))
            .await
            .unwrap()
    }
}

fn counted(snapshot: &Snapshot, flow_id: FlowId) -> flow::Counts {
    flow::Counts::read(|counter| snapshot.counter(CounterKey::Flow(flow_id, counter)))
}

fn loaded<'s>(snapshot: &'s Snapshot, flow_id: FlowId, counts: &'s flow::Counts) -> flow::Loaded<'s> {
    flow::Loaded {
        flow: snapshot.flow(&RecordKey::Flow(flow_id)).unwrap(),
        gate: snapshot.gate(&RecordKey::Gate(flow_id)).unwrap().state,
        counts,
    }
}

/// How an execution suspends.
pub(crate) struct How {
    pub(crate) matcher: Matcher,
    pub(crate) reason_code: ReasonCode,
    pub(crate) timeout_at: Option<Timestamp>,
}

impl How {
    pub(crate) fn waiting_for(reason_code: ReasonCode) -> Self {
        Self {
            matcher: Matcher::ByName("go".parse().unwrap()),
            reason_code,
            timeout_at: None,
        }
    }
}

pub(crate) fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("kind").unwrap(), Payload::binary("input"))
}

pub(crate) fn submission_in(namespace: &str) -> CreateExecution {
    CreateExecution {
        namespace: namespace.parse().unwrap(),
        ..submission()
    }
}

pub(crate) fn registration(instance: &str, incarnation: u128, capabilities: &[&str]) -> RegisterWorker {
    RegisterWorker {
        namespace: Namespace::default_namespace(),
        worker: "worker".parse().unwrap(),
        instance: instance.parse().unwrap(),
        incarnation: Incarnation(Uuid::from_u128(incarnation)),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::parse(capabilities).unwrap(),
        ttl: None,
        load: Default::default(),
    }
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(answer: Result<T, Rejection>) -> Code {
    answer.unwrap_err().code
}

/// Lets a call run until it waits for something that has not happened.
pub(crate) async fn parks<F: Future + Unpin>(call: &mut F) -> bool {
    for _ in 0..50 {
        if futures::poll!(pin!(&mut *call)).is_ready() {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

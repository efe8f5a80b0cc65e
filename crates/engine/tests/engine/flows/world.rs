//! A flow on an engine over the memory backend, with a worker that runs what the test says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ff_backend::memory::MemoryBackend;
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::flow::{
    Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphCreated, GraphEdge, GraphMember, ReplayExecution, Replayed,
};
use ff_core::command::lease::{Complete, Fail, LetGo, Release, Renew};
use ff_core::command::page::PageRequest;
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{Category, ExecutionKind, LaneId, Namespace};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, Tags};
use ff_core::state::PublicState;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::FlowView;
use ff_engine::{Config, Engine, VirtualHost};
use uuid::Uuid;

use super::shaky::Shaky;

/// The flow of the test.
pub(crate) const FLOW: FlowId = FlowId::from_uuid(Uuid::from_u128(0xf10));

/// One store, one process and one worker.
pub(crate) struct World {
    backend: Arc<MemoryBackend>,
    pub(crate) line: Arc<Shaky>,
    host: Arc<VirtualHost>,
    pub(crate) engine: Engine,
    running: Mutex<BTreeMap<ExecutionId, Task>>,
}

/// A graph before it is created.
#[derive(Clone, Default)]
pub(crate) struct Sketch {
    members: Vec<GraphMember>,
    edges: Vec<GraphEdge>,
}

impl Sketch {
    /// Adds a member that waits for all of `upstreams`.
    pub(crate) fn member(self, key: &str, upstreams: &[&str]) -> Self {
        self.joining(key, upstreams, EdgeGroupPolicy::AllOf)
    }

    /// Adds a member that waits for `upstreams` as `policy` says.
    pub(crate) fn joining(mut self, key: &str, upstreams: &[&str], policy: EdgeGroupPolicy) -> Self {
        let submission = CreateExecution {
            edge_group_policy: Some(policy),
            ..submission()
        };
        self.members.push(GraphMember {
            key: key.to_owned(),
            submission,
        });
        self.edges.extend(upstreams.iter().map(|upstream| edge(upstream, key)));
        self
    }

    /// Changes the last member.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut CreateExecution)) -> Self {
        change(&mut self.members.last_mut().unwrap().submission);
        self
    }

    /// The command that creates it.
    pub(crate) fn command(self, open: bool) -> FlowGraph {
        FlowGraph {
            flow: CreateFlowWith {
                flow_id: Some(FLOW),
                definition: definition(Assembly::Assembling),
            },
            members: self.members,
            edges: self.edges,
            open,
        }
    }
}

pub(crate) fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("step").unwrap(), Payload::binary("input"))
}

pub(crate) fn definition(assembly: Assembly) -> CreateFlow {
    CreateFlow {
        namespace: Namespace::default_namespace(),
        flow_kind: "graph".parse().unwrap(),
        tags: Tags::new(),
        retention: None,
        assembly,
    }
}

fn edge(upstream: &str, downstream: &str) -> GraphEdge {
    GraphEdge {
        upstream: upstream.to_owned(),
        downstream: downstream.to_owned(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let counts = PartitionCounts::new(4, 2, 2).unwrap();
        let backend = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_000_000), counts));
        let line = Arc::new(Shaky::new(Arc::clone(&backend)));
        let host = Arc::new(VirtualHost::new(7));
        let engine = Engine::new(Arc::clone(&line) as _, Arc::clone(&host) as _, Config::new(counts));
        Self {
            backend,
            line,
            host,
            engine,
            running: Mutex::default(),
        }
    }

    /// Another process over the same store; this one's memory is gone.
    pub(crate) fn restart(&mut self) {
        let counts = PartitionCounts::new(4, 2, 2).unwrap();
        self.engine = Engine::new(
            Arc::clone(&self.line) as _,
            Arc::clone(&self.host) as _,
            Config::new(counts),
        );
    }

    /// The store as it is now.
    pub(crate) fn kept(&self) -> MemoryBackend {
        self.backend.fork()
    }

    /// The store forgets what was written since it was like this.
    pub(crate) fn fail_over(&self, kept: &MemoryBackend) {
        self.backend.restore(kept);
    }

    /// A second process beside this one.
    pub(crate) fn replica(&self, seed: u64) -> Engine {
        let counts = PartitionCounts::new(4, 2, 2).unwrap();
        Engine::new(
            Arc::clone(&self.backend) as _,
            Arc::new(VirtualHost::new(seed)),
            Config::new(counts),
        )
    }

    /// A world with this graph in it, open.
    pub(crate) async fn with(sketch: Sketch) -> (Self, BTreeMap<String, ExecutionId>) {
        let world = Self::new();
        let ids = world.create(sketch).await;
        (world, ids)
    }

    /// Creates and opens a graph, and lets its members go.
    pub(crate) async fn create(&self, sketch: Sketch) -> BTreeMap<String, ExecutionId> {
        let keys: Vec<_> = sketch.members.iter().map(|member| member.key.clone()).collect();
        let created = self.build(sketch.command(true)).await.unwrap();
        self.settle().await;
        keys.into_iter().zip(created.execution_ids).collect()
    }

    pub(crate) async fn build(&self, command: FlowGraph) -> Result<GraphCreated> {
        self.engine.create_flow_graph(command).await
    }

    /// Lets the pump do everything there is to do now.
    pub(crate) async fn settle(&self) {
        for _ in 0..10_000 {
            if self.engine.pump_pass().await.unwrap() > 0 {
                continue;
            }
            if self.engine.postponed() == 0 {
                return;
            }
            // Something was in the way of something else: a moment later it is not.
            self.backend.advance(Duration::from_secs(2));
            self.host.advance(std::time::Duration::from_secs(2));
        }
        panic!("there is always more to do");
    }

    /// Lets time pass, in which nothing is done.
    pub(crate) fn pass(&self, by: Duration) {
        self.backend.advance(by);
        self.host.advance(std::time::Duration::from_millis(by.as_millis()));
    }

    /// Lets time pass.
    pub(crate) async fn advance(&self, by: Duration) {
        self.pass(by);
        self.settle().await;
    }

    /// The worker takes everything it can get.
    pub(crate) async fn claim(&self) -> Vec<ExecutionId> {
        let claim = Claim {
            namespace: Namespace::default_namespace(),
            worker: "worker".parse().unwrap(),
            instance: "worker-1".parse().unwrap(),
            incarnation: None,
            want: Want {
                lanes: vec![LaneId::default_lane()],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max: 200,
                lease_ttl: Some(Duration::from_hours(1)),
            },
            wait: Duration::ZERO,
        };
        let tasks = self.engine.claim(claim).await.unwrap();
        let mut ids = Vec::new();
        for task in tasks {
            let id = task.execution_id;
            let renew = Renew {
                fence: Some(task.fence),
                ttl: None,
                doing: Vec::new(),
            };
            self.engine.renew(On::new(id, renew)).await.unwrap();
            self.running.lock().unwrap().insert(id, task);
            ids.push(id);
        }
        ids
    }

    async fn task(&self, id: ExecutionId) -> Task {
        if !self.running.lock().unwrap().contains_key(&id) {
            self.claim().await;
        }
        let task = self.running.lock().unwrap().remove(&id);
        task.unwrap_or_else(|| panic!("{id} cannot be claimed"))
    }

    /// Runs a member to a good end, and lets happen what follows.
    pub(crate) async fn complete(&self, id: ExecutionId) {
        self.finish(id).await;
        self.settle().await;
    }

    /// Runs a member to a good end; the pump has not seen it yet.
    pub(crate) async fn finish(&self, id: ExecutionId) {
        let task = self.task(id).await;
        let command = Complete {
            fence: Some(task.fence),
            result: None,
            ..Complete::default()
        };
        self.engine.complete(On::new(id, command)).await.unwrap();
    }

    /// The worker gives a member back.
    pub(crate) async fn release(&self, id: ExecutionId) -> LetGo {
        let task = self.task(id).await;
        let command = Release {
            fence: Some(task.fence),
            ..Release::default()
        };
        self.engine.release(On::new(id, command)).await.unwrap()
    }

    /// Runs a member to a bad end, and lets happen what follows.
    pub(crate) async fn fail(&self, id: ExecutionId) {
        self.fail_with(id, Category::permanent()).await;
    }

    pub(crate) async fn fail_with(&self, id: ExecutionId, category: Category) {
        let task = self.task(id).await;
        let command = Fail {
            fence: Some(task.fence),
            reason: "broken".to_owned(),
            category,
            retry_after: None,
            steps: Vec::new(),
        };
        self.engine.fail(On::new(id, command)).await.unwrap();
        self.settle().await;
    }

    pub(crate) async fn replay(&self, id: ExecutionId) -> Replayed {
        let replayed = self
            .engine
            .replay_execution(On::new(id, ReplayExecution::default()))
            .await;
        self.settle().await;
        replayed.unwrap()
    }

    pub(crate) async fn state(&self, id: ExecutionId) -> PublicState {
        self.engine.get_state(id).await.unwrap().public_state
    }

    pub(crate) async fn flow(&self) -> FlowView {
        self.engine.get_flow(FLOW).await.unwrap()
    }

    /// Compares the counters of the flow with its members.
    pub(crate) async fn assert_counted(&self) {
        let mut states: BTreeMap<PublicState, u64> = BTreeMap::new();
        let mut page = PageRequest {
            limit: Some(1_000),
            ..PageRequest::default()
        };
        loop {
            let members = self.engine.list_members(On::new(FLOW, page.clone())).await.unwrap();
            for member in members.items {
                *states.entry(member.state.public_state).or_default() += 1;
            }
            page.cursor = members.next;
            if page.cursor.is_none() {
                break;
            }
        }
        let counts = self.flow().await.counts;
        assert_eq!(counts.states, states);
        assert_eq!(counts.members, states.values().sum::<u64>());
    }
}

/// The code of a refusal.
pub(crate) fn code<T: std::fmt::Debug>(answer: std::result::Result<T, Rejection>) -> Code {
    answer.unwrap_err().code
}

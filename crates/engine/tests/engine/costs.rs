//! What things cost in calls to the store, counted: it must not grow with what is stored or waits, and only linearly with
//! what is done. On one thread, because then callers that come together always share a call, however fast the store is.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::counted::Counted;
use ff_backend::memory::MemoryBackend;
use ff_core::command::budget::{ChargeBudget, CreateBudget, ResetBudget};
use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::stream::{AttemptRef, TailStream};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, FlowId};
use ff_core::name::{Dimension, ExecutionKind, FlowKind, Namespace};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{DependencyKind, Happening, Limits, OnHardLimit};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{EventsFrom, FlowGraphView, ListGraphMembers, ReadEvents, WaitForEnd};
use ff_engine::Engine;
use ff_fabric_suite::Harness;
use serde_json::json;

use crate::support::{EngineHarness, START, claim, complete_all};

/// An engine over a store in memory that counts.
struct World {
    harness: EngineHarness,
    counted: Arc<Counted>,
}

impl World {
    fn new() -> Self {
        let memory = Arc::new(MemoryBackend::new(START, PartitionCounts::default()));
        let counted = Arc::new(Counted::weighing(Arc::clone(&memory) as Arc<dyn Backend>));
        let store = Arc::clone(&counted) as Arc<dyn Backend>;
        let harness = EngineHarness::over(store, move |by| memory.advance(by), |_| ());
        Self { harness, counted }
    }

    fn engine(&self) -> &Engine {
        &self.harness.engine
    }

    /// Takes and completes everything there is, in handfuls; how many that were.
    async fn work_off(&self) -> usize {
        let mut done = 0;
        loop {
            let tasks = self.engine().claim(claim(1, 250)).await.unwrap();
            if tasks.is_empty() {
                return done;
            }
            done += tasks.len();
            complete_all(self.engine(), &tasks).await;
            self.harness.settle().await;
        }
    }
}

fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
}

fn flow() -> CreateFlowWith {
    CreateFlowWith {
        flow_id: Some(FlowId::from_uuid(uuid::Uuid::from_u128(77))),
        definition: CreateFlow {
            namespace: Namespace::default_namespace(),
            flow_kind: FlowKind::parse("wide").unwrap(),
            tags: BTreeMap::new(),
            retention: None,
            assembly: Assembly::Assembling,
        },
    }
}

fn member(key: String) -> GraphMember {
    GraphMember {
        key,
        submission: submission(),
    }
}

fn edge(upstream: String, downstream: String) -> GraphEdge {
    GraphEdge {
        upstream,
        downstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }
}

/// A source, `n` members that wait for it, and a sink that waits for all of them.
async fn build(world: &World, n: usize) {
    let part = |members, edges, open| FlowGraph {
        flow: flow(),
        members,
        edges,
        open,
    };
    let send = |graph| async { world.engine().create_flow_graph(graph).await.unwrap() };
    send(part(vec![member("source".to_owned())], Vec::new(), false)).await;
    let names: Vec<String> = (0..n).map(|number| format!("m{number}")).collect();
    for names in names.chunks(1_000) {
        let members = names.iter().cloned().map(member).collect();
        let edges = names
            .iter()
            .map(|name| edge("source".to_owned(), name.clone()))
            .collect();
        send(part(members, edges, false)).await;
    }
    let edges = names.iter().map(|name| edge(name.clone(), "sink".to_owned())).collect();
    send(part(vec![member("sink".to_owned())], edges, true)).await;
    world.harness.settle().await;
}

/// Calls and bytes per member to build and run a diamond of `n`.
async fn diamond(n: usize) -> (f64, f64) {
    let world = World::new();
    build(&world, n).await;
    assert_eq!(world.work_off().await, n + 2);
    let view = world.engine().get_flow(flow().flow_id.unwrap()).await.unwrap();
    assert_eq!(view.counts.of(PublicState::Completed), n as u64 + 2);
    let per_member = |total: u64| total as f64 / n as f64;
    (per_member(world.counted.calls()), per_member(world.counted.bytes()))
}

#[tokio::test]
async fn ten_thousand_children_and_ten_thousand_parents_cost_what_each_of_a_thousand_does() {
    let (few_calls, few_bytes) = diamond(1_000).await;
    let (calls, bytes) = diamond(10_000).await;
    println!(
        "per member: {few_calls:.2} calls, {few_bytes:.0} bytes of 1,000; {calls:.2} calls, {bytes:.0} bytes of 10,000"
    );
    assert!(calls < 3.0, "{calls:.2} calls per member");
    assert!(
        calls < few_calls * 1.2,
        "{few_calls:.2} calls per member of 1,000, {calls:.2} of 10,000"
    );
    assert!(
        bytes < few_bytes * 1.2,
        "{few_bytes:.0} bytes per member of 1,000, {bytes:.0} of 10,000"
    );
}

#[tokio::test]
async fn a_node_of_a_chain_costs_its_claim_and_its_end() {
    const NODES: usize = 30;
    let world = World::new();
    // The lane is known, and the time.
    world.engine().create_execution(submission()).await.unwrap();
    assert_eq!(world.work_off().await, 1);
    let names: Vec<String> = (0..NODES).map(|number| number.to_string()).collect();
    let chain = FlowGraph {
        flow: flow(),
        members: names.iter().cloned().map(member).collect(),
        edges: names
            .windows(2)
            .map(|pair| edge(pair[0].clone(), pair[1].clone()))
            .collect(),
        open: true,
    };
    let before = world.counted.calls();
    world.engine().create_flow_graph(chain).await.unwrap();
    for _ in 0..NODES {
        let tasks = world.engine().claim(claim(1, 250)).await.unwrap();
        assert_eq!(tasks.len(), 1);
        complete_all(world.engine(), &tasks).await;
    }
    let per_node = (world.counted.calls() - before) as f64 / NODES as f64;
    println!("{per_node:.2} calls per node of a chain");
    assert!(per_node < 2.1, "{per_node:.2} calls per node");
    world.harness.settle().await;
    let view = world.engine().get_flow(flow().flow_id.unwrap()).await.unwrap();
    assert_eq!(view.counts.of(PublicState::Completed), NODES as u64);
}

/// The calls of reading the graph of a diamond of `n`, for the first time and again, and of naming the members of a class.
async fn graph_read(n: usize) -> ([u64; 3], FlowGraphView) {
    let world = World::new();
    build(&world, n).await;
    let id = flow().flow_id.unwrap();
    let mut costs = [0; 3];
    let mut shown = None;
    for cost in &mut costs[..2] {
        let before = world.counted.calls();
        shown = Some(world.engine().get_flow_graph(id).await.unwrap());
        *cost = world.counted.calls() - before;
    }
    let shown = shown.unwrap();
    let before = world.counted.calls();
    let ask = ListGraphMembers {
        class: 1,
        from: n - 10,
        limit: Some(1_000),
    };
    let named = world.engine().list_graph_members(On::new(id, ask)).await.unwrap();
    costs[2] = world.counted.calls() - before;
    assert_eq!((named.count, named.ids.len()), (n, 10));
    (costs, shown)
}

#[tokio::test]
async fn a_graph_costs_a_call_for_every_thousand_members_and_edges() {
    let (few, view) = graph_read(1_998).await;
    assert_eq!(view.members, 2_000);
    assert_eq!(view.ids.map(|ids| ids.len()), Some(2_000));
    let (many, view) = graph_read(9_998).await;
    assert_eq!((view.members, view.ids, view.edges), (10_000, None, None));
    assert_eq!(view.classes.len(), 3);
    println!("calls to read a graph, again, and to name ten members: {few:?} of 2,000 and {many:?} of 10,000");
    // Two pages of members and four of edges, for each thousand members one more of the first and two of the second.
    assert!(few[0] <= 14 && few[1] <= 5 && few[2] == 1, "{few:?}");
    assert!(many[0] <= 50 && many[1] <= 13 && many[2] == 1, "{many:?}");
}

async fn closed_budget(engine: &Engine) -> BudgetId {
    let limits = Limits {
        soft: None,
        hard: Some(10),
    };
    let command = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "all of it".to_owned(),
        dimensions: [(Dimension::parse("tokens").unwrap(), limits)].into(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    let budget = engine.create_budget(command).await.unwrap().budget_id;
    let charge = ChargeBudget {
        deltas: [(Dimension::parse("tokens").unwrap(), 10)].into(),
        dedup_key: None,
        request_id: None,
    };
    engine.charge_budget(On::new(budget, charge)).await.unwrap();
    budget
}

/// The calls of a claim and of a pump pass with `n` executions blocked on one budget, and what their release cost.
async fn blocked(n: usize) -> (u64, u64, f64) {
    let world = World::new();
    let budget = closed_budget(world.engine()).await;
    let limited = CreateExecution {
        policy: Policy::from_json(&json!({ "budget_ids": [budget] })).unwrap(),
        ..submission()
    };
    for batch in vec![limited; n].chunks(1_000) {
        for created in world.engine().create_executions(batch.to_vec()).await.unwrap() {
            created.unwrap();
        }
    }
    assert!(world.engine().claim(claim(1, 10)).await.unwrap().is_empty());
    world.harness.advance(Duration::from_secs(3)).await;

    let before = world.counted.calls();
    assert!(world.engine().claim(claim(1, 10)).await.unwrap().is_empty());
    let claiming = world.counted.calls() - before;
    let before = world.counted.calls();
    world.engine().pump_pass().await.unwrap();
    let pumping = world.counted.calls() - before;

    let before = world.counted.calls();
    world
        .engine()
        .reset_budget(On::new(budget, ResetBudget::default()))
        .await
        .unwrap();
    world.harness.settle().await;
    let releasing = (world.counted.calls() - before) as f64 / (n as f64 / 64.0);
    let view = world.engine().list_lanes(list_of()).await.unwrap();
    assert_eq!(
        view.items[0].depth[&PublicState::Waiting],
        n as u64,
        "all of them wait for a worker again"
    );
    for task in world.engine().claim(claim(1, 250)).await.unwrap() {
        let history = On::new(task.execution_id, PageRequest::default());
        let lines = world.engine().get_history(history).await.unwrap().items;
        let blocks = lines.iter().filter(|line| line.what == Happening::Blocked).count();
        assert_eq!(blocks, 1, "blocked once, released once, and handed out");
    }
    (claiming, pumping, releasing)
}

fn list_of() -> ListOf {
    ListOf {
        namespace: Namespace::default_namespace(),
        page: PageRequest::default(),
    }
}

#[tokio::test]
async fn fifty_thousand_blocked_on_one_budget_cost_no_more_than_five_hundred() {
    let (few_claiming, few_pumping, _) = blocked(500).await;
    let (claiming, pumping, releasing) = blocked(50_000).await;
    println!(
        "claim {few_claiming} calls with 500, {claiming} with 50,000; pump {few_pumping} and {pumping}; {releasing:.2} calls per 64 released"
    );
    assert!(
        claiming <= few_claiming.max(2),
        "{few_claiming} calls with 500, {claiming} with 50,000"
    );
    assert!(
        pumping <= few_pumping.max(2),
        "{few_pumping} calls with 500, {pumping} with 50,000"
    );
    assert!(releasing < 5.0, "{releasing:.2} calls per 64 released");
}

/// Calls for `readers` of events who wait together, until each of them has seen `n` things happen.
async fn waiting_readers(readers: usize, n: usize) -> u64 {
    let world = World::new();
    world.engine().create_execution(submission()).await.unwrap();
    let request = |cursor: Option<SignedCursor>| ReadEvents {
        from: cursor.is_none().then_some(EventsFrom::Now),
        cursor,
        limit: Some(1),
        wait: Duration::from_secs(30),
        ..ReadEvents::default()
    };
    let fabric = world.harness.fabric();
    let follow = |_| {
        let fabric = Arc::clone(&fabric);
        tokio::spawn(async move {
            let (mut cursor, mut seen) = (None, 0);
            while seen < n {
                let page = fabric.events(request(cursor)).await.unwrap();
                seen += page.events.len();
                cursor = Some(page.next);
            }
        })
    };
    world.harness.pass(Duration::from_secs(5));
    let before = world.counted.calls();
    let following: Vec<_> = (0..readers).map(follow).collect();
    let mut created = 0;
    while !following.iter().all(tokio::task::JoinHandle::is_finished) {
        if created < n {
            world.engine().create_execution(submission()).await.unwrap();
            created += 1;
        }
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    }
    world.counted.calls() - before
}

#[tokio::test]
async fn two_hundred_readers_of_events_cost_what_one_does() {
    let one = waiting_readers(1, 10).await;
    let many = waiting_readers(200, 10).await;
    println!("{one} calls for one reader of ten events, {many} for two hundred");
    assert!(many <= one + 5, "{one} calls for one, {many} for two hundred");
}

/// Calls in ten minutes for `waiting` who wait for output and ends that do not come, while everything runs in the background.
async fn idle_waiters(waiting: usize) -> u64 {
    let world = World::new();
    let hour = Duration::from_hours(1);
    world.engine().start();
    for _ in 0..waiting {
        let created = world.engine().create_execution(submission()).await.unwrap();
        let (id, engine) = (created.execution_id(), world.engine().clone().waiting_up_to(hour));
        tokio::spawn(async move {
            let end = engine.wait_for_end(On::new(id, WaitForEnd { wait: hour }));
            let attempt = AttemptRef {
                execution_id: id,
                attempt_index: 0,
            };
            let tail = TailStream {
                after: None,
                wait: hour,
                limit: None,
            };
            let ended = futures::join!(end, engine.tail_stream(On::new(attempt, tail)));
            panic!("nothing happens here: {ended:?}");
        });
    }
    // The first sweep wakes everybody once: nothing is known before it.
    let calls_after = async |steps: u32| {
        for _ in 0..steps {
            world.harness.pass(Duration::from_secs(5));
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
        }
        world.counted.calls()
    };
    let before = calls_after(6).await;
    calls_after(120).await - before
}

#[tokio::test]
async fn two_hundred_who_wait_for_nothing_cost_what_one_does() {
    let (none, one, many) = (idle_waiters(0).await, idle_waiters(1).await, idle_waiters(200).await);
    println!("calls in ten minutes: {none} while nobody waits, {one} for one who does, {many} for two hundred");
    // One more in every sweep; and what was counted is kept, once.
    assert!(one <= none + 62, "{none} calls for none, {one} for one");
    assert_eq!(many, one);
}

//! Claims against the cancellation of a flow.

use std::cell::Cell;
use std::collections::BTreeSet;

use ff_core::command::claim::Task;
use ff_core::command::flow::{CancelFlow, CreateFlow, CreateFlowWith, FlowGraph, GraphCreated, GraphMember};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{FlowKind, Namespace};
use ff_core::record::CancelFlowPolicy;
use ff_core::time::Duration;
use ff_core::view::WaitForEnd;
use ff_engine::Engine;
use futures::future::{join, join_all};

use super::pair::{CHANGE, Pair, a_moment, submission, submit, take};
use super::races;
use crate::support::{Luck, claim, complete_all};

/// Members of a flow.
const MEMBERS: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_member_is_claimed_once_the_cancellation_of_its_flow_is_answered() {
    let (pair, mut luck) = (Pair::start().await, Luck(3));
    let mut claimed_before = 0;
    for _ in 0..races() {
        let flow = create(&pair.one).await;
        let is_cancelled = Cell::new(false);
        let cancellation = async {
            a_moment(&mut luck, CHANGE).await;
            cancel(&pair.other, &flow).await;
            is_cancelled.set(true);
            epochs(&pair.other, &flow.execution_ids).await
        };
        let (claimed, at_cancellation) = join(claim_until(&pair.one, &is_cancelled), cancellation).await;
        // Each engine is asked once more, with something that it does find.
        for engine in [&pair.one, &pair.other] {
            let bait = submit(engine).await;
            let tasks = take(engine, 1 + MEMBERS).await;
            assert!(tasks.iter().all(|task| task.execution_id == bait), "{tasks:?}");
            complete_all(engine, &tasks).await;
        }
        wait_for_ends(&pair.one, &flow.execution_ids).await;
        assert_eq!(
            epochs(&pair.one, &flow.execution_ids).await,
            at_cancellation,
            "nothing was leased since"
        );
        let leases: u64 = at_cancellation.iter().sum();
        assert_eq!(
            claimed.len() as u64,
            leases,
            "whoever has a lease was told: {claimed:?}"
        );
        claimed_before += leases;
    }
    println!("{} flows cancelled, {claimed_before} members claimed before", races());
    pair.stop().await;
}

/// What is not known of a gate is not taken for anything: its member waits for whoever is changing it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_meets_a_locked_gate_brings_its_member_once_the_lock_is_gone() {
    let pair = Pair::start().await;
    let flow = create(&pair.one).await;
    let locked = pair.hold("SELECT FROM record WHERE left(key, 5) = 'gate:' FOR UPDATE");
    let claim = async {
        pair.until_held().await;
        take(&pair.one, MEMBERS).await
    };
    let (_, tasks) = join(locked, claim).await;
    let claimed: BTreeSet<ExecutionId> = tasks.iter().map(|task| task.execution_id).collect();
    assert_eq!(claimed, flow.execution_ids.into_iter().collect());
    pair.stop().await;
}

async fn create(engine: &Engine) -> GraphCreated {
    let member = |number: usize| GraphMember {
        key: number.to_string(),
        submission: submission(),
    };
    let definition = CreateFlow {
        namespace: Namespace::default_namespace(),
        flow_kind: FlowKind::parse("raced").unwrap(),
        tags: Default::default(),
        retention: None,
        assembly: Default::default(),
    };
    let graph = FlowGraph {
        flow: CreateFlowWith {
            flow_id: None,
            definition,
        },
        members: (0..MEMBERS).map(member).collect(),
        edges: Vec::new(),
        open: true,
    };
    engine.create_flow_graph(graph).await.unwrap()
}

/// It is answered as soon as the flow is closed; its members follow.
async fn cancel(engine: &Engine, flow: &GraphCreated) {
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::ZERO,
    };
    engine.cancel_flow(On::new(flow.flow_id, cancel)).await.unwrap();
}

/// What is claimed one by one, by calls that began before the cancellation was answered.
async fn claim_until(engine: &Engine, is_cancelled: &Cell<bool>) -> Vec<Task> {
    let mut claimed = Vec::new();
    while !is_cancelled.get() && claimed.len() < MEMBERS {
        claimed.append(&mut engine.claim(claim(1, 1)).await.unwrap());
        tokio::task::yield_now().await;
    }
    claimed
}

/// How often each was leased so far.
async fn epochs(engine: &Engine, ids: &[ExecutionId]) -> Vec<u64> {
    let views = join_all(ids.iter().map(|id| engine.get_execution(*id))).await;
    views.into_iter().map(|view| view.unwrap().lease_epoch).collect()
}

async fn wait_for_ends(engine: &Engine, ids: &[ExecutionId]) {
    let wait = || WaitForEnd {
        wait: Duration::from_secs(30),
    };
    let ends = ids.iter().map(|id| engine.wait_for_end(On::new(*id, wait())));
    for state in join_all(ends).await {
        assert!(state.unwrap().public_state.is_terminal());
    }
}

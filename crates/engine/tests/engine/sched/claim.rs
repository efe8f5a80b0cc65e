//! claim: who gets what, in which order, and with what.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::support::{START, Store, claim, command, counts, creating, lane, want};
use ff_backend::Backend;
use ff_backend::settings::{Expected, SettingsOp};
use ff_core::command::claim::{Claim, LaneOrder, OmittedInput, Task};
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::id::{ExecutionId, FlowId, SignalId, SuspensionId};
use ff_core::machine::{Decided, Draft};
use ff_core::name::{DataRef, FlowKind, Identity, LaneId, Namespace, SignalName};
use ff_core::payload::Payload;
use ff_core::policy::Retention;
use ff_core::record::{
    BlobKey, Dependencies, DependencyKind, Edge, EdgeGroupPolicy, EdgeState, Execution, Flow, Gate, GateState, Lane,
    Outcome, OutcomeKind, Phase, Record, Resumed, ResumedBy, Signal, SignalEffect, Success,
};
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Config, Engine, VirtualHost};
use futures::future::join_all;

fn engine(store: &Arc<Store>) -> Engine {
    Engine::new(
        Arc::clone(store) as _,
        Arc::new(VirtualHost::new(3)),
        Config::new(counts()),
    )
}

fn claim_of(max: usize) -> Claim {
    Claim {
        want: want(max),
        ..claim(1)
    }
}

fn ids(tasks: &[Task]) -> Vec<ExecutionId> {
    tasks.iter().map(|task| task.execution_id).collect()
}

#[tokio::test]
async fn one_task_goes_to_exactly_one_of_many() {
    let store = Store::new();
    let engine = engine(&store);
    let id = store.submit(command()).await;
    let answers = join_all((0..50).map(|number| engine.claim(claim(number)))).await;
    let tasks: Vec<Task> = answers.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(ids(&tasks), [id]);
    assert!(store.calls_of("reserve") <= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_workers_share_the_work_and_nothing_is_handed_out_twice() {
    let store = Store::new();
    let engine = engine(&store);
    let quota = store.quota(Some(1_000), None).await;
    for number in 0..600 {
        let mut command = command();
        command.policy.quota_policy_id = (number % 3 == 0).then_some(quota);
        store.submit(command).await;
    }
    let workers = (0..20).map(|number| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let mut got = Vec::new();
            loop {
                let claim = Claim {
                    want: want(7),
                    ..claim(number)
                };
                let tasks = engine.claim(claim).await.unwrap();
                if tasks.is_empty() {
                    return got;
                }
                got.extend(ids(&tasks));
            }
        })
    });
    let mut got: Vec<ExecutionId> = join_all(workers).await.into_iter().flat_map(Result::unwrap).collect();
    got.sort();
    got.dedup();
    assert_eq!(got.len(), 600);
    assert_eq!(store.quota_view(quota).await.in_use, 200);
}

#[tokio::test]
async fn the_best_come_first() {
    let store = Store::new();
    let engine = engine(&store);
    let mut expected = Vec::new();
    for priority in [1, 9, 5] {
        let mut command = command();
        command.priority = priority;
        expected.push((9 - priority, store.submit(command).await));
    }
    expected.sort();
    let expected: Vec<ExecutionId> = expected.into_iter().map(|(_, id)| id).collect();
    let tasks = engine.claim(claim_of(10)).await.unwrap();
    assert_eq!(ids(&tasks), expected);
    let held = store.execution(expected[0]).await;
    let lease = held.lease().unwrap();
    assert_eq!(tasks[0].fence, lease.fence(held.attempt.as_ref().unwrap().id));
    // Until its first renewal the lease is short: the reply may get lost.
    assert_eq!(tasks[0].expires_at, START + Duration::from_secs(10));
    assert_eq!(tasks[0].input, Payload::binary("input"));
}

#[tokio::test]
async fn a_large_claim_is_served_in_few_calls() {
    let store = Store::new();
    let engine = engine(&store);
    for _ in 0..300 {
        store.submit(command()).await;
    }
    assert_eq!(engine.claim(claim_of(1_000)).await.unwrap().len(), 256);
    assert_eq!(store.calls_of("reserve"), 2);
    assert_eq!(engine.claim(claim_of(1_000)).await.unwrap().len(), 44);
}

#[tokio::test]
async fn large_inputs_are_handed_out_over_several_claims_and_all_of_them() {
    let store = Store::new();
    let engine = engine(&store);
    for _ in 0..6 {
        let mut large = command();
        large.input = Payload::binary(vec![0; 1024 * 1024]);
        store.submit(large).await;
    }
    let first = engine.claim(claim_of(6)).await.unwrap().len();
    assert!((1..6).contains(&first), "{first} at once");
    assert_eq!(engine.claim(claim_of(6)).await.unwrap().len(), 6 - first);
}

#[tokio::test]
async fn somebody_elses_large_input_leaves_nobody_with_nothing() {
    let store = Store::new();
    let engine = engine(&store);
    for _ in 0..6 {
        let mut large = command();
        large.input = Payload::binary(vec![0; 1024 * 1024]);
        store.submit(large).await;
    }
    let answers = join_all((0..6).map(|number| engine.claim(claim(number)))).await;
    assert!(answers.into_iter().all(|tasks| tasks.unwrap().len() == 1));
}

#[tokio::test]
async fn lanes_take_turns_unless_the_order_is_strict() {
    for (order, second) in [(LaneOrder::RoundRobin, "two"), (LaneOrder::Strict, "one")] {
        let store = Store::new();
        let engine = engine(&store);
        for name in ["one", "two", "one", "two"] {
            let mut command = command();
            command.lane_id = lane(name);
            store.submit(command).await;
        }
        let mut command = claim(1);
        command.want.lanes = vec![lane("one"), lane("two")];
        command.want.lane_order = order;
        assert_eq!(engine.claim(command.clone()).await.unwrap()[0].lane, lane("one"));
        assert_eq!(engine.claim(command).await.unwrap()[0].lane, lane(second));
    }
}

#[tokio::test]
async fn a_paused_lane_hands_out_nothing() {
    let store = Store::new();
    let engine = engine(&store);
    let id = store.submit(command()).await;
    set_lane(&store, LaneState::Paused).await;
    assert_eq!(engine.claim(claim(1)).await.unwrap(), []);
    assert_eq!(store.calls_of("reserve"), 0);
    assert!(store.execution(id).await.runnable().is_some());
}

async fn set_lane(store: &Store, state: LaneState) {
    let record = Lane {
        namespace: Namespace::default_namespace(),
        lane: LaneId::default_lane(),
        state,
        created_at: START,
        updated_at: START,
        carried: Default::default(),
    };
    let put = SettingsOp::Put {
        key: "lane/default/default".to_owned(),
        value: serde_json::to_value(record).ok(),
        expected: Expected::Anything,
        ttl: None,
    };
    store.inner.settings(vec![put]).await.expect("an answer");
}

#[tokio::test]
async fn claims_outside_the_limits_are_refused_before_anything_is_asked() {
    let store = Store::new();
    let engine = engine(&store);
    let with = |change: &dyn Fn(&mut Claim)| {
        let mut command = claim(1);
        change(&mut command);
        command
    };
    let refused = [
        with(&|claim| claim.want.max = 0),
        with(&|claim| claim.want.max = 1_001),
        with(&|claim| claim.want.lanes.clear()),
        with(&|claim| claim.want.lanes = vec![lane("x"); 1_001]),
        with(&|claim| claim.want.lease_ttl = Some(Duration::from_millis(999))),
        with(&|claim| claim.wait = Duration::from_millis(30_001)),
    ];
    for command in refused {
        assert_eq!(engine.claim(command).await.unwrap_err().code, Code::InvalidInput);
    }
    assert_eq!(store.calls(), 0);
}

#[tokio::test]
async fn a_caller_bound_to_a_namespace_claims_only_there() {
    let store = Store::new();
    let caller = ff_core::caller::Caller {
        namespace: Some(Namespace::parse("elsewhere").expect("a name")),
        ..ff_core::caller::Caller::local()
    };
    let engine = engine(&store).acting_as(caller);
    store.submit(command()).await;
    assert_eq!(engine.claim(claim(1)).await.unwrap_err().code, Code::Forbidden);
}

#[tokio::test]
async fn a_member_of_a_cancelled_flow_is_cancelled_instead_of_handed_out() {
    let store = Store::new();
    let engine = engine(&store);
    let flow = FlowId::from_uuid(store.mint());
    let partition = counts().of_flow(flow);
    store
        .write(partition, creating(flow_records(flow, GateState::Cancelled)))
        .await;
    let mut member = command();
    member.flow_id = Some(flow);
    let member = store
        .submit_as(ExecutionId::new(partition.index, store.mint()), member)
        .await;
    let free = store.submit(command()).await;
    assert_eq!(ids(&engine.claim(claim(1)).await.unwrap()), [free]);
    let outcome = store.execution(member).await.outcome().unwrap().kind;
    assert_eq!(outcome, OutcomeKind::Cancelled);
}

#[tokio::test]
async fn a_task_carries_the_results_of_its_upstreams() {
    let store = Store::new();
    let engine = engine(&store);
    let flow = FlowId::from_uuid(store.mint());
    let partition = counts().of_flow(flow);
    store
        .write(partition, creating(flow_records(flow, GateState::Open)))
        .await;
    let member = || ExecutionId::new(partition.index, store.mint());
    let (small, failed, large, larger, child) = (member(), member(), member(), member(), member());
    for (id, kind, bytes) in [
        (small, OutcomeKind::Success, Some(5)),
        (failed, OutcomeKind::Failed, None),
        (large, OutcomeKind::Success, Some(8 * 1024 * 1024 - 5)),
        (larger, OutcomeKind::Success, Some(8 * 1024 * 1024)),
    ] {
        ended_member(&store, id, flow, kind, bytes).await;
    }
    let edges = [(small, "a"), (failed, "b"), (large, "c"), (larger, "d")];
    let edges = edges.map(|(upstream, name)| Record::from(edge(&store, flow, (upstream, child), name)));
    store.write(partition, creating(edges)).await;
    let mut command = command();
    command.flow_id = Some(flow);
    store.submit_as(child, command).await;
    rewrite(&store, child, |execution| {
        execution.dependencies = Some(Dependencies {
            policy: EdgeGroupPolicy::AllOf,
            fixed: true,
            waiting: false,
            unsatisfied: 0,
            no_results: false,
        });
    })
    .await;
    let tasks = engine.claim(claim(1)).await.unwrap();
    let sizes: BTreeMap<&str, usize> = tasks[0]
        .inputs
        .iter()
        .map(|(name, payload)| (name.as_str(), payload.len()))
        .collect();
    assert_eq!(sizes, BTreeMap::from([("a", 5), ("c", 8 * 1024 * 1024 - 5)]));
    let omitted = OmittedInput {
        name: DataRef::parse("d").unwrap(),
        execution_id: larger,
    };
    assert_eq!(tasks[0].inputs_omitted, [omitted]);
}

#[tokio::test]
async fn a_resumed_task_carries_its_signals_in_order_and_a_timeout_has_no_payload() {
    let store = Store::new();
    let engine = engine(&store);
    let id = store.submit(command()).await;
    let signals: Vec<SignalId> = (0..3).map(|_| SignalId::from_uuid(store.mint())).collect();
    let mut draft = creating(signals.iter().map(|signal_id| Record::from(signal(id, *signal_id))));
    for signal_id in &signals[..2] {
        let payload = Payload::binary(signal_id.to_string());
        draft.blobs.push((BlobKey::Signal(id, *signal_id), payload));
    }
    store.write(id.partition(), draft).await;
    let order = vec![signals[1], signals[2], signals[0]];
    let counted = order.clone();
    rewrite(&store, id, |execution| {
        execution.resumed = Some(Resumed {
            suspension_id: SuspensionId::from_uuid(store.mint()),
            signals: counted,
            step_seq: None,
            at: START,
            by: ResumedBy::Timeout,
            asked: None,
        });
    })
    .await;
    let tasks = engine.claim(claim(1)).await.unwrap();
    let resumed = tasks[0].resumed.clone().unwrap();
    assert_eq!(resumed.by, ResumedBy::Timeout);
    let got: Vec<SignalId> = resumed.signals.iter().map(|view| view.signal.id).collect();
    assert_eq!(got, order);
    let payloads: Vec<Payload> = resumed.signals.into_iter().map(|view| view.payload).collect();
    let text = |id: SignalId| Payload::binary(id.to_string());
    assert_eq!(payloads, [text(order[0]), Payload::default(), text(order[2])]);
}

#[tokio::test]
async fn an_execution_whose_inputs_cannot_be_read_is_not_handed_over() {
    let store = Store::new();
    let engine = engine(&store);
    let id = store.submit(command()).await;
    rewrite(&store, id, |execution| {
        execution.resumed = Some(Resumed {
            suspension_id: SuspensionId::from_uuid(store.mint()),
            signals: vec![SignalId::from_uuid(store.mint())],
            step_seq: None,
            at: START,
            by: ResumedBy::Signals,
            asked: None,
        });
    })
    .await;
    store.set_broken("load", true);
    assert_eq!(engine.claim(claim(1)).await.unwrap_err().code, Code::Unavailable);
    assert!(!store.execution(id).await.lease().unwrap().confirmed);
}

/// Changes a record as no rule would.
async fn rewrite(store: &Store, id: ExecutionId, change: impl FnOnce(&mut Execution)) {
    store
        .decide(id, |execution, _| {
            let mut after = execution.clone();
            change(&mut after);
            let mut draft = Draft::default();
            draft.put(after);
            Ok(Decided { outcome: (), draft })
        })
        .await;
}

async fn ended_member(store: &Store, id: ExecutionId, flow: FlowId, kind: OutcomeKind, bytes: Option<u64>) {
    let mut command = command();
    command.flow_id = Some(flow);
    store.submit_as(id, command).await;
    store
        .decide(id, |execution, context| {
            let mut after = execution.clone();
            after.phase = Phase::Terminal(Outcome {
                kind,
                at: context.now,
                failure: None,
                reason: None,
                cancel_source: None,
                delete_at: None,
                deleting: false,
            });
            after.success = bytes.map(|bytes| Success {
                result_bytes: Some(bytes),
                superseded: false,
            });
            let mut draft = Draft::default();
            draft.put(after);
            let result = Payload::binary(vec![1; usize::try_from(bytes.unwrap_or(3)).expect("a small number")]);
            draft.blobs.push((BlobKey::Result(id), result));
            Ok(Decided { outcome: (), draft })
        })
        .await;
}

fn edge(store: &Store, flow_id: FlowId, ends: (ExecutionId, ExecutionId), name: &str) -> Edge {
    Edge {
        id: ff_core::id::EdgeId::from_uuid(store.mint()),
        flow_id,
        upstream: ends.0,
        downstream: ends.1,
        kind: DependencyKind::AnyTerminal,
        data_passing_ref: Some(DataRef::parse(name).expect("a name")),
        state: EdgeState::Satisfied,
        join: EdgeGroupPolicy::AllOf,
        graph_revision: 1,
        created_at: START,
        carried: Default::default(),
    }
}

fn flow_records(id: FlowId, state: GateState) -> [Record; 2] {
    let flow = Flow {
        id,
        namespace: Namespace::default_namespace(),
        kind: FlowKind::parse("test").expect("a name"),
        tags: Arc::default(),
        content_digest: String::new(),
        created_at: START,
        opened_at: Some(START),
        updated_at: START,
        graph_revision: 0,
        retention: Retention::For(Duration::from_hours(24)),
        cancellation: None,
        populated: true,
        in_use: false,
        ended_at: None,
        opening: false,
        cancelling: false,
        delete_requested: false,
        deleting: false,
        carried: Default::default(),
    };
    let gate = Gate { flow_id: id, state };
    [Record::from(flow), Record::from(gate)]
}

fn signal(execution_id: ExecutionId, id: SignalId) -> Signal {
    Signal {
        id,
        execution_id,
        waitpoint_id: None,
        name: SignalName::parse("go").expect("a name"),
        category: String::new(),
        source_type: String::new(),
        source_identity: Identity::parse("somebody").expect("a name"),
        source_verified: false,
        correlation_id: None,
        idempotency_key: None,
        accepted_at: Timestamp::from_millis(1),
        effect: SignalEffect::ResumeConditionSatisfied,
        payload_bytes: 36,
        buffered_after: None,
        carried: Default::default(),
    }
}

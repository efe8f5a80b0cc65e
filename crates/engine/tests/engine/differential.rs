//! The same random calls on a store in memory and on a real one, in this process and through HTTP: what a caller can observe is
//! the same.

use std::fmt::Debug;
use std::sync::Arc;

use ff_core::caller::Caller;
use ff_core::command::claim::{Claim, Task};
use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::command::flow::{CancelFlow, ReplayExecution};
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release, Renew};
use ff_core::command::operator::{CancelExecution, ChangePriority, HoldExecution, RevokeLease, SetTags};
use ff_core::command::page::PageRequest;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{Category, ExecutionKind, FlowKind, Namespace};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{CancelFlowPolicy, DependencyKind};
use ff_core::time::Duration;
use ff_fabric_suite::Harness;
use serde_json::json;
use uuid::Uuid;

use crate::suite_http::served;
use crate::support::{EngineHarness, Luck};

const SEEDS: u64 = 20;
const STEPS: usize = 60;

/// Where everything lives when a store keeps its order only inside a partition.
const HOME: u16 = 7;

/// One engine with what its callers know.
struct Side {
    harness: EngineHarness,
    /// How they reach it.
    fabric: Arc<dyn Fabric>,
    /// Everything lives in one partition.
    at_home: bool,
    tasks: Vec<Task>,
    known: Vec<ExecutionId>,
    flows: Vec<FlowId>,
}

/// What is done in one step, the same on both sides.
#[derive(Clone, Copy, Debug)]
enum Step {
    Submit { number: u64, priority: u16, retries: bool },
    Graph { number: u64 },
    Claim,
    Complete(usize),
    Fail(usize),
    Release(usize),
    Delay(usize),
    Renew(usize),
    Cancel(usize),
    Hold(usize),
    Unhold(usize),
    Priority(usize, u16),
    Tags(usize),
    Revoke(usize),
    Replay(usize),
    CancelFlow(usize, CancelFlowPolicy),
    Wait(u64),
}

fn pick(luck: &mut Luck, number: u64) -> Step {
    let any = usize::try_from(luck.below(1_000)).unwrap();
    let priority = u16::try_from(luck.below(3)).unwrap();
    match luck.below(24) {
        0..=4 => Step::Submit {
            number,
            priority,
            retries: luck.below(2) == 0,
        },
        5 => Step::Graph { number },
        6..=9 => Step::Claim,
        10..=12 => Step::Complete(any),
        13 => Step::Fail(any),
        14 => Step::Release(any),
        15 => Step::Delay(any),
        16 => Step::Renew(any),
        17 => Step::Cancel(any),
        18 => Step::Hold(any),
        19 => Step::Unhold(any),
        20 => match luck.below(3) {
            0 => Step::Priority(any, priority),
            1 => Step::Tags(any),
            _ => Step::Revoke(any),
        },
        21 => Step::Replay(any),
        22 => {
            let policies = [
                CancelFlowPolicy::CancelAll,
                CancelFlowPolicy::CancelPending,
                CancelFlowPolicy::FlowOnly,
            ];
            Step::CancelFlow(any, luck.of(&policies).unwrap())
        }
        _ => Step::Wait(20 + luck.below(3) * 30),
    }
}

impl Side {
    fn new(harness: EngineHarness, at_home: bool) -> Self {
        Self {
            fabric: harness.fabric(),
            harness,
            at_home,
            tasks: Vec::new(),
            known: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// The same, whose callers go through a client and a server.
    fn afar(harness: EngineHarness) -> Self {
        Self {
            fabric: Arc::new(served(&harness.engine, Caller::local())),
            ..Self::new(harness, false)
        }
    }

    /// Does one step and tells what came of it, without what is random or the clock's.
    async fn act(&mut self, step: Step) -> String {
        let engine = Arc::clone(&self.fabric);
        let task = |position: usize| self.tasks.get(position % self.tasks.len().max(1)).cloned();
        let execution = |position: usize| self.known.get(position % self.known.len().max(1)).copied();
        let nothing = || "nothing to do it to".to_owned();
        match step {
            Step::Submit {
                number,
                priority,
                retries,
            } => {
                let anywhere = u16::try_from(number % 256).unwrap();
                let partition = if self.at_home { HOME } else { anywhere };
                let id = ExecutionId::new(partition, Uuid::from_u128(u128::from(number) + 1));
                self.known.push(id);
                told(engine.create_execution(submission(id, priority, retries)).await)
            }
            Step::Graph { number } => {
                let flow_id = flow_id(number, self.at_home);
                let created = engine.create_flow_graph(graph(flow_id)).await.unwrap();
                self.known.extend(&created.execution_ids);
                self.flows.push(flow_id);
                format!("{:?}", created.execution_ids)
            }
            Step::Claim => {
                let claimed = engine.claim(claim()).await.unwrap();
                let ids: Vec<_> = claimed
                    .iter()
                    .map(|task| (task.execution_id, task.attempt_index))
                    .collect();
                self.tasks.extend(claimed);
                format!("{ids:?}")
            }
            Step::Complete(at) => match task(at) {
                Some(task) => {
                    let fence = Some(task.fence);
                    let result = Some(Payload::json(&json!(1)));
                    told(
                        engine
                            .complete(On::new(
                                task.execution_id,
                                Complete {
                                    fence,
                                    result,
                                    ..Complete::default()
                                },
                            ))
                            .await,
                    )
                }
                None => nothing(),
            },
            Step::Fail(at) => match task(at) {
                Some(task) => {
                    let fail = Fail {
                        fence: Some(task.fence),
                        reason: "it broke".to_owned(),
                        category: Category::parse("transient").unwrap(),
                        retry_after: None,
                        steps: Vec::new(),
                    };
                    kind(engine.fail(On::new(task.execution_id, fail)).await)
                }
                None => nothing(),
            },
            Step::Release(at) => match task(at) {
                Some(task) => {
                    let fence = Some(task.fence);
                    told(
                        engine
                            .release(On::new(
                                task.execution_id,
                                Release {
                                    fence,
                                    ..Release::default()
                                },
                            ))
                            .await,
                    )
                }
                None => nothing(),
            },
            Step::Delay(at) => match task(at) {
                Some(task) => {
                    let delay = DelayUntil {
                        fence: Some(task.fence),
                        until: task.now + Duration::from_secs(3_600),
                        step: None,
                        steps: Vec::new(),
                    };
                    told(engine.delay(On::new(task.execution_id, delay)).await)
                }
                None => nothing(),
            },
            Step::Renew(at) => match task(at) {
                Some(task) => {
                    let renew = Renew {
                        fence: Some(task.fence),
                        ttl: None,
                        doing: Vec::new(),
                    };
                    told(engine.renew(On::new(task.execution_id, renew)).await.map(|_| "renewed"))
                }
                None => nothing(),
            },
            Step::Cancel(at) => match execution(at) {
                Some(id) => {
                    let cancel = CancelExecution {
                        reason: "enough".to_owned(),
                        fence: None,
                    };
                    told(engine.cancel_execution(On::new(id, cancel)).await)
                }
                None => nothing(),
            },
            Step::Hold(at) => match execution(at) {
                Some(id) => told(engine.hold(On::new(id, HoldExecution { reason: None })).await),
                None => nothing(),
            },
            Step::Unhold(at) => match execution(at) {
                Some(id) => told(engine.unhold(id).await),
                None => nothing(),
            },
            Step::Priority(at, priority) => match execution(at) {
                Some(id) => told(engine.change_priority(On::new(id, ChangePriority { priority })).await),
                None => nothing(),
            },
            Step::Tags(at) => match execution(at) {
                Some(id) => {
                    let tags = [("n".to_owned(), at.to_string())].into();
                    told(engine.set_tags(On::new(id, SetTags { tags })).await)
                }
                None => nothing(),
            },
            Step::Revoke(at) => match execution(at) {
                Some(id) => {
                    let revoke = RevokeLease {
                        reason: None,
                        expected_lease_epoch: None,
                        request_id: None,
                    };
                    told(engine.revoke_lease(On::new(id, revoke)).await)
                }
                None => nothing(),
            },
            Step::Replay(at) => match execution(at) {
                Some(id) => told(engine.replay_execution(On::new(id, ReplayExecution::default())).await),
                None => nothing(),
            },
            Step::CancelFlow(at, policy) => match self.flows.get(at % self.flows.len().max(1)) {
                Some(id) => {
                    let cancel = CancelFlow {
                        reason: "enough".to_owned(),
                        policy,
                        wait: Duration::ZERO,
                    };
                    told(engine.cancel_flow(On::new(*id, cancel)).await)
                }
                None => nothing(),
            },
            Step::Wait(seconds) => {
                self.harness.advance(Duration::from_secs(seconds)).await;
                "waited".to_owned()
            }
        }
    }

    /// Everything a reader sees, without what is random or the clock's.
    async fn seen(&self) -> Vec<String> {
        let engine = &self.fabric;
        let mut seen = Vec::new();
        for id in &self.known {
            let view = engine.get_execution(*id).await;
            let history = engine.get_history(On::new(*id, PageRequest::default())).await;
            let lines = history.map(|page| page.items.iter().map(|line| line.what.as_str()).collect::<Vec<_>>());
            seen.push(match view {
                Ok(view) => format!(
                    "{id} {:?} {:?} {:?} {:?} {} {:?}",
                    view.state.state_vector, view.counts, view.attempt_index, view.tags, view.lease_epoch, lines
                ),
                Err(refusal) => format!("{id} {}", refusal.code),
            });
        }
        for id in &self.flows {
            seen.push(match engine.get_flow(*id).await {
                Ok(view) => format!("{id} {:?} {:?} {:?}", view.state, view.gate, view.counts),
                Err(refusal) => format!("{id} {}", refusal.code),
            });
        }
        seen
    }
}

/// An answer, or the code of its refusal.
fn told<T: Debug>(answer: Result<T>) -> String {
    match answer {
        Ok(outcome) => format!("{outcome:?}"),
        Err(refusal) => refusal.code.to_string(),
    }
}

/// The name of an answer, without what it carries.
fn kind<T: Debug>(answer: Result<T>) -> String {
    let told = told(answer);
    told.split([' ', '(']).next().unwrap_or_default().to_owned()
}

fn submission(id: ExecutionId, priority: u16, retries: bool) -> CreateExecution {
    let retry = json!({ "retry_policy": { "max_retries": 1, "backoff": { "fixed": { "delay_ms": 10_000 } } } });
    let policy = if retries { retry } else { json!({}) };
    CreateExecution {
        execution_id: Some(id),
        priority,
        policy: Policy::from_json(&policy).unwrap(),
        ..CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
    }
}

/// The id of flow `number`, at home if it must be.
fn flow_id(number: u64, at_home: bool) -> FlowId {
    let ids = (0..).map(|more| FlowId::from_uuid(Uuid::from_u128((u128::from(number) << 64) + more)));
    let is_fine = |id: &FlowId| !at_home || PartitionCounts::default().of_flow(*id).index == HOME;
    let mut fine = ids.filter(is_fine);
    fine.next().unwrap()
}

/// A diamond of four.
pub(crate) fn graph(flow_id: FlowId) -> FlowGraph {
    let member = |key: &str| GraphMember {
        key: key.to_owned(),
        submission: CreateExecution::new(ExecutionKind::parse("member").unwrap(), Payload::default()),
    };
    let edge = |upstream: &str, downstream: &str| GraphEdge {
        upstream: upstream.to_owned(),
        downstream: downstream.to_owned(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    };
    FlowGraph {
        flow: CreateFlowWith {
            flow_id: Some(flow_id),
            definition: CreateFlow {
                namespace: Namespace::default_namespace(),
                flow_kind: FlowKind::parse("diamond").unwrap(),
                tags: Default::default(),
                retention: None,
                assembly: Assembly::Assembling,
            },
        },
        members: ["a", "b", "c", "d"].map(member).into(),
        edges: vec![edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d")],
        open: true,
    }
}

fn claim() -> Claim {
    let mut claim = crate::support::claim(1, 1);
    claim.want.lease_ttl = Some(Duration::from_secs(40));
    claim
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_calls_are_answered_the_same_in_memory_and_in_a_file() {
    for seed in 0..SEEDS {
        compare(seed, Side::new(EngineHarness::sqlite(|_| ()), false)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_calls_are_answered_the_same_in_memory_and_on_postgres() {
    for seed in 0..SEEDS {
        compare(seed, Side::new(EngineHarness::postgres(|_| ()).await, true)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_calls_are_answered_the_same_in_memory_and_on_valkey() {
    for seed in 0..SEEDS {
        compare(seed, Side::new(EngineHarness::valkey(|_| ()).await, true)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_calls_are_answered_the_same_in_this_process_and_through_http() {
    for seed in 0..SEEDS {
        compare(seed, Side::afar(EngineHarness::memory(|_| ()))).await;
    }
}

async fn compare(seed: u64, mut other: Side) {
    let mut luck = Luck(seed);
    let mut memory = Side::new(EngineHarness::memory(|_| ()), other.at_home);
    let mut number = 0;
    for position in 0..STEPS {
        number += 1;
        let step = pick(&mut luck, number);
        let answers = (memory.act(step).await, other.act(step).await);
        assert_eq!(answers.0, answers.1, "seed {seed}, step {position}: {step:?}");
        // A moment between two steps, so that no two things are made in the same millisecond.
        memory.harness.advance(Duration::from_millis(5)).await;
        other.harness.advance(Duration::from_millis(5)).await;
        let (seen_memory, seen_other) = (memory.seen().await, other.seen().await);
        assert_eq!(seen_memory, seen_other, "seed {seed}, after step {position}: {step:?}");
    }
}

//! How soon things happen in a running engine, on a real file and in real time: wake-ups, not polling. The bounds are those of
//! the interface, and medians are compared with them, because a loaded machine may miss one.

use std::sync::Arc;
use std::time::{Duration as Span, Instant};

use ff_backend_sqlite::{Durability, Options, SqliteBackend};
use ff_core::command::claim::{Claim, Task};
use ff_core::command::lease::{Complete, Renew};
use ff_core::command::signal::{DeliverSignal, SendSignal};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, FlowKind, Identity, Namespace, SignalName, WaitpointKey};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::record::{DependencyKind, Matcher, ReasonCode, ResumeCondition};
use ff_core::time::Duration;
use ff_engine::{Config, Engine, TokioHost};
use tempfile::TempDir;

/// A running engine on a file that is synced a little later.
struct Running {
    engine: Engine,
    _folder: TempDir,
}

impl Running {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            durability: Durability::Normal,
            ..Options::new(folder.path().join("store.db"))
        };
        let store = Arc::new(SqliteBackend::open(&options).unwrap());
        let engine = Engine::new(
            store,
            Arc::new(TokioHost::new()),
            Config::new(PartitionCounts::default()),
        );
        engine.start();
        Self {
            engine,
            _folder: folder,
        }
    }

    /// A worker that waits for one task; when it got it.
    fn waiting_worker(&self) -> tokio::task::JoinHandle<(Task, Instant)> {
        let engine = self.engine.clone();
        tokio::spawn(async move {
            let mut tasks = engine.claim(claim()).await.unwrap();
            (tasks.remove(0), Instant::now())
        })
    }

    async fn submit(&self, command: CreateExecution) -> ExecutionId {
        match self.engine.create_execution(command).await.unwrap() {
            Created::Created { execution_id: id } => id,
            duplicate @ Created::Duplicate { .. } => panic!("{duplicate:?}"),
        }
    }

    async fn claimed(&self) -> Task {
        self.waiting_worker().await.unwrap().0
    }

    async fn complete(&self, task: &Task) {
        let complete = Complete {
            fence: Some(task.fence),
            result: None,
            ..Complete::default()
        };
        self.engine
            .complete(On::new(task.execution_id, complete))
            .await
            .unwrap();
    }
}

fn claim() -> Claim {
    let mut claim = crate::support::claim(1, 1);
    claim.want.lease_ttl = Some(Duration::from_secs(1));
    claim.wait = Duration::from_secs(30);
    claim
}

fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::default())
}

/// The median of `tries` measurements.
async fn median<F: Future<Output = Span>>(tries: usize, measure: impl Fn() -> F) -> Span {
    let mut measured = Vec::new();
    for _ in 0..tries {
        measured.push(measure().await);
    }
    measured.sort_unstable();
    measured[tries / 2]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_lease_runs_on_another_worker_within_fifty_milliseconds() {
    let running = Running::new();
    let late = median(3, || async {
        running.submit(submission()).await;
        let lost = running.claimed().await;
        let renew = Renew {
            fence: Some(lost.fence),
            ttl: None,
            doing: Vec::new(),
        };
        let renewed = running.engine.renew(On::new(lost.execution_id, renew)).await.unwrap();
        let (taken, _) = running.waiting_worker().await.unwrap();
        assert_eq!(taken.execution_id, lost.execution_id);
        let late = taken.now.since(renewed.expires_at);
        running.complete(&taken).await;
        Span::from_millis(late.as_millis())
    })
    .await;
    println!("an expired lease was taken over after {late:?}");
    assert!(late < Span::from_millis(50), "{late:?}");
    running.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_execution_starts_within_fifty_milliseconds_of_its_time() {
    let running = Running::new();
    let late = median(5, || async {
        let probe = running.submit(submission()).await;
        let now = running.engine.get_execution(probe).await.unwrap().created_at;
        running.complete(&running.claimed().await).await;
        let until = now + Duration::from_millis(300);
        let delayed = CreateExecution {
            delay_until: Some(until),
            ..submission()
        };
        running.submit(delayed).await;
        let (task, _) = running.waiting_worker().await.unwrap();
        running.complete(&task).await;
        Span::from_millis(task.now.since(until).as_millis())
    })
    .await;
    println!("a delayed execution started {late:?} after its time");
    assert!(late < Span::from_millis(50), "{late:?}");
    running.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_resumes_on_a_waiting_worker_in_under_five_milliseconds() {
    let running = Running::new();
    let took = median(41, || async {
        running.submit(submission()).await;
        let task = running.claimed().await;
        let key = WaitpointKey::parse("answer").unwrap();
        let suspend = Suspend {
            fence: Some(task.fence),
            waitpoints: vec![WaitpointChoice::Fresh {
                waitpoint_key: key.clone(),
                waitpoint_id: None,
            }],
            resume_condition: ResumeCondition::Single {
                waitpoint_key: key,
                matcher: Matcher::Any,
            },
            reason_code: ReasonCode::WaitingForSignal,
            timeout_at: None,
            timeout_behavior: None,
            resume_delay: Duration::ZERO,
            idempotency_key: None,
            suspension_id: None,
            step: None,
            steps: Vec::new(),
        };
        let suspended = running
            .engine
            .suspend(On::new(task.execution_id, suspend))
            .await
            .unwrap();
        let SuspendedTask::Suspended { mut waitpoints, .. } = suspended else {
            panic!("{suspended:?}");
        };
        let waitpoint = waitpoints.remove(0);
        let worker = running.waiting_worker();
        tokio::task::yield_now().await;
        let signal = SendSignal {
            waitpoint_token: waitpoint.token,
            signal: DeliverSignal {
                waitpoint_id: waitpoint.waitpoint_id,
                signal_id: None,
                signal_name: SignalName::parse("go").unwrap(),
                category: String::new(),
                source_type: "test".to_owned(),
                source_identity: Identity::parse("tester").unwrap(),
                payload: Payload::default(),
                idempotency_key: None,
                correlation_id: None,
            },
        };
        let sent = Instant::now();
        running
            .engine
            .deliver_signal(On::new(task.execution_id, signal))
            .await
            .unwrap();
        let (resumed, at) = worker.await.unwrap();
        running.complete(&resumed).await;
        at - sent
    })
    .await;
    println!("signal to resumed: {took:?} at the median");
    assert!(took < Span::from_millis(5), "{took:?}");
    running.engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_parent_starts_its_child_in_under_five_milliseconds() {
    use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
    let running = Running::new();
    let took = median(41, || async {
        let member = |key: &str| GraphMember {
            key: key.to_owned(),
            submission: submission(),
        };
        let chain = FlowGraph {
            flow: CreateFlowWith {
                flow_id: None,
                definition: CreateFlow {
                    namespace: Namespace::default_namespace(),
                    flow_kind: FlowKind::parse("chain").unwrap(),
                    tags: Default::default(),
                    retention: None,
                    assembly: Assembly::Assembling,
                },
            },
            members: vec![member("parent"), member("child")],
            edges: vec![GraphEdge {
                upstream: "parent".to_owned(),
                downstream: "child".to_owned(),
                dependency_kind: DependencyKind::SuccessOnly,
                data_passing_ref: None,
            }],
            open: true,
        };
        let ids = running.engine.create_flow_graph(chain).await.unwrap().execution_ids;
        let parent = running.claimed().await;
        assert_eq!(parent.execution_id, ids[0]);
        let worker = running.waiting_worker();
        tokio::task::yield_now().await;
        let ended = Instant::now();
        running.complete(&parent).await;
        let (child, at) = worker.await.unwrap();
        assert_eq!(child.execution_id, ids[1]);
        running.complete(&child).await;
        at - ended
    })
    .await;
    println!("parent's end to child's start: {took:?} at the median");
    assert!(took < Span::from_millis(5), "{took:?}");
    running.engine.stop().await;
}

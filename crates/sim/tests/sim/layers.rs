//! The layers of the store without an engine: a few processes submit, reserve and complete by hand, through all faults.

use std::sync::Arc;
use std::time::Duration as Time;

use ff_backend::Backend;
use ff_backend::due::{Due, DueKey};
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::reserve::Reserve;
use ff_backend::transaction::{Tag, Transaction};
use ff_core::capability::CapabilitySet;
use ff_core::command::lease::Complete;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::{Context, Draft, lease, submit, time};
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::RecordKey;
use ff_core::time::{Duration, Timestamp};
use ff_sim::executor::{Executor, Turn};
use ff_sim::invariants::{Violation, Watch};
use ff_sim::luck::Luck;
use ff_sim::stage::Stage;
use ff_sim::store::{Fault, Faulty, Observed, Sabotage, Saboteur, StoreClock, Weather};
use ff_sim::tally::Tally;
use ff_sim::trace::Keep;

/// A process that submits, reserves and completes, and does not mind when something goes wrong.
struct Hand {
    store: Arc<dyn Backend>,
    executor: Executor,
    luck: Luck,
}

impl Hand {
    async fn work(self) {
        for _ in 0..40 {
            self.submit().await;
            self.take_and_complete().await;
            self.let_time_act().await;
            let pause = Time::from_millis(self.luck.below(500));
            self.executor.sleep(pause).await;
        }
    }

    fn tag(&self) -> Tag {
        Tag(self.luck.next() >> 11)
    }

    async fn submit(&self) {
        let Ok(now) = self.store.ping().await else { return };
        let id = ExecutionId::new(0, self.luck.uuid());
        let kind = ExecutionKind::parse("render").unwrap();
        let command = CreateExecution::new(kind, Payload::binary("x"));
        let step = submit::create(&command, id, submit::Known::default(), &Context::engine(now)).unwrap();
        let snapshot = Snapshot::empty(id.partition(), now);
        self.commit(step.draft, &snapshot).await;
    }

    async fn take_and_complete(&self) {
        let ask = Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode: HandOut::Lease,
            claimants: vec![Claimant {
                worker: WorkerId::parse("w").unwrap(),
                instance: WorkerInstanceId::parse("w-1").unwrap(),
                grant_id: GrantId::from_uuid(self.luck.uuid()),
                lease_id: LeaseId::from_uuid(self.luck.uuid()),
                attempt_id: AttemptId::from_uuid(self.luck.uuid()),
                lease_ttl: Duration::from_secs(5),
                grant_ttl: Duration::from_secs(5),
            }],
            tag: self.tag(),
        };
        let Ok(reservation) = self.store.reserve(ask).await else {
            return;
        };
        for task in reservation.tasks {
            let execution = &task.execution;
            let fence = execution
                .lease()
                .map(|lease| lease.fence(execution.attempt.as_ref().unwrap().id));
            self.executor.sleep(Time::from_millis(self.luck.below(6_000))).await;
            self.complete(
                execution.id,
                Complete {
                    fence,
                    result: None,
                    ..Complete::default()
                },
            )
            .await;
        }
    }

    async fn let_time_act(&self) {
        let due = Due {
            partitions: vec![Partition::flow(0)],
            limit: 10,
        };
        let Ok(due) = self.store.due(due).await else { return };
        for item in due.items {
            let DueKey::Record(key) = item.key else { continue };
            let Ok(loaded) = self
                .store
                .load(vec![Load::records(item.partition, [key.clone()])])
                .await
            else {
                return;
            };
            let snapshot = &loaded[0];
            if let Some(execution) = snapshot.execution(&key) {
                let step = time::advance(execution, &Context::engine(snapshot.now));
                self.commit(step.draft, snapshot).await;
            }
        }
    }

    /// What changes nothing is not sent.
    async fn commit(&self, draft: Draft, snapshot: &Snapshot) {
        if !draft.is_empty() {
            let transaction = Transaction::bind(draft, snapshot, self.tag());
            self.store.commit(vec![transaction]).await;
        }
    }

    async fn complete(&self, id: ExecutionId, command: Complete) {
        let load = Load::records(id.partition(), [RecordKey::Execution(id)]);
        let Ok(loaded) = self.store.load(vec![load]).await else {
            return;
        };
        let snapshot = &loaded[0];
        let Some(execution) = snapshot.execution(&RecordKey::Execution(id)) else {
            return;
        };
        if let Ok(step) = lease::complete(execution, &command, &Context::engine(snapshot.now)) {
            self.commit(step.draft, snapshot).await;
        }
    }
}

fn play(seed: u64, sabotage: Option<Sabotage>) -> (Option<Violation>, Tally, Vec<String>) {
    let luck = Luck::new(seed);
    let executor = Executor::new(luck.fork());
    let counts = PartitionCounts::new(1, 1, 1).unwrap();
    let memory = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_000_000), counts));
    StoreClock::follow(&executor, Arc::clone(&memory));
    let watch = Watch::new(Arc::clone(&memory), counts);
    let stage = Stage::new(executor.clone(), watch, Keep::All);
    let mut store: Arc<dyn Backend> = Arc::new(Observed::new(memory, stage.clone()));
    if let Some(sabotage) = sabotage {
        store = Arc::new(Saboteur::new(store, sabotage, luck.fork()));
    }
    let weather = Arc::new(Weather::default());
    for _ in 0..4 {
        let process = executor.start_process();
        let faulty = Faulty::new(
            Arc::clone(&store),
            stage.clone(),
            Arc::clone(&weather),
            process,
            luck.fork(),
        );
        let hand = Hand {
            store: Arc::new(faulty),
            executor: executor.clone(),
            luck: luck.fork(),
        };
        executor.spawn(process, Box::pin(hand.work()));
    }
    while executor.turn() != Turn::Idle && stage.watch.violation().is_none() {}
    stage.watch.check_all();
    let tally = stage.tally().clone();
    (stage.watch.violation(), tally, stage.trace.take())
}

#[test]
fn the_invariants_hold_through_all_faults_of_the_store() {
    let mut sum = Tally::default();
    for seed in 0..50 {
        let (violation, tally, _) = play(seed, None);
        assert_eq!(violation, None, "seed {seed}");
        sum.add(&tally);
    }
    let of_the_store = [
        Fault::ErrorBefore,
        Fault::RequestLost,
        Fault::ReplyLost,
        Fault::BatchTorn,
        Fault::Conflict,
        Fault::Delay,
        Fault::Stall,
        Fault::CrashBefore,
        Fault::CrashAfter,
    ];
    for fault in of_the_store {
        assert!(sum.struck(fault) > 0, "{fault:?} never struck: {:?}", sum.faults);
    }
}

#[test]
fn a_seed_gives_the_same_run_twice() {
    let (_, first, first_trace) = play(7, None);
    let (_, second, second_trace) = play(7, None);
    assert_eq!(first, second);
    assert_eq!(first_trace, second_trace);
}

#[test]
fn broken_stores_are_noticed() {
    for sabotage in [Sabotage::NoVersionCheck, Sabotage::NoNotAfter] {
        let caught = (0..200).find_map(|seed| play(seed, Some(sabotage)).0);
        assert!(caught.is_some(), "{sabotage:?} went unnoticed");
    }
}

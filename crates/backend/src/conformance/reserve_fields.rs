//! What `reserve` makes of an execution is what [`ff_core::machine::claim::hand_out`] says, field by field.

use ff_core::command::lease::{Fail, Release};
use ff_core::command::submit::CreateExecution;
use ff_core::id::{AttemptId, BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::limits::RESERVE_BYTES_MAX;
use ff_core::machine::claim::{HandOut, HandedOut, Reserved, Surroundings, hand_out};
use ff_core::machine::{fail, lease, placement};
use ff_core::name::Category;
use ff_core::partition::{Family, Partition};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy, TimeoutPolicy};
use ff_core::record::{BlobKey, CounterKey, FlowCounter, GateState, HistoryLine, HistorySubject, Record, RecordKey};
use ff_core::time::Duration;

use super::build::{Store, fence};
use crate::load::{Load, Snapshot};
use crate::query::{Listing, Page};
use crate::reserve::{Reserve, Task};

pub(super) async fn a_solo_execution_is_leased_as_the_rules_say(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let task = compared(store, id, HandOut::Lease).await;
    assert_eq!(task.handed_out, HandedOut::Leased);
    assert_eq!((task.execution.lease_epoch, &task.gate), (1, &None));
}

pub(super) async fn timeouts_and_deadlines_come_with_the_lease(store: &Store<'_>) {
    let timeouts = TimeoutPolicy {
        attempt_timeout: Some(Duration::from_secs(7)),
        execution_deadline: Some(Duration::from_hours(2)),
    };
    let policy = Policy {
        timeout_policy: Some(timeouts),
        ..Policy::default()
    };
    let id = store
        .submit(CreateExecution {
            policy,
            ..store.command()
        })
        .await
        .id;
    let task = compared(store, id, HandOut::Lease).await;
    assert!(task.execution.lease().is_some_and(|lease| lease.timeout_at.is_some()));
}

pub(super) async fn a_short_lease_time_is_kept(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let mut ask = store.ask(1);
    ask.claimants[0].lease_ttl = Duration::from_secs(2);
    compare(store, id, ask).await;
}

pub(super) async fn a_released_attempt_goes_on_at_its_next_claim(store: &Store<'_>) {
    let task = store.leased().await;
    let (id, release) = (
        task.execution.id,
        Release {
            fence: Some(fence(&task)),
            ..Release::default()
        },
    );
    store
        .apply(id, |execution, context| lease::release(execution, &release, context))
        .await;
    let again = compared(store, id, HandOut::Lease).await;
    assert_eq!(again.execution.lease_epoch, 2);
    assert_eq!(attempt_ids(&again), attempt_ids(&task));
}

pub(super) async fn a_failed_attempt_is_followed_by_a_new_one(store: &Store<'_>) {
    let backoff = Backoff::Fixed { delay: Duration::ZERO };
    let retry_policy = Some(RetryPolicy {
        backoff,
        ..RetryPolicy::default()
    });
    let policy = Policy {
        retry_policy,
        ..Policy::default()
    };
    let id = store
        .submit(CreateExecution {
            policy,
            ..store.command()
        })
        .await
        .id;
    let task = store.take().await;
    let category = Category::parse("transient").expect("a category");
    let fail = Fail {
        fence: Some(fence(&task)),
        reason: "again".to_owned(),
        category,
        retry_after: None,
        steps: Vec::new(),
    };
    store
        .apply(id, |execution, context| fail::fail(execution, &fail, context))
        .await;
    let again = compared(store, id, HandOut::Lease).await;
    assert_eq!(again.execution.attempt.as_ref().map(|attempt| attempt.index), Some(1));
    assert_ne!(attempt_ids(&again), attempt_ids(&task));
}

pub(super) async fn whoever_asks_for_a_grant_gets_a_grant(store: &Store<'_>) {
    let id = store.submit(store.command()).await.id;
    let task = compared(store, id, HandOut::Grant).await;
    assert_eq!(task.handed_out, HandedOut::Granted);
    assert!(task.execution.grant().is_some_and(|grant| grant.admitted));
}

pub(super) async fn budgets_and_quotas_leave_a_grant_that_is_not_admitted(store: &Store<'_>) {
    let budget_ids = [BudgetId::from_uuid(store.uuid())].into();
    let quota_policy_id = Some(QuotaPolicyId::from_uuid(store.uuid()));
    for policy in [
        Policy {
            budget_ids,
            ..Policy::default()
        },
        Policy {
            quota_policy_id,
            ..Policy::default()
        },
    ] {
        let id = store
            .submit(CreateExecution {
                policy,
                ..store.command()
            })
            .await
            .id;
        let task = compared(store, id, HandOut::Lease).await;
        assert_eq!(task.handed_out, HandedOut::Granted);
        assert!(task.execution.grant().is_some_and(|grant| !grant.admitted));
    }
}

pub(super) async fn a_member_behind_an_open_gate_is_leased_and_counted(store: &Store<'_>) {
    for state in [GateState::Open, GateState::Sealed] {
        let flow_id = store.flow(state).await;
        let id = store.member(flow_id).await.id;
        let task = compared(store, id, HandOut::Lease).await;
        assert_eq!(task.handed_out, HandedOut::Leased);
        assert_eq!(task.gate.map(|(gate, _)| gate.state), Some(state));
    }
}

pub(super) async fn a_member_behind_a_closed_gate_is_only_promised(store: &Store<'_>) {
    for state in [GateState::Assembling, GateState::Cancelled] {
        let flow_id = store.flow(state).await;
        let id = store.member(flow_id).await.id;
        let task = compared(store, id, HandOut::Lease).await;
        assert_eq!(task.handed_out, HandedOut::Granted);
        assert_eq!(task.gate.map(|(gate, _)| gate.state), Some(state));
    }
}

pub(super) async fn the_gate_comes_with_the_version_to_guard_on(store: &Store<'_>) {
    let flow_id = store.flow(GateState::Open).await;
    let id = store.member(flow_id).await.id;
    let task = compared(store, id, HandOut::Lease).await;
    let stored = store.record(id.partition(), RecordKey::Gate(flow_id)).await;
    assert_eq!(task.gate.map(|(gate, version)| (Record::from(gate), version)), stored);
}

pub(super) async fn what_is_handed_out_is_bounded_in_bytes(store: &Store<'_>) {
    let input = Payload::binary(vec![7; RESERVE_BYTES_MAX / 4]);
    let partitions = store.counts().count(Family::Flow);
    for n in 0..6 {
        let id = store.id_in(Partition::flow(n % partitions));
        let input = input.clone();
        let command = CreateExecution {
            input,
            ..store.command()
        };
        store.submit_as(id, command).await;
    }
    let reservation = store.reservation(store.ask(6)).await;
    assert!(reservation.cut, "there is more");
    let tasks = reservation.tasks;
    let bytes: usize = tasks.iter().map(|task| task.input.len()).sum();
    assert!(
        !tasks.is_empty() && bytes <= RESERVE_BYTES_MAX,
        "{} tasks with {bytes} bytes",
        tasks.len()
    );
    let rest = store.reserve_all(&store.ask(6)).await;
    assert_eq!(tasks.len() + rest.len(), 6, "the others stay eligible");
}

pub(super) async fn a_short_handful_says_whether_there_may_be_more(store: &Store<'_>) {
    store.submit(store.command()).await;
    store.submit(store.command()).await;
    for (wanted, found) in [(1, 1), (3, 1), (3, 0)] {
        let reservation = store.reservation(store.ask(wanted)).await;
        assert_eq!(reservation.tasks.len(), found);
        assert!(!reservation.cut, "nothing kept the store from handing out more");
    }
}

pub(super) async fn one_task_is_handed_out_however_large_it_is(store: &Store<'_>) {
    let input = Payload::binary(vec![7; RESERVE_BYTES_MAX + 1]);
    store
        .submit(CreateExecution {
            input: input.clone(),
            ..store.command()
        })
        .await;
    let tasks = store.reserve(store.ask(2)).await;
    assert_eq!(tasks.into_iter().map(|task| task.input).collect::<Vec<_>>(), [input]);
}

async fn compared(store: &Store<'_>, id: ExecutionId, mode: HandOut) -> Task {
    let ask = Reserve { mode, ..store.ask(1) };
    compare(store, id, ask).await
}

/// Takes the one eligible execution and compares everything that was answered and stored with the reference.
async fn compare(store: &Store<'_>, id: ExecutionId, ask: Reserve) -> Task {
    let (tag, mode) = (ask.tag, ask.mode);
    let before = everything(store, id).await;
    let key = RecordKey::Execution(id);
    let execution = before.execution(&key).expect("it is stored").clone();
    let version = before.version(&key).expect("a stored record has a version");
    let history_before = history(store, id).await;
    let mut reservation = store.backend().reserve(ask).await.expect("the store answers");
    assert_eq!(reservation.tasks.len(), 1);
    let task = reservation.tasks.remove(0);
    let after = everything(store, id).await;

    let stamped = task.execution.updated_at;
    assert!(
        before.now <= stamped && stamped <= after.now,
        "stamped by the store's clock"
    );
    let gate = execution
        .definition
        .flow
        .and_then(|flow| before.gate(&RecordKey::Gate(flow)));
    let surroundings = Surroundings {
        now: stamped,
        gate: gate.map(|gate| gate.state),
    };
    let wanted = hand_out(&execution, &task.claimant, mode, surroundings);
    assert_eq!(task.execution, wanted.execution);
    assert_eq!(task.handed_out, wanted.handed_out);
    assert_eq!(task.version, version.next(tag));
    assert_eq!(task.queued_since, execution.updated_at);
    assert_eq!(Some(&task.input), before.blobs.values().next());
    stored(store, &task, &after).await;
    told(store, &task, &wanted, history_before).await;
    counted(&wanted, &before, &after);
    task
}

/// The record, its index and its timer are what was answered.
async fn stored(store: &Store<'_>, task: &Task, after: &Snapshot) {
    let id = task.execution.id;
    let record = Record::from(task.execution.clone());
    let found = after.records.get(&RecordKey::Execution(id));
    assert_eq!(found, Some(&(record.clone(), task.version)));
    assert!(store.audited(id.partition()).await.contains(&record));
    let due_at = placement::due_at(&record).expect("a lease and a grant end by themselves");
    let page = store.due_in(&[id.partition()], 1_000).await;
    let overdue = page.items.iter().any(|item| item.due_at == due_at);
    assert!(
        overdue || page.next.is_some_and(|next| next <= due_at),
        "{page:?} should know {due_at}"
    );
}

/// The history and the feed have one line more for a lease, and none for a promise.
async fn told(store: &Store<'_>, task: &Task, wanted: &Reserved, before: Vec<HistoryLine>) {
    let id = task.execution.id;
    let lines: Vec<_> = before.into_iter().chain(wanted.history.clone()).collect();
    assert_eq!(history(store, id).await, lines);
    let feed = store.feed(id.partition(), 100).await;
    let about = |line: &HistoryLine| line.subject == HistorySubject::Execution(id);
    let fed: Vec<_> = feed.into_iter().map(|(_, line)| line).filter(about).collect();
    let events: Vec<_> = lines.iter().map(|line| line.event().into_owned()).collect();
    assert_eq!(fed, events);
}

/// The counters of its flow moved by what the reference says, and by nothing else.
fn counted(wanted: &Reserved, before: &Snapshot, after: &Snapshot) {
    let moving = wanted.increments.iter().map(|(key, _)| key);
    for key in before.counters.keys().chain(after.counters.keys()).chain(moving) {
        let moved: i64 = wanted
            .increments
            .iter()
            .filter(|(counter, _)| counter == key)
            .map(|(_, by)| by)
            .sum();
        assert_eq!(after.counter(*key), before.counter(*key) + moved, "{key:?}");
    }
}

async fn everything(store: &Store<'_>, id: ExecutionId) -> Snapshot {
    let flow = store.execution(id).await.definition.flow;
    let keys: Vec<RecordKey> = flow
        .map(RecordKey::Gate)
        .into_iter()
        .chain([RecordKey::Execution(id)])
        .collect();
    let counters = flow
        .into_iter()
        .flat_map(|flow| FlowCounter::all().map(move |counter| CounterKey::Flow(flow, counter)));
    let load = Load::records(id.partition(), keys).with_counters(counters);
    store.load(load.with_blobs([BlobKey::Input(id)])).await
}

async fn history(store: &Store<'_>, id: ExecutionId) -> Vec<HistoryLine> {
    store
        .follow(&Listing::History(HistorySubject::Execution(id)), 100, Page::history)
        .await
}

fn attempt_ids(task: &Task) -> Option<(u32, AttemptId)> {
    task.execution
        .attempt
        .as_ref()
        .map(|attempt| (attempt.index, attempt.id))
}

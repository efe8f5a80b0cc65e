//! After whatever happened, every record is in exactly the index its facts say.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::command::lease::{Complete, DelayUntil, Fail, Release, Renew};
use ff_core::command::operator::{CancelExecution, ChangePriority, HoldExecution, RevokeLease};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::claim::{HandOut, Refusal, block_queued, unblock};
use ff_core::machine::index::{Index, Order};
use ff_core::machine::{Context, Decided, Draft, claim, fail, lease, operator, placement, time};
use ff_core::name::Category;
use ff_core::partition::{Family, Partition};
use ff_core::policy::{Backoff, Policy, RetryPolicy};
use ff_core::record::{Cause, Execution, Record, RecordKey};
use ff_core::time::Duration;

use super::build::{Random, Store, all_entries, tagged};
use super::queues::under;
use crate::due::DueKey;
use crate::query::{Page, Range};
use crate::reserve::Reserve;
use crate::transaction::Transaction;

const SEEDS: u64 = 4;
const STEPS: u64 = 150;

pub(super) async fn indexes_follow_the_facts_through_random_lives(store: &Store<'_>) {
    let cause = Cause::Budget(BudgetId::from_uuid(store.uuid()));
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(3).collect();
    let (mut ids, mut lists) = (Vec::new(), BTreeSet::new());
    for seed in 0..SEEDS {
        let mut random = Random::new(1_000 * seed);
        for _ in 0..STEPS {
            live(store, &partitions, &mut ids, cause, &mut random).await;
        }
        let mut records = Vec::new();
        for partition in &partitions {
            records.extend(audit(store, *partition, &ids).await);
        }
        lists.extend(records.iter().flat_map(all_entries).map(|entry| entry.index));
        for index in &lists {
            let range = Range::of(index.clone(), partitions.clone());
            let found = store.follow(&range.into(), 50, Page::records).await.into_iter();
            let found: Vec<Record> = found.map(|(record, _)| record).collect();
            assert_eq!(found, facts(&records, index), "seed {seed}, {index}");
        }
    }
}

/// What belongs in a list, in its order.
fn facts(records: &[Record], index: &Index) -> Vec<Record> {
    let entries = records
        .iter()
        .flat_map(|record| all_entries(record).map(move |entry| (entry, record)));
    let here = entries.filter(|(entry, _)| entry.index == *index);
    let here: BTreeMap<Order, Record> = here.map(|(entry, record)| (entry.order, record.clone())).collect();
    here.into_values().collect()
}

/// One random thing happens.
async fn live(
    store: &Store<'_>,
    partitions: &[Partition],
    ids: &mut Vec<ExecutionId>,
    cause: Cause,
    random: &mut Random,
) {
    match random.below(10) {
        0 | 1 => ids.push(submit(store, *random.pick(partitions), cause, random).await),
        2 | 3 => {
            let mode = *random.pick(&[HandOut::Lease, HandOut::Grant]);
            let tasks = store.reserve(Reserve { mode, ..store.ask(2) }).await;
            let granted = tasks.into_iter().filter(|task| task.execution.grant().is_some());
            for task in granted.filter(|_| random.below(3) > 0) {
                let leases = |execution: &_, context: &_| claim::lease(execution, &task.claimant, context);
                store.apply(task.execution.id, leases).await;
            }
        }
        4 => store.advance(Duration::from_millis(random.below(15_000))).await,
        _ if ids.is_empty() => {}
        _ => {
            let id = *random.pick(ids);
            let (before, version) = store.versioned(id).await;
            let context = Context::engine(store.now().await);
            if let Ok(draft) = happen(&before, cause, &context, random) {
                let snapshot = store.surroundings(id).await;
                assert_eq!(snapshot.version(&RecordKey::Execution(id)), Some(version));
                let transaction = Transaction::bind(draft, &snapshot, store.tag());
                // Time may have run on: what comes too late is computed anew some other time.
                store.try_commit(transaction).await.ok();
            }
        }
    }
}

async fn submit(store: &Store<'_>, partition: Partition, cause: Cause, random: &mut Random) -> ExecutionId {
    let backoff = Backoff::Fixed {
        delay: Duration::from_secs(random.below(3)),
    };
    let retry_policy = Some(RetryPolicy {
        backoff,
        ..RetryPolicy::default()
    });
    let delay = Duration::from_secs(random.below(20));
    let budgets = match cause {
        Cause::Budget(budget_id) if random.below(3) == 0 => vec![budget_id],
        _ => vec![],
    };
    let command = CreateExecution {
        priority: u16::try_from(random.below(4)).unwrap_or(0),
        policy: Policy {
            retry_policy,
            ..under(budgets)
        },
        delay_until: (random.below(3) == 0).then_some(store.now().await + delay),
        ..store.command()
    };
    let tag = ("team", *random.pick(&["red", "blue"]));
    store.submit_as(store.id_in(partition), tagged(command, tag)).await.id
}

/// A random rule, applied with the right fence where it needs one. Many are refused.
fn happen(execution: &Execution, cause: Cause, context: &Context, random: &mut Random) -> Result<Draft, Rejection> {
    let attempt = execution.attempt.as_ref().map(|attempt| attempt.id);
    let fence = execution
        .lease()
        .zip(attempt)
        .map(|(lease, attempt)| lease.fence(attempt));
    match random.below(13) {
        0 => lease::renew(
            execution,
            &Renew {
                fence,
                ..Renew::default()
            },
            context,
        )
        .map(drafted),
        1 => lease::release(
            execution,
            &Release {
                fence,
                ..Release::default()
            },
            context,
        )
        .map(drafted),
        2 => lease::complete(
            execution,
            &Complete {
                fence,
                result: None,
                ..Complete::default()
            },
            context,
        )
        .map(drafted),
        3 | 4 => {
            let category = Category::timeout();
            let fail = Fail {
                fence,
                reason: "again".to_owned(),
                category,
                retry_after: None,
                steps: Vec::new(),
            };
            fail::fail(execution, &fail, context).map(drafted)
        }
        5 => {
            let until = context.now + Duration::from_secs(random.below(10));
            lease::delay(
                execution,
                &DelayUntil {
                    fence,
                    until,
                    step: None,
                    steps: Vec::new(),
                },
                context,
            )
            .map(drafted)
        }
        6 => operator::hold(execution, &HoldExecution { reason: None }, context).map(drafted),
        7 => operator::unhold(execution, context).map(drafted),
        8 => {
            let priority = u16::try_from(random.below(9)).unwrap_or(0);
            operator::change_priority(execution, &ChangePriority { priority }, context).map(drafted)
        }
        9 => {
            let refusal = Refusal {
                cause,
                detail: "closed".to_owned(),
                generation: 1,
            };
            block_queued(execution, &refusal, context).map(drafted)
        }
        10 => unblock(execution, cause, context).map(drafted),
        11 => {
            let revoke = RevokeLease {
                reason: None,
                expected_lease_epoch: None,
                request_id: None,
            };
            operator::revoke_lease(execution, &revoke, context).map(drafted)
        }
        _ if random.below(4) == 0 => {
            let cancel = CancelExecution {
                reason: "enough".to_owned(),
                fence: None,
            };
            operator::cancel(execution, &cancel, context).map(drafted)
        }
        _ => Ok(drafted(time::advance(execution, context))),
    }
}

fn drafted<O>(decided: Decided<O>) -> Draft {
    decided.draft
}

/// The audit sees every record, each where it belongs, and what is due agrees with the timers.
async fn audit(store: &Store<'_>, partition: Partition, ids: &[ExecutionId]) -> Vec<Record> {
    let records = store.audited(partition).await;
    let mut here: Vec<RecordKey> = ids
        .iter()
        .copied()
        .filter(|id| id.partition() == partition)
        .map(RecordKey::Execution)
        .collect();
    here.sort_unstable();
    let audited = records.iter().filter(|record| matches!(record, Record::Execution(_)));
    let mut audited: Vec<RecordKey> = audited.map(Record::key).collect();
    audited.sort_unstable();
    assert_eq!(audited, here, "each once");
    let page = store.due_in(&[partition], 10_000).await;
    for record in &records {
        let due_at = placement::due_at(record);
        let listed = page
            .items
            .iter()
            .find(|item| item.key == DueKey::Record(record.key()))
            .map(|item| item.due_at);
        assert_eq!(listed, due_at.filter(|at| at.has_come(page.now)), "{:?}", record.key());
    }
    records
}

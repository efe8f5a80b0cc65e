//! Only what the worker can run, of its namespace and lanes, and of causes that are not closed.

use std::collections::BTreeSet;

use ff_core::capability::CapabilitySet;
use ff_core::command::lease::Complete;
use ff_core::command::operator::HoldExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::limits::{BUDGET_SETS_MAX, QUEUES_MAX};
use ff_core::machine::claim::{HandOut, Refusal, block, unblock};
use ff_core::machine::{lease, operator};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::policy::{Policy, RoutingRequirements};
use ff_core::record::Cause;
use ff_core::time::Duration;

use super::build::{Store, fence, ids, submission};
use crate::reserve::Reserve;
use crate::transaction::CommitError;

pub(super) async fn a_worker_gets_what_it_offers_everything_for(store: &Store<'_>) {
    let sets: [&[&str]; 5] = [&[], &["gpu"], &["eu"], &["eu", "gpu"], &["eu", "gpu", "größe:模型"]];
    let mut submitted = Vec::new();
    for required in sets {
        submitted.push(store.submit(requiring(store.command(), required)).await.id);
        store.advance(Duration::from_millis(10)).await;
    }
    let take = |offered: &[&str]| {
        let ask = Reserve {
            capabilities: capabilities(offered),
            ..store.ask(10)
        };
        async { ids(&store.reserve(ask).await) }
    };
    assert_eq!(take(&["gpu", "us"]).await, [submitted[0], submitted[1]]);
    assert_eq!(take(&["us"]).await, []);
    assert_eq!(take(&["eu", "gpu"]).await, [submitted[2], submitted[3]]);
    assert_eq!(take(&["eu", "gpu", "us", "größe:模型"]).await, [submitted[4]]);
}

pub(super) async fn work_never_crosses_namespaces(store: &Store<'_>) {
    let [mine, theirs] = ["mine", "theirs"].map(|name| Namespace::parse(name).expect("a namespace"));
    let id = store
        .submit(CreateExecution {
            namespace: mine.clone(),
            ..store.command()
        })
        .await
        .id;
    let ask = |namespace: &Namespace| Reserve {
        namespace: namespace.clone(),
        ..store.ask(5)
    };
    assert!(store.reserve(ask(&theirs)).await.is_empty());
    assert!(store.reserve(store.ask(5)).await.is_empty());
    assert_eq!(ids(&store.reserve(ask(&mine)).await), [id]);
}

pub(super) async fn work_of_lanes_not_named_is_left_alone(store: &Store<'_>) {
    let [lane, other] = ["lane", "lane2"].map(|name| LaneId::parse(name).expect("a lane"));
    let id = store
        .submit(CreateExecution {
            lane_id: lane.clone(),
            ..store.command()
        })
        .await
        .id;
    let ask = |lanes: &[LaneId]| Reserve {
        lanes: lanes.to_vec(),
        ..store.ask(5)
    };
    assert!(store.reserve(ask(std::slice::from_ref(&other))).await.is_empty());
    assert!(store.reserve(ask(&[])).await.is_empty());
    assert_eq!(ids(&store.reserve(ask(&[other, lane])).await), [id]);
}

pub(super) async fn work_under_a_closed_cause_is_skipped(store: &Store<'_>) {
    let [budget, open] = [(); 2].map(|()| BudgetId::from_uuid(store.uuid()));
    let quota = QuotaPolicyId::from_uuid(store.uuid());
    let under = |budgets: &[BudgetId], quota_policy_id| {
        let budget_ids: BTreeSet<BudgetId> = budgets.iter().copied().collect();
        let policy = Policy {
            budget_ids,
            quota_policy_id,
            ..Policy::default()
        };
        store.submit(CreateExecution {
            policy,
            ..store.command()
        })
    };
    let free = store.submit(store.command()).await.id;
    let of_open = under(&[open], None).await.id;
    let of_budget = under(&[budget], None).await.id;
    let of_both = under(&[open, budget], None).await.id;
    let of_quota = under(&[open], Some(quota)).await.id;
    let closed = |causes: &[Cause]| Reserve {
        closed: causes.to_vec(),
        ..store.ask(10)
    };
    let taken = store
        .reserve(closed(&[Cause::Budget(budget), Cause::Quota(quota)]))
        .await;
    assert_eq!(as_set(&ids(&taken)), as_set(&[free, of_open]));
    let taken = store.reserve(closed(&[Cause::Budget(budget)])).await;
    assert_eq!(ids(&taken), [of_quota]);
    assert_eq!(
        as_set(&ids(&store.reserve(closed(&[])).await)),
        as_set(&[of_budget, of_both])
    );
}

pub(super) async fn what_is_not_eligible_is_not_handed_out(store: &Store<'_>) {
    let delay_until = Some(store.now().await + Duration::from_hours(1));
    store
        .submit(CreateExecution {
            delay_until,
            ..store.command()
        })
        .await;
    let held = store.submit(store.command()).await.id;
    store
        .apply(held, |execution, context| {
            operator::hold(execution, &HoldExecution { reason: None }, context)
        })
        .await;
    let done = store.leased().await;
    let complete = Complete {
        fence: Some(fence(&done)),
        result: None,
        ..Complete::default()
    };
    store
        .apply(done.execution.id, |execution, context| {
            lease::complete(execution, &complete, context)
        })
        .await;
    store.leased().await;
    blocked(store, Cause::Budget(BudgetId::from_uuid(store.uuid()))).await;
    assert!(store.reserve(store.ask(10)).await.is_empty());
}

pub(super) async fn blocked_work_is_eligible_again_once_it_is_unblocked(store: &Store<'_>) {
    let cause = Cause::Quota(QuotaPolicyId::from_uuid(store.uuid()));
    let id = blocked(store, cause).await;
    assert!(store.reserve(store.ask(1)).await.is_empty());
    store
        .apply(id, |execution, context| unblock(execution, cause, context))
        .await;
    assert_eq!(ids(&store.reserve(store.ask(1)).await), [id]);
}

pub(super) async fn one_queue_too_many_is_refused(store: &Store<'_>) {
    fill_queues(store).await;
    let refused = |answer| assert_eq!(answer, Err(CommitError::TooManyQueues));
    let one_more = requiring(store.command(), &["one-more"]);
    refused(try_submit(store, store.id(), &one_more).await);
    assert!(
        try_submit(store, store.id(), &requiring(store.command(), &["c0"]))
            .await
            .is_ok(),
        "a queue that is there"
    );
    let elsewhere = CreateExecution {
        lane_id: LaneId::parse("other").expect("a lane"),
        ..one_more.clone()
    };
    assert!(try_submit(store, store.id(), &elsewhere).await.is_ok(), "another lane");
    let namespace = Namespace::parse("other").expect("a namespace");
    assert!(
        try_submit(
            store,
            store.id(),
            &CreateExecution {
                namespace,
                ..one_more.clone()
            }
        )
        .await
        .is_ok()
    );
    if store.counts().count(Family::Flow) > 1 {
        assert!(
            try_submit(store, store.id_in(Partition::flow(1)), &one_more)
                .await
                .is_ok(),
            "another partition"
        );
    }
}

pub(super) async fn only_submissions_are_limited_in_their_queues(store: &Store<'_>) {
    fill_queues(store).await;
    let now = store.now().await;
    let mut transaction = submission(&requiring(store.command(), &["one-more"]), store.id(), now, store.tag());
    transaction.limits_queues = false;
    store.commit(transaction).await;
}

pub(super) async fn an_emptied_queue_makes_room_for_another(store: &Store<'_>) {
    fill_queues(store).await;
    let ask = Reserve {
        capabilities: capabilities(&["c0"]),
        ..store.ask(1)
    };
    assert_eq!(store.reserve(ask).await.len(), 1);
    let answer = try_submit(store, store.id(), &requiring(store.command(), &["one-more"])).await;
    assert!(answer.is_ok(), "{answer:?}");
}

/// However many budget sets there are, they open a bounded number of queues, and all of their work is handed out.
pub(super) async fn budget_sets_without_number_share_a_queue(store: &Store<'_>) {
    let count = QUEUES_MAX + BUDGET_SETS_MAX;
    let budgets: Vec<BudgetId> = (0..count).map(|_| BudgetId::from_uuid(store.uuid())).collect();
    let under = |budget: &BudgetId| {
        let policy = Policy {
            budget_ids: [*budget].into(),
            ..Policy::default()
        };
        (
            store.id(),
            CreateExecution {
                policy,
                ..store.command()
            },
        )
    };
    let commands: Vec<_> = budgets.iter().map(under).collect();
    let mut wanted: Vec<ExecutionId> = commands.iter().map(|(id, _)| *id).collect();
    store.submit_all(commands).await;
    store.audited(store.home()).await;
    let mut taken = store
        .reserve_all(&Reserve {
            mode: HandOut::Grant,
            ..store.ask(100)
        })
        .await;
    wanted.sort_unstable();
    taken.sort_unstable();
    assert_eq!(taken, wanted);
}

async fn fill_queues(store: &Store<'_>) {
    let command = |n: usize| requiring(store.command(), &[&format!("c{n}")]);
    store
        .submit_all((0..QUEUES_MAX).map(|n| (store.id(), command(n))).collect())
        .await;
}

async fn try_submit(store: &Store<'_>, id: ExecutionId, command: &CreateExecution) -> Result<(), CommitError> {
    let now = store.now().await;
    store
        .try_commit(submission(command, id, now, store.tag()))
        .await
        .map(|_| ())
}

/// Submits an execution and blocks it by `cause`.
pub(super) async fn blocked(store: &Store<'_>, cause: Cause) -> ExecutionId {
    let id = store.submit(store.command()).await.id;
    let tasks = store
        .reserve(Reserve {
            mode: HandOut::Grant,
            ..store.ask(1)
        })
        .await;
    assert_eq!(ids(&tasks), [id]);
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let grant_id = tasks[0].claimant.grant_id;
    store
        .apply(id, |execution, context| block(execution, grant_id, &refusal, context))
        .await;
    id
}

/// `command` for workers that offer `required`.
pub(super) fn requiring(command: CreateExecution, required: &[&str]) -> CreateExecution {
    let routing_requirements = RoutingRequirements {
        required_capabilities: capabilities(required),
    };
    let policy = Policy {
        routing_requirements,
        ..command.policy
    };
    CreateExecution { policy, ..command }
}

/// A set of capabilities.
pub(super) fn capabilities(tokens: &[&str]) -> CapabilitySet {
    CapabilitySet::parse(tokens).expect("valid capabilities")
}

fn as_set(ids: &[ExecutionId]) -> BTreeSet<ExecutionId> {
    ids.iter().copied().collect()
}

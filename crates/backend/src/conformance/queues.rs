//! Listings of indexes: queues, lanes, and what waits or runs under a budget or quota.

use std::collections::BTreeMap;

use ff_core::command::operator::HoldExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{BudgetId, ExecutionId, QuotaPolicyId};
use ff_core::machine::claim::{Claimant, HandOut, Refusal, block_queued};
use ff_core::machine::placement::{queue_key, score};
use ff_core::machine::{claim, operator};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::policy::Policy;
use ff_core::record::{Cause, Execution};
use ff_core::state::PublicState;
use ff_core::time::Duration;

use super::build::Store;
use super::reserve_match::requiring;
use crate::query::{LaneDepth, Listing, Page, QueueHead};
use crate::reserve::Reserve;

pub(super) async fn blocked_work_is_listed_under_its_cause_best_first(store: &Store<'_>) {
    let causes = [
        Cause::Budget(BudgetId::from_uuid(store.uuid())),
        Cause::Quota(QuotaPolicyId::from_uuid(store.uuid())),
    ];
    for cause in causes {
        let mut blocked = Vec::new();
        for priority in [1, 9, 4, 9, 0, 2, 7, 7] {
            let execution = store
                .submit(CreateExecution {
                    priority,
                    ..store.command()
                })
                .await;
            block(store, execution.id, cause).await;
            blocked.push(execution);
            store.advance(Duration::from_millis(5)).await;
        }
        assert_eq!(
            store
                .listed_ids(Listing::Blocked {
                    partitions: vec![store.home()],
                    cause
                })
                .await,
            by_score(blocked)
        );
    }
    let elsewhere = Cause::Budget(BudgetId::from_uuid(store.uuid()));
    assert_eq!(
        store
            .listed_ids(Listing::Blocked {
                partitions: vec![store.home()],
                cause: elsewhere
            })
            .await,
        []
    );
}

pub(super) async fn a_partition_knows_the_causes_it_holds_work_for(store: &Store<'_>) {
    let mut causes: Vec<Cause> = (0..5)
        .map(|_| Cause::Budget(BudgetId::from_uuid(store.uuid())))
        .collect();
    causes.extend((0..5).map(|_| Cause::Quota(QuotaPolicyId::from_uuid(store.uuid()))));
    let mut last = None;
    for cause in &causes {
        for _ in 0..2 {
            let id = store.submit(store.command()).await.id;
            block(store, id, *cause).await;
            last = Some(id);
        }
    }
    let held = async |partition| {
        let listing = Listing::BlockedCauses(vec![partition]);
        let causes = store.follow(&listing, 3, Page::causes).await;
        assert!(causes.iter().all(|(place, _)| *place == partition));
        causes.into_iter().map(|(_, cause)| cause).collect::<Vec<_>>()
    };
    let mut wanted = causes.clone();
    wanted.sort_unstable();
    assert_eq!(held(store.home()).await, wanted, "each cause once");
    if store.counts().count(Family::Flow) > 1 {
        assert_eq!(held(Partition::flow(1)).await, []);
    }
    let (cause, id) = (causes[9], last.expect("something is blocked"));
    let first = store
        .listed_ids(Listing::Blocked {
            partitions: vec![store.home()],
            cause,
        })
        .await;
    for id in first.into_iter().filter(|blocked| *blocked != id).chain([id]) {
        store
            .apply(id, |execution, context| claim::unblock(execution, cause, context))
            .await;
    }
    assert!(
        !held(store.home()).await.contains(&cause),
        "nothing waits for it any more"
    );
}

pub(super) async fn eligible_work_is_listed_under_its_budgets_best_first(store: &Store<'_>) {
    let [budget_id, other] = [(); 2].map(|()| BudgetId::from_uuid(store.uuid()));
    let mut queued = Vec::new();
    for n in 0..12_u16 {
        let budget_ids = if n % 3 == 0 {
            [other].into()
        } else {
            [budget_id, other].into()
        };
        let policy = Policy {
            budget_ids,
            ..Policy::default()
        };
        let token = if n % 2 == 0 { "gpu" } else { "eu" };
        let command = requiring(
            CreateExecution {
                priority: n % 5,
                policy,
                ..store.command()
            },
            &[token],
        );
        let execution = store.submit(command).await;
        if n % 3 != 0 {
            queued.push(execution);
        }
    }
    let held = queued.remove(3);
    store
        .apply(held.id, |execution, context| {
            operator::hold(execution, &HoldExecution { reason: None }, context)
        })
        .await;
    let listing = Listing::QueuedUnder {
        partitions: vec![store.home()],
        budget_id,
    };
    assert_eq!(store.listed_ids(listing).await, by_score(queued));
}

pub(super) async fn leased_work_is_listed_under_its_budgets_by_id(store: &Store<'_>) {
    let budget_id = BudgetId::from_uuid(store.uuid());
    let policy = Policy {
        budget_ids: [budget_id].into(),
        ..Policy::default()
    };
    let mut leased = Vec::new();
    for n in 0..8 {
        let id = store
            .submit(CreateExecution {
                policy: policy.clone(),
                ..store.command()
            })
            .await
            .id;
        let claimant = granted(store).await;
        if n % 2 == 0 {
            store
                .apply(id, |execution, context| claim::lease(execution, &claimant, context))
                .await;
            leased.push(id);
        }
    }
    leased.sort_unstable();
    assert_eq!(
        store
            .listed_ids(Listing::LeasedUnder {
                partitions: vec![store.home()],
                budget_id
            })
            .await,
        leased
    );
}

pub(super) async fn queues_are_listed_with_their_heads_and_lengths(store: &Store<'_>) {
    let mut wanted: BTreeMap<_, QueueHead> = BTreeMap::new();
    for n in 0..12_u16 {
        let required: &[&str] = [&[][..], &["gpu"], &["eu", "gpu"]][usize::from(n % 3)];
        let lane_id = LaneId::parse(if n % 2 == 0 { "a" } else { "b" }).expect("a lane");
        let command = requiring(
            CreateExecution {
                lane_id,
                priority: n % 4,
                ..store.command()
            },
            required,
        );
        let execution = store.submit(command).await;
        let (queue, best) = (queue_key(&execution), score(&execution));
        let head = wanted.entry(queue.clone()).or_insert(QueueHead {
            partition: store.home(),
            queue,
            head: best,
            length: 0,
        });
        head.head = head.head.min(best);
        head.length += 1;
    }
    let listing = Listing::Queues(vec![store.home()]);
    let listed = async || store.follow(&listing, 2, Page::queues).await;
    assert_eq!(listed().await, wanted.into_values().collect::<Vec<_>>());
    let lanes = ["a", "b"].map(|lane| LaneId::parse(lane).expect("a lane")).to_vec();
    let capabilities = super::reserve_match::capabilities(&["eu", "gpu"]);
    store
        .reserve_all(&Reserve {
            lanes,
            capabilities,
            ..store.ask(5)
        })
        .await;
    assert_eq!(listed().await, [], "an empty queue is none");
}

pub(super) async fn lanes_are_listed_by_name_with_their_depths(store: &Store<'_>) {
    let namespace = Namespace::parse("mine").expect("a namespace");
    let partitions = store.counts().count(Family::Flow);
    let mut oldest = BTreeMap::new();
    for n in 0..12_u16 {
        let lane_id = LaneId::parse(["b", "a", "c"][usize::from(n % 3)]).expect("a lane");
        let command = CreateExecution {
            lane_id: lane_id.clone(),
            namespace: namespace.clone(),
            ..store.command()
        };
        let execution = store
            .submit_as(store.id_in(Partition::flow(n % partitions)), command)
            .await;
        oldest.entry(lane_id).or_insert(execution.definition.created_at);
        store.advance(Duration::from_millis(10)).await;
    }
    store.submit(store.command()).await;
    let lane_b = LaneId::parse("b").expect("a lane");
    let ask = Reserve {
        namespace: namespace.clone(),
        lanes: vec![lane_b.clone()],
        ..store.ask(4)
    };
    assert_eq!(store.reserve(ask).await.len(), 4);
    let rows = store.follow(&Listing::Lanes(namespace), 2, Page::lanes).await;
    let depth = |state, lane: &str| {
        let lane = LaneId::parse(lane).expect("a lane");
        let oldest_eligible = (lane != lane_b).then(|| oldest[&lane]);
        LaneDepth {
            lane,
            depth: BTreeMap::from([(state, 4)]),
            oldest_eligible,
        }
    };
    let wanted = [
        depth(PublicState::Waiting, "a"),
        depth(PublicState::Active, "b"),
        depth(PublicState::Waiting, "c"),
    ];
    assert_eq!(rows.into_iter().map(without_zeros).collect::<Vec<_>>(), wanted);
}

fn without_zeros(mut row: LaneDepth) -> LaneDepth {
    row.depth.retain(|_, count| *count > 0);
    row
}

/// Promises the one eligible execution to a worker.
pub(super) async fn granted(store: &Store<'_>) -> Claimant {
    let tasks = store
        .reserve(Reserve {
            mode: HandOut::Grant,
            ..store.ask(1)
        })
        .await;
    tasks
        .into_iter()
        .map(|task| task.claimant)
        .next()
        .expect("something is eligible")
}

/// Admission refuses an execution that waits.
pub(super) async fn block(store: &Store<'_>, id: ExecutionId, cause: Cause) {
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    store
        .apply(id, |execution, context| block_queued(execution, &refusal, context))
        .await;
}

/// Their ids, best score first.
pub(super) fn by_score(mut executions: Vec<Execution>) -> Vec<ExecutionId> {
    executions.sort_by_key(score);
    executions.into_iter().map(|execution| execution.id).collect()
}

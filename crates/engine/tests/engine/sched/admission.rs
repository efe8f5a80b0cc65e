//! Admission: budgets and quotas between a reservation and its lease.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::support::{Store, claim, command, counts, decide, want};
use ff_backend::Backend;
use ff_backend::limits::{self, Direct};
use ff_backend::query::{Query, Range};
use ff_core::command::claim::Claim;
use ff_core::command::operator::CancelExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::machine::index::Index;
use ff_core::machine::operator;
use ff_core::partition::Family;
use ff_core::record::{Block, Cause};
use ff_core::state::{BlockingReason, state_vector};
use ff_engine::{Config, Engine, VirtualHost};
use futures::future::join_all;

struct World {
    store: Arc<Store>,
    host: Arc<VirtualHost>,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let store = Store::new();
        let host = Arc::new(VirtualHost::new(5));
        let engine = Engine::new(Arc::clone(&store) as _, Arc::clone(&host) as _, Config::new(counts()));
        Self { store, host, engine }
    }

    async fn block_of(&self, id: ff_core::id::ExecutionId) -> Option<Block> {
        self.store.execution(id).await.runnable()?.block.clone()
    }

    /// How many executions wait for a cause.
    async fn blocked(&self, cause: Cause) -> usize {
        let partitions = counts().all(Family::Flow).collect();
        let query = Query {
            of: Range::of(Index::Blocked(cause), partitions).into(),
            after: None,
            limit: 1_000,
        };
        self.store.inner.list(query).await.expect("a page").executions().len()
    }
}

fn of_budget(budget: BudgetId) -> CreateExecution {
    let mut command = command();
    command.policy.budget_ids = BTreeSet::from([budget]);
    command
}

fn of_quota(quota: QuotaPolicyId) -> CreateExecution {
    let mut command = command();
    command.policy.quota_policy_id = Some(quota);
    command
}

fn claim_of(max: usize) -> Claim {
    Claim {
        want: want(max),
        ..claim(1)
    }
}

#[tokio::test]
async fn an_open_budget_lets_its_work_pass() {
    let world = World::new();
    let budget = world.store.budget(5, 4).await;
    let id = world.store.submit(of_budget(budget)).await;
    let tasks = world.engine.claim(claim(1)).await.unwrap();
    assert_eq!(tasks[0].execution_id, id);
    assert!(world.store.execution(id).await.lease().is_some());
}

#[tokio::test]
async fn a_closed_budget_blocks_and_is_named_and_the_next_candidate_is_tried() {
    let world = World::new();
    let budget = world.store.budget(5, 7).await;
    let closed = world.store.submit(of_budget(budget)).await;
    let free = world.store.submit(command()).await;
    let tasks = world.engine.claim(claim(1)).await.unwrap();
    assert_eq!(tasks[0].execution_id, free);
    let block = world.block_of(closed).await.unwrap();
    assert_eq!(block.cause, Cause::Budget(budget));
    assert_eq!(block.detail, format!("budget {budget}: tokens 7/5"));
    let vector = state_vector(&world.store.execution(closed).await);
    assert_eq!(vector.blocking_reason, BlockingReason::WaitingForBudget);
    // The budget knows where work waits for it.
    let direct = world.store.direct();
    limits::budgets::reset(&direct, budget, &Default::default())
        .await
        .unwrap();
    let (_, work) = limits::budgets::advance(&direct, budget).await.unwrap();
    assert_eq!(work.release.as_ref().unwrap().partitions, [closed.partition()]);
}

#[tokio::test]
async fn work_of_a_budget_that_is_gone_waits() {
    let world = World::new();
    let budget = BudgetId::from_uuid(world.store.mint());
    let id = world.store.submit(of_budget(budget)).await;
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
    let block = world.block_of(id).await.unwrap();
    assert_eq!(block.detail, format!("budget {budget} does not exist"));
}

#[tokio::test]
async fn five_thousand_executions_of_a_closed_budget_cost_as_many_calls_as_ten() {
    let mut costs = Vec::new();
    for waiting in [10, 5_000] {
        let world = World::new();
        let budget = world.store.budget(5, 5).await;
        for _ in 0..waiting {
            world.store.submit(of_budget(budget)).await;
        }
        let mut claim_costs = Vec::new();
        for _ in 0..4 {
            let calls = world.store.calls();
            assert_eq!(world.engine.claim(claim_of(1)).await.unwrap(), []);
            claim_costs.push(world.store.calls() - calls);
            world.host.advance(std::time::Duration::from_millis(2_500));
        }
        costs.push(claim_costs);
    }
    assert_eq!(costs[0], costs[1]);
    assert!(costs[0].iter().all(|calls| *calls <= 12), "{costs:?}");
}

#[tokio::test]
async fn at_most_64_are_blocked_by_one_claim() {
    let world = World::new();
    let budget = world.store.budget(5, 5).await;
    for _ in 0..300 {
        world.store.submit(of_budget(budget)).await;
    }
    assert_eq!(world.engine.claim(claim_of(1_000)).await.unwrap(), []);
    assert_eq!(world.blocked(Cause::Budget(budget)).await, 64);
}

#[tokio::test]
async fn budgets_of_a_claim_are_read_once() {
    let world = World::new();
    let open = world.store.budget(5, 0).await;
    for _ in 0..60 {
        world.store.submit(of_budget(open)).await;
    }
    assert_eq!(world.engine.claim(claim_of(60)).await.unwrap().len(), 60);
    assert_eq!(world.store.calls_of("ledger"), 1);
    assert_eq!(world.store.calls_of("reserve"), 1);
    assert!(world.store.calls_of("commit") <= 2);
}

#[tokio::test]
async fn a_quota_hands_out_as_many_as_its_cap() {
    let world = World::new();
    let quota = world.store.quota(Some(2), None).await;
    for _ in 0..5 {
        world.store.submit(of_quota(quota)).await;
    }
    let answers = join_all((0..5).map(|number| world.engine.claim(claim(number)))).await;
    let tasks: Vec<_> = answers.into_iter().flat_map(Result::unwrap).collect();
    assert_eq!(tasks.len(), 2);
    assert_eq!(world.store.quota_view(quota).await.in_use, 2);
    assert_eq!(world.blocked(Cause::Quota(quota)).await, 3);
}

#[tokio::test]
async fn a_full_quota_is_named_and_its_other_work_stays_in_its_queue() {
    let world = World::new();
    let quota = world.store.quota(None, Some(0)).await;
    let tried = world.store.submit(of_quota(quota)).await;
    let other = world.store.submit(of_quota(quota)).await;
    let free = world.store.submit(command()).await;
    let tasks = world.engine.claim(claim(1)).await.unwrap();
    assert_eq!(tasks[0].execution_id, free);
    let block = world.block_of(tried).await.unwrap();
    assert_eq!(block.cause, Cause::Quota(quota));
    assert!(block.detail.contains("rate 0/0"), "{}", block.detail);
    assert!(world.block_of(other).await.is_none());
    // It is known to be full: nobody asks it again for a while.
    let calls = world.store.calls_of("ledger");
    world.engine.claim(claim(2)).await.unwrap();
    assert_eq!(world.store.calls_of("ledger"), calls);
}

#[tokio::test]
async fn the_slot_is_given_back_when_the_lease_commit_conflicts() {
    let world = World::new();
    let quota = world.store.quota(Some(1), None).await;
    let id = world.store.submit(of_quota(quota)).await;
    let tag = world.store.mint();
    world.store.before_next(
        "commit",
        Box::new(move |store| {
            Box::pin(async move {
                let command = CancelExecution {
                    reason: "meanwhile".to_owned(),
                    fence: None,
                };
                decide(&store, id, tag, |execution, context| {
                    operator::cancel(execution, &command, context)
                })
                .await;
            })
        }),
    );
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
    assert!(world.store.execution(id).await.is_terminal());
    assert_eq!(world.store.quota_view(quota).await.in_use, 0);
}

#[tokio::test]
async fn nothing_is_granted_when_the_budgets_cannot_be_read() {
    let world = World::new();
    let budget = world.store.budget(5, 0).await;
    let id = world.store.submit(of_budget(budget)).await;
    world.store.set_broken("ledger", true);
    let refused = world.engine.claim(claim(1)).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    let execution = world.store.execution(id).await;
    assert!(execution.lease().is_none());
    assert!(!execution.grant().unwrap().admitted, "the reservation lapses");
}

#[tokio::test]
async fn what_is_free_is_handed_out_though_budgets_cannot_be_read() {
    let world = World::new();
    let budget = world.store.budget(5, 0).await;
    world.store.submit(of_budget(budget)).await;
    let free = world.store.submit(command()).await;
    world.store.set_broken("ledger", true);
    let tasks = world.engine.claim(claim_of(2)).await.unwrap();
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].execution_id, free);
}

#[tokio::test]
async fn a_budget_reset_between_the_refusal_and_the_block_is_noticed() {
    let world = World::new();
    let budget = world.store.budget(5, 5).await;
    let first = world.store.submit(of_budget(budget)).await;
    let second = world.store.submit(of_budget(budget)).await;
    world.store.before_next(
        "commit",
        Box::new(move |store| {
            Box::pin(async move {
                let reset = limits::budgets::reset(&Direct::new(store), budget, &Default::default()).await;
                reset.unwrap();
            })
        }),
    );
    // It is not believed to be closed any more, and what was blocked is let go at once: the same claim gets it.
    let tasks = world.engine.claim(claim(1)).await.unwrap();
    assert_eq!(tasks[0].execution_id, first);
    assert!(world.block_of(second).await.is_none());
}

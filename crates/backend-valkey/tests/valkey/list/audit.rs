//! The audit shows what the sets hold, not what the records say.

use std::sync::Arc;

use ff_backend::query::{AuditRow, Listing, Page};
use ff_core::id::BudgetId;
use ff_core::machine::Context;
use ff_core::machine::claim::{Refusal, block_queued};
use ff_core::machine::placement::{Placement, placement};
use ff_core::partition::Partition;
use ff_core::record::{Cause, Definition, Execution};
use uuid::Uuid;

use super::{Scratch, execution, moment, template, written};

#[tokio::test]
async fn an_entry_that_was_lost_is_missed() {
    let scratch = Scratch::new().await;
    let waiting = execution(&template(), 1, 0, moment(0));
    scratch.write_executions(std::slice::from_ref(&waiting)).await;
    assert_eq!(audited(&scratch).await.placement, Some(placement(&waiting)));
    let queue = scratch.server.ask("KEYS {fp:0}:queue:*").await;
    let entry = format!("execution:{}", waiting.id.uuid());
    scratch
        .server
        .ask(&format!("ZREM {} {entry}", queue.array()[0].text()))
        .await;
    assert_eq!(audited(&scratch).await.placement, Some(Placement::Nowhere));
}

#[tokio::test]
async fn a_queue_that_nobody_would_find_is_missed() {
    let scratch = Scratch::new().await;
    let waiting = execution(&template(), 1, 0, moment(0));
    scratch.write_executions(&[waiting]).await;
    scratch.server.ask("DEL {fp:0}:queues").await;
    assert_eq!(audited(&scratch).await.placement, Some(Placement::Nowhere));
}

#[tokio::test]
async fn an_entry_with_another_number_is_shown_with_it() {
    let scratch = Scratch::new().await;
    let cause = Cause::Budget(BudgetId::from_uuid(Uuid::from_u128(1)));
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let waiting = execution(&template(), 1, 0, moment(0));
    let blocked = written(block_queued(&waiting, &refusal, &Context::engine(moment(1))).unwrap());
    scratch.write_executions(std::slice::from_ref(&blocked)).await;
    assert_eq!(audited(&scratch).await.placement, Some(placement(&blocked)));
    let budget = Uuid::from_u128(1);
    let entry = format!("execution:{}", blocked.id.uuid());
    scratch
        .server
        .ask(&format!("ZINCRBY {{fp:0}}:blocked:budget:{budget} 1000 {entry}"))
        .await;
    let Some(Placement::Blocked { cause: by, score }) = audited(&scratch).await.placement else {
        panic!("it is still blocked");
    };
    assert_eq!((by, score.created_at), (cause, moment(1_000)));
}

#[tokio::test]
async fn a_lost_timer_is_missed() {
    let scratch = Scratch::new().await;
    let waiting = Execution {
        deadline_at: Some(moment(5_000)),
        ..execution(&template(), 1, 0, moment(0))
    };
    scratch.write_executions(&[waiting]).await;
    assert_eq!(audited(&scratch).await.due_at, Some(moment(5_000)));
    scratch.server.ask("DEL {fp:0}:due").await;
    assert_eq!(audited(&scratch).await.due_at, None);
}

/// The first budget sets have a queue of their own, all others share one; an audit tells no difference.
#[tokio::test]
async fn an_execution_in_a_shared_queue_is_in_the_queue_it_asks_for() {
    let (scratch, template) = (Scratch::new().await, template());
    let under = |n: u64| {
        let execution = execution(&template, n, 0, moment(n));
        let mut definition = Definition::clone(&execution.definition);
        definition.policy.budget_ids = [BudgetId::from_uuid(Uuid::from_u128(u128::from(n) + 1))].into();
        Execution {
            definition: Arc::new(definition),
            ..execution
        }
    };
    let executions: Vec<Execution> = (0..300).map(under).collect();
    scratch.write_executions(&executions).await;
    let (rows, _) = scratch
        .follow(&Listing::Audit(Partition::flow(0)), 70, Page::audit)
        .await;
    let found: Vec<_> = rows.into_iter().map(|row| row.placement).collect();
    assert_eq!(
        found,
        executions.iter().map(|it| Some(placement(it))).collect::<Vec<_>>()
    );
    let queues = Listing::Queues(vec![Partition::flow(0)]);
    assert!(
        scratch.follow(&queues, 100, Page::queues).await.0.len() < 300,
        "some share a queue"
    );
}

/// The one row there is.
async fn audited(scratch: &Scratch) -> AuditRow {
    let (mut rows, _) = scratch
        .follow(&Listing::Audit(Partition::flow(0)), 10, Page::audit)
        .await;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

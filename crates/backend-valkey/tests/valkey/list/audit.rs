//! The audit shows what the sets hold, not what the records say.

use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::query::{AuditRow, HeadsOf, Listing, Page};
use ff_backend::transaction::{Delete, Tag, Transaction, Version};
use ff_core::id::{BudgetId, ExecutionId, FlowId};
use ff_core::machine::index::entries;
use ff_core::machine::placement::{queue_key, queue_of};
use ff_core::partition::Partition;
use ff_core::record::{Definition, Execution, Gate, GateState, Record, Step, Tags};
use serde_json::json;
use uuid::Uuid;

use super::{Scratch, execution, moment, template};

#[tokio::test]
async fn an_entry_that_was_lost_is_missed() {
    let scratch = Scratch::new().await;
    let waiting = execution(&template(), 1, 0, moment(0));
    scratch.write_executions(std::slice::from_ref(&waiting)).await;
    assert_eq!(audited(&scratch).await.queue, queue_of(&waiting.clone().into()));
    let queue = scratch.server.ask("KEYS {fp:0}:queue:*").await;
    let entry = format!("execution:{}", waiting.id.uuid());
    scratch
        .server
        .ask(&format!("ZREM {} {entry}", queue.array()[0].text()))
        .await;
    assert_eq!(audited(&scratch).await.queue, None);
}

#[tokio::test]
async fn a_queue_that_nobody_would_find_is_missed() {
    let scratch = Scratch::new().await;
    let waiting = execution(&template(), 1, 0, moment(0));
    scratch.write_executions(&[waiting]).await;
    scratch.server.ask("DEL {fp:0}:queues").await;
    assert_eq!(audited(&scratch).await.queue, None);
}

#[tokio::test]
async fn an_entry_with_another_number_is_shown_with_it() {
    let scratch = Scratch::new().await;
    let waiting = execution(&template(), 1, 0, moment(0));
    scratch.write_executions(std::slice::from_ref(&waiting)).await;
    let queue = scratch.server.ask("KEYS {fp:0}:queue:*").await;
    let (queue, entry) = (queue.array()[0].text(), format!("execution:{}", waiting.id.uuid()));
    scratch.server.ask(&format!("ZINCRBY {queue} 1000 {entry}")).await;
    let (found, score) = audited(&scratch).await.queue.unwrap();
    assert_eq!((found, score.created_at), (queue_key(&waiting), moment(1_000)));
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

#[tokio::test]
async fn a_list_that_lost_its_entry_is_missed() {
    let scratch = Scratch::new().await;
    let tagged = Execution {
        tags: Arc::new(Tags::from([("team".to_owned(), "red".to_owned())])),
        ..execution(&template(), 1, 0, moment(0))
    };
    scratch.write_executions(std::slice::from_ref(&tagged)).await;
    assert_eq!(audited(&scratch).await.missing, []);
    scratch.server.ask("DEL {fp:0}:index").await;
    let wanted = entries(&tagged.into());
    assert_eq!((wanted.len(), audited(&scratch).await.missing), (1, wanted));
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
    let found: Vec<_> = rows.into_iter().map(|row| row.queue).collect();
    // The newest come first.
    let wanted = executions.into_iter().rev().map(|it| queue_of(&it.into()));
    assert_eq!(found, wanted.collect::<Vec<_>>());
    let queues = Listing::Heads {
        of: HeadsOf::Queues,
        partitions: vec![Partition::flow(0)],
        count: 0,
    };
    assert!(
        scratch.follow(&queues, 100, Page::heads).await.0.len() < 300,
        "some share a queue"
    );
}

/// A step is found by its place, which its key does not tell.
#[tokio::test]
async fn every_kind_is_audited_and_leaves_nothing_behind_when_it_is_deleted() {
    let scratch = Scratch::new().await;
    let owner = Execution {
        tags: Arc::new(Tags::from([("team".to_owned(), "red".to_owned())])),
        ..execution(&template(), 1, 0, moment(0))
    };
    let gate = Gate {
        flow_id: FlowId::from_uuid(Uuid::from_u128(1)),
        state: GateState::Open,
    };
    let steps = [(7, "a:b"), (10, "größe/llm#3")].map(|(seq, key)| step(owner.id, seq, key));
    let records = [owner.clone().into(), gate.into(), steps[0].clone(), steps[1].clone()];
    scratch.write(records.clone().map(|record| (owner.id, record))).await;
    let all = Listing::Audit(Partition::flow(0));
    let (rows, _) = scratch.follow(&all, 1, Page::audit).await;
    assert_eq!(rows.into_iter().map(|row| row.record).collect::<Vec<_>>(), records);
    let deletes = Transaction {
        deletes: records
            .iter()
            .map(|record| Delete::of((record, Version::first(Tag(1)))))
            .collect(),
        delete_remains: vec![owner.id],
        ..Transaction::new(Partition::flow(0), Tag(2))
    };
    scratch.backend.commit(vec![deletes]).await.remove(0).unwrap();
    assert_eq!(scratch.follow(&all, 1, Page::audit).await.0, []);
    let left = scratch.server.ask("KEYS {fp:0}:*").await;
    let left: Vec<&str> = left.array().iter().map(|key| key.text()).collect();
    // What is counted is counted down.
    assert_eq!(left, ["{fp:0}:depth:default"]);
}

fn step(execution_id: ExecutionId, seq: u64, key: &str) -> Record {
    let step: Step = serde_json::from_value(json!({
        "execution_id": execution_id,
        "key": key,
        "seq": seq,
        "kind": "run",
        "state": "done",
        "attempt_index": 0,
        "lease_epoch": 1,
        "recorded_at": moment(1),
        "content_digest": "",
    }))
    .unwrap();
    Record::from(step)
}

/// The one row there is.
async fn audited(scratch: &Scratch) -> AuditRow {
    let (mut rows, _) = scratch
        .follow(&Listing::Audit(Partition::flow(0)), 10, Page::audit)
        .await;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

//! Executions, in stores larger than what one call looks at.

use std::cmp::Reverse;
use std::sync::Arc;

use ff_backend::query::{Cursor, ExecutionFilter, FlowFilter, Listing, Page};
use ff_core::id::{BudgetId, ExecutionId, FlowId};
use ff_core::machine::Context;
use ff_core::machine::claim::{Refusal, block_queued};
use ff_core::machine::placement::score;
use ff_core::name::{FlowKind, LaneId};
use ff_core::partition::Partition;
use ff_core::policy::Retention;
use ff_core::record::{Cause, Definition, Execution, Flow, Record, Tags};
use ff_core::time::Duration;
use uuid::Uuid;

use super::{Scratch, execution, moment, template, written};

/// More than one page looks at.
const MANY: u64 = 4_500;

#[tokio::test]
async fn a_rare_row_is_found_on_short_pages() {
    let (scratch, template) = (Scratch::new().await, template());
    let rare = LaneId::parse("rare").unwrap();
    let numbers = [MANY - 1, MANY / 2, 0];
    let executions: Vec<Execution> = (0..MANY)
        .map(|n| {
            let execution = execution(&template, n, u16::try_from(n % 7).unwrap(), moment(n));
            if numbers.contains(&n) {
                in_lane(execution, &rare)
            } else {
                execution
            }
        })
        .collect();
    scratch.write_executions(&executions).await;
    let wanted = numbers.map(|n| executions[usize::try_from(n).unwrap()].id);
    let of = Listing::Executions(ExecutionFilter {
        lane: Some(rare),
        ..ExecutionFilter::default()
    });
    let (found, pages) = scratch.listed(&of, 10).await;
    assert_eq!(found, wanted);
    assert!((3..10).contains(&pages), "{pages} pages");
    assert_eq!(scratch.listed(&of, 1).await.0, wanted);
}

#[tokio::test]
async fn very_many_of_one_moment_are_seen_once_each() {
    let (scratch, template) = (Scratch::new().await, template());
    // Every second one has a namesake in the other partition.
    let here = (0..1_500).map(|n| execution(&template, n, 3, moment(0)));
    let there = (0..1_500).step_by(2).map(|n| execution(&template, n, 9, moment(0)));
    let mut executions: Vec<Execution> = here.chain(there).collect();
    scratch.write_executions(&executions).await;
    executions.sort_by_key(|execution| Reverse(execution.id));
    let all = Listing::Executions(ExecutionFilter::default());
    for limit in [7, 100, 1_000] {
        assert_eq!(scratch.listed(&all, limit).await.0, ids(&executions));
    }
}

#[tokio::test]
async fn blocked_work_of_few_scores_is_seen_once_each() {
    let (scratch, template) = (Scratch::new().await, template());
    let cause = Cause::Budget(BudgetId::from_uuid(Uuid::from_u128(1)));
    let refusal = Refusal {
        cause,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let blocked = |n: u64| {
        let execution = execution(&template, n, u16::try_from(n % 2).unwrap(), moment(n % 3));
        written(block_queued(&execution, &refusal, &Context::engine(moment(9))).unwrap())
    };
    let mut executions: Vec<Execution> = (0..900).map(blocked).collect();
    scratch.write_executions(&executions).await;
    executions.sort_by_key(score);
    let partitions = vec![Partition::flow(1), Partition::flow(0)];
    let of = Listing::Blocked { partitions, cause };
    assert_eq!(scratch.listed(&of, 50).await.0, ids(&executions));
}

#[tokio::test]
async fn an_execution_and_a_flow_with_one_tag_are_told_apart() {
    let (scratch, template) = (Scratch::new().await, template());
    let tag = ("team name".to_owned(), "red\n%".to_owned());
    let tags = Arc::new(Tags::from([tag.clone()]));
    let execution = Execution {
        tags: Arc::clone(&tags),
        ..execution(&template, 1, 0, moment(5))
    };
    let flow = a_flow(&execution, tags);
    let records = [Record::from(execution.clone()), Record::from(flow.clone())];
    scratch.write(records.map(|record| (execution.id, record))).await;
    let of = Listing::Executions(ExecutionFilter {
        tag: Some(tag.clone()),
        ..ExecutionFilter::default()
    });
    assert_eq!(scratch.listed(&of, 1).await.0, [execution.id]);
    let of = Listing::Flows(FlowFilter {
        tag: Some(tag),
        ..FlowFilter::default()
    });
    let (flows, _) = scratch.follow(&of, 1, Page::flows).await;
    assert_eq!(
        flows.into_iter().map(|(flow, _)| flow.id).collect::<Vec<_>>(),
        [flow.id]
    );
}

#[tokio::test]
async fn a_forged_cursor_leads_to_nothing_of_others() {
    let (scratch, template) = (Scratch::new().await, template());
    let flows = [1, 2].map(|n| FlowId::from_uuid(Uuid::from_u128(n)));
    let partition = ff_core::partition::PartitionCounts::default().of_flow(flows[1]);
    let member = execution(&template, 1, partition.index, moment(0));
    let definition = Definition {
        flow: Some(flows[0]),
        ..(*member.definition).clone()
    };
    let member = Execution {
        definition: Arc::new(definition),
        ..member
    };
    scratch.write_executions(&[member]).await;
    let of = Listing::Members {
        flow_id: flows[1],
        open_only: false,
    };
    for name in ["", "../", "\u{0}", "-"] {
        let cursor = format!("members:{{\"score\":0,\"name\":{name:?},\"partition\":0}}").replace("\\0", "\\u0000");
        let page = scratch.page(&of, Some(Cursor(cursor)), 10).await.unwrap();
        assert_eq!(page.executions(), []);
    }
}

fn in_lane(execution: Execution, lane: &LaneId) -> Execution {
    let definition = Definition {
        lane: lane.clone(),
        ..(*execution.definition).clone()
    };
    Execution {
        definition: Arc::new(definition),
        ..execution
    }
}

fn a_flow(like: &Execution, tags: Arc<Tags>) -> Flow {
    let created_at = like.definition.created_at;
    Flow {
        id: FlowId::from_uuid(Uuid::from_u128(7)),
        namespace: like.definition.namespace.clone(),
        kind: FlowKind::parse("kind").unwrap(),
        tags,
        content_digest: String::new(),
        created_at,
        opened_at: Some(created_at),
        updated_at: created_at,
        graph_revision: 0,
        retention: Retention::For(Duration::from_hours(24)),
        cancellation: None,
        populated: false,
        in_use: false,
        ended_at: None,
        opening: false,
        cancelling: false,
        delete_requested: false,
        deleting: false,
        carried: Default::default(),
    }
}

fn ids(executions: &[Execution]) -> Vec<ExecutionId> {
    executions.iter().map(|execution| execution.id).collect()
}

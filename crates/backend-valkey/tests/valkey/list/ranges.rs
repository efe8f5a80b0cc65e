//! Ranges over lists that are long, torn, or all of one moment.

use std::cmp::Reverse;
use std::sync::Arc;

use ff_backend::Error;
use ff_backend::query::{Cursor, Listing, Page, Range};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::index::Index;
use ff_core::machine::placement::{queue_key, score};
use ff_core::name::{FlowKind, Namespace};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::policy::Retention;
use ff_core::record::{Definition, Execution, Flow, Record, Tags};
use ff_core::time::Duration;
use uuid::Uuid;

use super::{Scratch, blocked_by, budget, calls_of, everywhere, execution, moment, template};

fn ids(executions: &[Execution]) -> Vec<ExecutionId> {
    executions.iter().map(|execution| execution.id).collect()
}

fn with(execution: &Execution, change: impl FnOnce(&mut Definition)) -> Execution {
    let mut definition = Definition::clone(&execution.definition);
    change(&mut definition);
    Execution {
        definition: Arc::new(definition),
        ..execution.clone()
    }
}

/// A flow, and the nth of its members.
fn a_flow() -> (FlowId, impl Fn(u64) -> Execution) {
    let flow_id = FlowId::from_uuid(Uuid::from_u128(1));
    let partition = PartitionCounts::default().of_flow(flow_id).index;
    let member = move |n| {
        let execution = execution(&template(), n, partition, moment(n));
        with(&execution, |definition| definition.flow = Some(flow_id))
    };
    (flow_id, member)
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
    let newest = ids(&executions);
    executions.sort_by_key(score);
    let best = ids(&executions);
    let queue = Index::Queue(queue_key(&executions[0]));
    for limit in [7, 100, 1_000] {
        assert_eq!(scratch.listed(&everywhere(Index::Age(None)), limit).await.0, newest);
        assert_eq!(scratch.listed(&everywhere(queue.clone()), limit).await.0, best);
    }
}

#[tokio::test]
async fn blocked_work_of_few_scores_is_seen_once_each() {
    let (scratch, cause) = (Scratch::new().await, budget(1));
    let blocked = |n: u64| blocked_by(cause, n, u16::try_from(n % 2).unwrap(), moment(n % 3));
    let mut executions: Vec<Execution> = (0..900).map(blocked).collect();
    scratch.write_executions(&executions).await;
    executions.sort_by_key(score);
    assert_eq!(
        scratch.listed(&everywhere(Index::Blocked(cause)), 50).await.0,
        ids(&executions)
    );
}

#[tokio::test]
async fn an_execution_and_a_flow_with_one_tag_are_told_apart() {
    let scratch = Scratch::new().await;
    let (key, value) = ("team name".to_owned(), "red\n%:".to_owned());
    let tags = Arc::new(Tags::from([(key.clone(), value.clone())]));
    let execution = Execution {
        tags: Arc::clone(&tags),
        ..execution(&template(), 1, 0, moment(5))
    };
    let flow = tagged_flow(&execution, tags);
    let records = [Record::from(execution.clone()), Record::from(flow.clone())];
    scratch.write(records.map(|record| (execution.id, record))).await;
    let namespace = execution.definition.namespace.clone();
    let of = everywhere(Index::Tag(namespace.clone(), key.clone(), value.clone()));
    assert_eq!(scratch.listed(&of, 1).await.0, [execution.id]);
    let of = everywhere(Index::FlowTag(namespace, key, value));
    let (flows, _) = scratch.follow(&of, 1, Page::flows).await;
    assert_eq!(flows.len(), 1);
    assert_eq!(flows[0].0, flow);
}

#[tokio::test]
async fn the_few_of_a_tenant_are_found_on_short_pages() {
    const MANY: u64 = 4_500;
    let (scratch, template) = (Scratch::new().await, template());
    let rare = Namespace::parse("rare").unwrap();
    let numbers = [MANY - 1, MANY / 2, 0];
    let executions: Vec<Execution> = (0..MANY)
        .map(|n| {
            let execution = execution(&template, n, u16::try_from(n % 7).unwrap(), moment(n));
            with(&execution, |definition| {
                if numbers.contains(&n) {
                    definition.namespace = rare.clone();
                }
            })
        })
        .collect();
    scratch.write_executions(&executions).await;
    let wanted = numbers.map(|n| executions[usize::try_from(n).unwrap()].id);
    let of = everywhere(Index::Age(Some(rare)));
    let (rows, pages) = scratch.listed(&of, 10).await;
    assert_eq!(rows, wanted);
    assert!((3..10).contains(&pages), "{pages} pages");
    assert_eq!(scratch.listed(&of, 1).await.0, wanted);
}

#[tokio::test]
async fn work_in_no_list_costs_no_entry() {
    let scratch = Scratch::new().await;
    scratch
        .write_executions(&[execution(&template(), 1, 0, moment(0))])
        .await;
    assert_eq!(scratch.server.ask("EXISTS {fp:0}:index").await.integer(), 0);
}

#[tokio::test]
async fn a_list_of_one_partition_asks_only_there() {
    let scratch = Scratch::new().await;
    let (flow_id, member) = a_flow();
    let members: Vec<Execution> = [2, 1, 0].map(member).into();
    scratch.write_executions(&members).await;
    let before = calls_of(&scratch, "zrange").await;
    let (rows, pages) = scratch.listed(&everywhere(Index::Members(flow_id)), 10).await;
    assert_eq!((rows, pages), (ids(&members), 1));
    assert_eq!(calls_of(&scratch, "zrange").await, before + 1);
}

#[tokio::test]
async fn a_long_list_is_read_piece_by_piece() {
    let scratch = Scratch::new().await;
    let (flow_id, member) = a_flow();
    let members: Vec<Execution> = (0..3_000).rev().map(member).collect();
    scratch.write_executions(&members).await;
    let of = everywhere(Index::Members(flow_id));
    for limit in [7, 1_000] {
        assert_eq!(scratch.listed(&of, limit).await.0, ids(&members));
    }
    let read = async || {
        let stats = scratch.server.info("stats").await;
        let bytes = stats.split_once("total_net_output_bytes:").unwrap().1;
        bytes.split_whitespace().next().unwrap().parse::<usize>().unwrap()
    };
    let before = read().await;
    scratch.page(&of, None, 7).await.unwrap();
    assert!(read().await - before < 100_000, "not all of them were read");
}

#[tokio::test]
async fn an_entry_without_a_record_is_passed_over() {
    let scratch = Scratch::new().await;
    let (flow_id, member) = a_flow();
    let members: Vec<Execution> = [2, 1, 0].map(member).into();
    scratch.write_executions(&members).await;
    scratch.server.ask(&format!("DEL {}", key_of(&members[1]))).await;
    let (rows, _) = scratch.listed(&everywhere(Index::Members(flow_id)), 1).await;
    assert_eq!(rows, [members[0].id, members[2].id]);
}

#[tokio::test]
async fn what_cannot_be_read_is_left_out_only_where_nobody_counts_on_it() {
    let scratch = Scratch::new().await;
    let (flow_id, member) = a_flow();
    let members: Vec<Execution> = [2, 1, 0].map(member).into();
    scratch.write_executions(&members).await;
    let ruin = format!("HSET {} body nonsense", key_of(&members[1]));
    scratch.server.ask(&ruin).await;
    let (rows, _) = scratch.listed(&everywhere(Index::Age(None)), 10).await;
    assert_eq!(rows, [members[0].id, members[2].id]);
    let page = scratch.page(&everywhere(Index::Members(flow_id)), None, 10).await;
    assert!(matches!(page, Err(Error::Corrupt(_))), "{page:?}");
}

#[tokio::test]
async fn a_forged_cursor_leads_to_nothing_of_others() {
    let scratch = Scratch::new().await;
    let (_, member) = a_flow();
    scratch.write_executions(&[member(1)]).await;
    let of = everywhere(Index::Members(FlowId::from_uuid(Uuid::from_u128(2))));
    for order in ["", "0", &"f".repeat(56)] {
        let cursor = Cursor(format!("range:{order:?}"));
        let page = scratch.page(&of, Some(cursor), 10).await.unwrap();
        assert_eq!(page.records(), []);
    }
    // Wider than any place among attempts.
    let attempts = Index::Attempts(ExecutionId::new(0, Uuid::nil()));
    let of: Listing = Range::of(attempts, vec![Partition::flow(0)]).into();
    let page = scratch
        .page(&of, Some(Cursor("range:\"000000000\"".to_owned())), 10)
        .await;
    assert_eq!(page, Err(Error::InvalidCursor));
}

fn key_of(execution: &Execution) -> String {
    format!("{}:execution:{}", execution.id.partition(), execution.id.uuid())
}

fn tagged_flow(like: &Execution, tags: Arc<Tags>) -> Flow {
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

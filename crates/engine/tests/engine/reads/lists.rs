//! list_executions, get_history.

use ff_core::command::flow::Assembly;
use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::record::Happening;
use ff_core::state::{BlockingReason, PublicState};
use ff_core::time::Duration;
use ff_core::view::ListExecutions;

use crate::reads::stage::{Stage, code, submission, submission_in};

fn page(limit: usize) -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(limit),
    }
}

#[tokio::test]
async fn executions_are_listed_newest_first_page_by_page() {
    let stage = Stage::new();
    let mut submitted = Vec::new();
    for _ in 0..5 {
        submitted.push(stage.submit(&submission()).await);
        stage.advance(Duration::from_millis(1));
    }
    submitted.reverse();
    let mut request = ListExecutions {
        page: page(2),
        ..ListExecutions::default()
    };
    let mut seen = Vec::new();
    loop {
        let found = stage.engine.list_executions(request.clone()).await.unwrap();
        assert!(found.items.len() <= 2);
        seen.extend(found.items.into_iter().map(|view| view.execution_id));
        let Some(next) = found.next else { break };
        request.page.cursor = Some(next);
    }
    assert_eq!(seen, submitted);
    request.state = vec![PublicState::Active];
    assert_eq!(code(stage.engine.list_executions(request).await), Code::InvalidCursor);
}

#[tokio::test]
async fn a_listing_shows_the_same_as_a_single_read() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    stage.claim().await;
    let flow = stage.create_flow(Assembly::Open).await;
    let member = stage.submit_member(flow, &[]).await;
    stage.submit_member(flow, &[member]).await;
    stage.cancel_flow(flow).await;
    let all = stage.engine.list_executions(ListExecutions::default()).await.unwrap();
    assert_eq!(all.items.len(), 3);
    let cancelled = all.items.iter().find(|view| view.execution_id == member).unwrap();
    assert_eq!(
        cancelled.state.state_vector.blocking_reason,
        BlockingReason::PausedByFlowCancel
    );
    for view in all.items {
        assert_eq!(stage.engine.get_execution(view.execution_id).await.unwrap(), view);
    }
}

#[tokio::test]
async fn a_bound_caller_lists_its_own_namespace_only() {
    let stage = Stage::new();
    let mine = stage.submit(&submission_in("mine")).await;
    stage.submit(&submission_in("other")).await;
    let engine = stage.bound_to("mine");
    let found = engine.list_executions(ListExecutions::default()).await.unwrap();
    assert_eq!(
        found.items.iter().map(|view| view.execution_id).collect::<Vec<_>>(),
        [mine]
    );
    let others = ListExecutions {
        namespace: Some("other".parse().unwrap()),
        ..ListExecutions::default()
    };
    assert_eq!(code(engine.list_executions(others).await), Code::Forbidden);
}

#[tokio::test]
async fn a_page_has_one_to_a_thousand_entries() {
    let stage = Stage::new();
    for limit in [0, 1_001] {
        let request = ListExecutions {
            page: page(limit),
            ..ListExecutions::default()
        };
        assert_eq!(code(stage.engine.list_executions(request).await), Code::InvalidInput);
    }
}

#[tokio::test]
async fn a_history_is_told_from_the_beginning() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    stage.complete(id, fence, None).await;
    let (mut told, mut cursor) = (Vec::new(), None);
    loop {
        let request = PageRequest { cursor, limit: Some(2) };
        let found = stage.engine.get_history(On::new(id, request)).await.unwrap();
        told.extend(found.items.into_iter().map(|line| line.what));
        cursor = found.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(told, [Happening::Created, Happening::Claimed, Happening::Completed]);
    let unseen = stage.bound_to("other").get_history(On::new(id, page(2))).await;
    assert_eq!(code(unseen), Code::ExecutionNotFound);
}

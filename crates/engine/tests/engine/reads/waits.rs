//! wait_for_end, and what everybody who waits is told when the process stops.

use ff_core::command::operator::CancelExecution;
use ff_core::command::stream::{AttemptRef, TailStream};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{GetResult, WaitForEnd};

use crate::reads::stage::{Stage, code, parks, submission};

fn for_secs(id: ExecutionId, secs: u64) -> On<ExecutionId, WaitForEnd> {
    let wait = Duration::from_secs(secs);
    On::new(id, WaitForEnd { wait })
}

#[tokio::test]
async fn an_end_is_answered_at_once_and_awaited_otherwise() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    let mut waiting = Box::pin(stage.engine.wait_for_end(for_secs(id, 30)));
    assert!(parks(&mut waiting).await);
    stage.cancel(id).await;
    // Nobody rings here: the next sweep does.
    assert!(parks(&mut waiting).await);
    stage.engine.pump_sweep().await.unwrap();
    assert_eq!(waiting.await.unwrap().public_state, PublicState::Cancelled);
    let state = stage.engine.wait_for_end(for_secs(id, 30)).await.unwrap();
    assert_eq!(state.public_state, PublicState::Cancelled);
}

#[tokio::test]
async fn an_end_that_this_process_decided_needs_no_hint() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    let mut waiting = Box::pin(stage.engine.wait_for_end(for_secs(id, 30)));
    assert!(parks(&mut waiting).await);
    stage
        .engine
        .cancel_execution(On::new(
            id,
            CancelExecution {
                reason: "enough".to_owned(),
                fence: None,
            },
        ))
        .await
        .unwrap();
    assert!(!parks(&mut waiting).await);
}

#[tokio::test]
async fn a_wait_that_is_over_answers_where_the_execution_stands() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    let mut waiting = Box::pin(stage.engine.wait_for_end(for_secs(id, 12)));
    assert!(parks(&mut waiting).await);
    stage.advance(Duration::from_secs(10));
    assert!(parks(&mut waiting).await);
    stage.advance(Duration::from_secs(2));
    assert_eq!(waiting.await.unwrap().public_state, PublicState::Waiting);
    assert_eq!(
        code(stage.engine.wait_for_end(for_secs(id, 31)).await),
        Code::InvalidInput
    );
    assert_eq!(
        code(stage.bound_to("other").wait_for_end(for_secs(id, 30)).await),
        Code::ExecutionNotFound
    );
}

const LONG: Duration = Duration::from_secs(30);

fn result(id: ExecutionId) -> On<ExecutionId, GetResult> {
    On::new(id, GetResult { wait: LONG })
}

fn tail(execution_id: ExecutionId) -> On<AttemptRef, TailStream> {
    let attempt = AttemptRef {
        execution_id,
        attempt_index: 0,
    };
    let command = TailStream {
        after: None,
        wait: LONG,
        limit: None,
    };
    On::new(attempt, command)
}

#[tokio::test]
async fn who_waits_in_a_process_that_stops_is_answered_what_there_is() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, _) = stage.claim().await;
    let mut waiting = Box::pin(stage.engine.wait_for_end(for_secs(id, 30)));
    let mut for_result = Box::pin(stage.engine.get_result(result(id)));
    let mut tailing = Box::pin(stage.engine.tail_stream(tail(id)));
    assert!(parks(&mut waiting).await && parks(&mut for_result).await && parks(&mut tailing).await);
    stage.engine.stop().await;
    assert_eq!(waiting.await.unwrap().public_state, PublicState::Active);
    assert_eq!(code(for_result.await), Code::ResultNotAvailable);
    assert!(tailing.await.unwrap().frames.is_empty());
}

#[tokio::test]
async fn who_begins_to_wait_in_a_process_that_stops_is_sent_elsewhere() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    stage.engine.stop().await;
    assert_eq!(
        code(stage.engine.wait_for_end(for_secs(id, 30)).await),
        Code::ShuttingDown
    );
    assert_eq!(code(stage.engine.get_result(result(id)).await), Code::ShuttingDown);
    assert_eq!(code(stage.engine.tail_stream(tail(id)).await), Code::ShuttingDown);
    assert!(
        stage.engine.wait_for_end(for_secs(id, 0)).await.is_ok(),
        "who does not wait is answered"
    );
    stage.append(id, fence, "one").await;
    let page = stage.engine.tail_stream(tail(id)).await.unwrap();
    assert_eq!(page.frames.len(), 1, "what is there is not kept from anybody");
}

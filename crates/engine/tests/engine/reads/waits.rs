//! wait_for_end.

use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::WaitForEnd;

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

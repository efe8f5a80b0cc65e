//! Reading the output of attempts.

use ff_core::command::stream::{AttemptRef, ReadStream, TailStream};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::{FrameBound, FrameId};
use ff_core::id::ExecutionId;
use ff_core::machine::decided::ClosedReason;
use ff_core::time::Duration;

use crate::reads::stage::{Stage, code, parks, submission};

const fn first(execution_id: ExecutionId) -> AttemptRef {
    AttemptRef {
        execution_id,
        attempt_index: 0,
    }
}

fn tail(id: ExecutionId, after: Option<FrameId>, wait_secs: u64) -> On<AttemptRef, TailStream> {
    let command = TailStream {
        after,
        wait: Duration::from_secs(wait_secs),
        limit: None,
    };
    On::new(first(id), command)
}

fn whole(id: ExecutionId) -> On<AttemptRef, ReadStream> {
    let command = ReadStream {
        from: FrameBound::Start,
        to: FrameBound::End,
        limit: None,
    };
    On::new(first(id), command)
}

#[tokio::test]
async fn frames_are_read_and_tailed_in_order() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    let one = stage.append(id, fence, "one").await;
    stage.append(id, fence, "two").await;
    let page = stage.engine.read_stream(whole(id)).await.unwrap();
    assert_eq!(
        page.frames
            .iter()
            .map(|frame| &frame.payload.bytes[..])
            .collect::<Vec<_>>(),
        [b"one", b"two"]
    );
    assert_eq!(page.closed, None);
    let page = stage.engine.tail_stream(tail(id, Some(one), 0)).await.unwrap();
    assert_eq!(page.frames.len(), 1);
    stage.complete(id, fence, None).await;
    let page = stage.engine.read_stream(whole(id)).await.unwrap();
    let end = page.closed.unwrap();
    assert_eq!((end.closed_at, end.closed_reason), (stage.now(), ClosedReason::Success));
    assert_eq!(page.frames.len(), 2);
}

#[tokio::test]
async fn a_tail_waits_for_a_frame_and_looks_once_more_when_its_time_is_over() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    let mut tailing = Box::pin(stage.engine.tail_stream(tail(id, None, 5)));
    assert!(parks(&mut tailing).await);
    stage.append(id, fence, "late").await;
    assert!(parks(&mut tailing).await, "nobody rang");
    stage.advance(Duration::from_secs(5));
    assert_eq!(tailing.await.unwrap().frames.len(), 1);
}

#[tokio::test]
async fn a_frame_whose_hint_was_lost_is_found_by_the_next_sweep() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    let one = stage.append(id, fence, "one").await;
    let mut tailing = Box::pin(stage.engine.tail_stream(tail(id, Some(one), 30)));
    // Before the first sweep nothing is known: whoever waits then is woken for nothing.
    for _ in 0..3 {
        assert!(parks(&mut tailing).await);
        stage.engine.pump_sweep().await.unwrap();
    }
    stage.append(id, fence, "two").await;
    assert!(parks(&mut tailing).await, "nobody rang");
    stage.engine.pump_sweep().await.unwrap();
    assert_eq!(tailing.await.unwrap().frames.len(), 1);
}

#[tokio::test]
async fn an_attempt_that_ended_without_a_frame_does_not_keep_a_tail_waiting() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, _) = stage.claim().await;
    stage.cancel(id).await;
    let page = stage.engine.tail_stream(tail(id, None, 30)).await.unwrap();
    let end = page.closed.unwrap();
    assert_eq!(
        (end.closed_at, end.closed_reason),
        (stage.now(), ClosedReason::Cancelled)
    );
}

#[tokio::test]
async fn a_tail_peeks_without_waiting_and_waits_at_most_half_a_minute() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, _) = stage.claim().await;
    assert!(
        stage
            .engine
            .tail_stream(tail(id, None, 0))
            .await
            .unwrap()
            .frames
            .is_empty()
    );
    assert_eq!(
        code(stage.engine.tail_stream(tail(id, None, 31)).await),
        Code::InvalidInput
    );
    let mut none = tail(id, None, 0);
    none.command.limit = Some(0);
    assert_eq!(code(stage.engine.tail_stream(none).await), Code::InvalidInput);
}

#[tokio::test]
async fn unknown_attempts_and_executions_are_told_apart() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    assert_eq!(code(stage.engine.read_stream(whole(id)).await), Code::AttemptNotFound);
    assert_eq!(code(stage.engine.read_summary(first(id)).await), Code::AttemptNotFound);
    stage.claim().await;
    assert_eq!(stage.engine.read_summary(first(id)).await.unwrap(), None);
    assert_eq!(
        code(stage.bound_to("other").read_stream(whole(id)).await),
        Code::ExecutionNotFound
    );
    assert_eq!(
        code(stage.bound_to("other").tail_stream(tail(id, None, 1)).await),
        Code::ExecutionNotFound
    );
}

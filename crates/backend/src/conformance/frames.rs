//! Output streams: only the live holder appends, frames stay in order, and old ones go.

use bytes::Bytes;
use ff_core::command::lease::{Complete, Renew};
use ff_core::command::operator::RevokeLease;
use ff_core::frame::{Frame, FrameId};
use ff_core::id::{AttemptId, ExecutionId, LeaseId};
use ff_core::machine::decided::ClosedReason;
use ff_core::machine::{lease, operator};
use ff_core::name::{ContentType, FrameType};
use ff_core::payload::Payload;
use ff_core::policy::StreamPolicy;
use ff_core::record::Fence;
use ff_core::time::Duration;

use super::build::{Store, fence};
use crate::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep, NewFrame};
use crate::reserve::Task;

pub(super) async fn frames_come_back_in_the_order_they_were_appended(store: &Store<'_>) {
    let task = store.leased().await;
    let mut wanted = Vec::new();
    for n in 0..20 {
        let text = n.to_string();
        let appended = append(store, a_frame(&task, &text)).await.expect("the lease is live");
        assert_eq!(appended.count, n + 1);
        wanted.push((appended.frame_id, Payload::binary(text)));
    }
    assert!(wanted.is_sorted_by(|left, right| left.0 < right.0), "{wanted:?}");
    let frames = read(store, &task).await.frames;
    assert_eq!(
        frames
            .into_iter()
            .map(|frame| (frame.id, frame.payload))
            .collect::<Vec<_>>(),
        wanted
    );
}

pub(super) async fn a_frame_comes_back_as_it_was_given(store: &Store<'_>) {
    let task = store.leased().await;
    let mut new = a_frame(&task, "x");
    new.frame.frame_type = FrameType::parse("größe").expect("a frame type");
    new.frame.correlation_id = Some("line\none \u{0}".to_owned());
    new.frame.payload.content_type = ContentType::json();
    let appended = append(store, new.clone()).await.expect("the lease is live");
    let NewFrame {
        frame_type,
        payload,
        correlation_id,
        ..
    } = new.frame;
    let wanted = Frame {
        id: appended.frame_id,
        frame_type,
        payload,
        correlation_id,
    };
    assert_eq!(read(store, &task).await.frames, [wanted]);
}

pub(super) async fn a_batch_is_answered_in_order_each_frame_for_itself(store: &Store<'_>) {
    let task = store.leased().await;
    let stranger = Append {
        fence: Fence {
            lease_id: LeaseId::from_uuid(store.uuid()),
            ..fence(&task)
        },
        ..a_frame(&task, "no")
    };
    let batch = vec![a_frame(&task, "a"), stranger, a_frame(&task, "b")];
    let answers = store.backend().append(batch).await;
    assert_eq!(
        answers.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!(texts(&read(store, &task).await), ["a", "b"]);
}

pub(super) async fn only_the_whole_fence_of_the_live_lease_appends(store: &Store<'_>) {
    let task = store.leased().await;
    let own = fence(&task);
    for fence in [
        Fence {
            lease_id: LeaseId::from_uuid(store.uuid()),
            ..own
        },
        Fence {
            lease_epoch: own.lease_epoch + 1,
            ..own
        },
        Fence {
            attempt_id: AttemptId::from_uuid(store.uuid()),
            ..own
        },
    ] {
        let answer = append(
            store,
            Append {
                fence,
                ..a_frame(&task, "no")
            },
        )
        .await;
        assert_eq!(answer, Err(AppendError::StaleOwner));
    }
    let answer = append(
        store,
        Append {
            attempt_index: 1,
            ..a_frame(&task, "no")
        },
    )
    .await;
    assert_eq!(
        answer,
        Err(AppendError::StaleOwner),
        "an attempt that is not the lease's"
    );
    let answer = append(
        store,
        Append {
            execution_id: store.id(),
            ..a_frame(&task, "no")
        },
    )
    .await;
    assert_eq!(answer, Err(AppendError::StaleOwner), "an execution that is not there");
    assert_eq!(read(store, &task).await.frames, []);
}

pub(super) async fn an_expired_lease_appends_nothing(store: &Store<'_>) {
    let task = store.leased().await;
    append(store, a_frame(&task, "in time"))
        .await
        .expect("the lease is live");
    let expires_at = task.execution.lease().expect("leased").expires_at;
    store.advance(expires_at.since(task.execution.updated_at)).await;
    assert_eq!(
        append(store, a_frame(&task, "late")).await,
        Err(AppendError::StaleOwner)
    );
    assert_eq!(texts(&read(store, &task).await), ["in time"]);
}

pub(super) async fn a_renewed_lease_goes_on_appending(store: &Store<'_>) {
    let task = store.leased().await;
    let renew = Renew {
        fence: Some(fence(&task)),
        ttl: Some(Duration::from_hours(1)),
        doing: Vec::new(),
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::renew(execution, &renew, context)
        })
        .await;
    store.advance(Duration::from_secs(60)).await;
    append(store, a_frame(&task, "still there"))
        .await
        .expect("the lease was renewed");
}

pub(super) async fn a_revoked_lease_appends_nothing(store: &Store<'_>) {
    let task = store.leased().await;
    append(store, a_frame(&task, "first")).await.expect("the lease is live");
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: None,
    };
    store
        .apply(task.execution.id, |execution, context| {
            operator::revoke_lease(execution, &revoke, context)
        })
        .await;
    assert!(append(store, a_frame(&task, "late")).await.is_err());
    let next = store.take().await;
    assert!(append(store, a_frame(&task, "late")).await.is_err());
    append(store, a_frame(&next, "mine"))
        .await
        .expect("the new lease is live");
    let frames = read(store, &task).await;
    assert_eq!(texts(&frames), ["first"]);
    assert_eq!(frames.closed.map(|(_, reason)| reason), Some(ClosedReason::Reclaimed));
    assert_eq!(
        texts(&read(store, &next).await),
        ["mine"],
        "each attempt has its own stream"
    );
}

pub(super) async fn an_ended_stream_says_so_and_takes_no_more(store: &Store<'_>) {
    let task = store.leased().await;
    append(store, a_frame(&task, "only")).await.expect("the lease is live");
    assert_eq!(read(store, &task).await.closed, None);
    complete(store, &task).await;
    assert_eq!(append(store, a_frame(&task, "late")).await, Err(AppendError::Closed));
    let ended = store
        .execution(task.execution.id)
        .await
        .outcome()
        .map(|outcome| (outcome.at, ClosedReason::Success));
    let frames = read(store, &task).await;
    assert_eq!((texts(&frames), frames.closed), (vec!["only".to_owned()], ended));
}

pub(super) async fn a_stream_without_frames_does_not_end(store: &Store<'_>) {
    let task = store.leased().await;
    complete(store, &task).await;
    let frames = read(store, &task).await;
    assert_eq!((frames.frames, frames.closed, frames.summary), (vec![], None, None));
}

pub(super) async fn a_range_is_read_with_both_its_ends(store: &Store<'_>) {
    let task = store.leased().await;
    let mut ids = Vec::new();
    for n in 0..10 {
        ids.push(
            append(store, a_frame(&task, &n.to_string()))
                .await
                .expect("the lease is live")
                .frame_id,
        );
    }
    let ranged = async |from, to, limit| {
        let range = FrameRange {
            from,
            to,
            limit,
            ..everything(task.execution.id, 0)
        };
        texts(&store.backend().read(range).await.expect("the store answers"))
    };
    assert_eq!(ranged(ids[2], ids[4], 100).await, ["2", "3", "4"]);
    assert_eq!(ranged(ids[2].after(), ids[4], 100).await, ["3", "4"]);
    assert_eq!(ranged(FrameId::START, FrameId::END, 3).await, ["0", "1", "2"]);
    assert_eq!(ranged(ids[9].after(), FrameId::END, 3).await, [""; 0]);
    assert_eq!(ranged(ids[9], ids[0], 3).await, [""; 0]);
}

pub(super) async fn only_so_many_frames_are_kept(store: &Store<'_>) {
    let mut command = store.command();
    command.policy.stream_policy = Some(StreamPolicy {
        retention_maxlen: 10,
        retention_ttl: None,
    });
    store.submit(command).await;
    let task = store.take().await;
    let mut last = None;
    for n in 0..25 {
        last = append(store, a_frame(&task, &n.to_string())).await.ok();
    }
    assert_eq!(last.map(|appended| appended.count), Some(10));
    let wanted: Vec<String> = (15..25).map(|n| n.to_string()).collect();
    assert_eq!(texts(&read(store, &task).await), wanted);
}

pub(super) async fn frames_are_kept_only_so_long(store: &Store<'_>) {
    let task = renewed(store).await;
    let keep_for = Some(Duration::from_secs(60));
    append(
        store,
        Append {
            keep_for,
            ..a_frame(&task, "old")
        },
    )
    .await
    .expect("the lease is live");
    store.advance(Duration::from_secs(61)).await;
    let appended = append(
        store,
        Append {
            keep_for,
            ..a_frame(&task, "new")
        },
    )
    .await
    .expect("the lease is live");
    assert_eq!(appended.count, 1);
    assert_eq!(texts(&read(store, &task).await), ["new"]);
}

pub(super) async fn a_best_effort_frame_is_gone_after_its_time(store: &Store<'_>) {
    let task = renewed(store).await;
    let mut fleeting = a_frame(&task, "fleeting");
    fleeting.frame.mode = Keep::BestEffort {
        ttl: Duration::from_secs(60),
    };
    append(store, a_frame(&task, "before"))
        .await
        .expect("the lease is live");
    append(store, fleeting).await.expect("the lease is live");
    append(store, a_frame(&task, "after")).await.expect("the lease is live");
    assert_eq!(texts(&read(store, &task).await), ["before", "fleeting", "after"]);
    store.advance(Duration::from_secs(61)).await;
    assert_eq!(texts(&read(store, &task).await), ["before", "after"]);
}

pub(super) async fn a_summary_is_replaced_only_from_the_revision_it_has(store: &Store<'_>) {
    let task = store.leased().await;
    assert_eq!(read(store, &task).await.summary, None);
    append(store, summary(&task, "one", 0))
        .await
        .expect("there is none yet");
    let (document, first) = read(store, &task).await.summary.expect("a summary");
    assert_eq!(document, "one");
    append(store, summary(&task, "two", first))
        .await
        .expect("the revision is right");
    let (document, second) = read(store, &task).await.summary.expect("a summary");
    assert_eq!(document, "two");
    assert_ne!(first, second);
    for revision in [0, first, second + 1] {
        let answer = append(store, summary(&task, "never", revision)).await;
        assert_eq!(answer, Err(AppendError::SummaryConflict { revision: second }));
    }
    let frames = read(store, &task).await;
    assert_eq!((frames.frames.len(), frames.summary), (2, Some((document, second))));
}

pub(super) async fn other_frames_leave_the_summary_alone(store: &Store<'_>) {
    let task = store.leased().await;
    append(store, summary(&task, "one", 0))
        .await
        .expect("there is none yet");
    let before = read(store, &task).await.summary;
    for n in 0..15 {
        append(
            store,
            Append {
                keep_frames: 5,
                ..a_frame(&task, &n.to_string())
            },
        )
        .await
        .expect("the lease is live");
    }
    assert_eq!(
        read(store, &task).await.summary,
        before,
        "not even trimming its frame changes it"
    );
}

pub(super) async fn of_two_summaries_at_once_one_wins(store: &Store<'_>) {
    let task = store.leased().await;
    let calls: Vec<_> = (0..8)
        .map(|n| {
            let (backend, frame) = (store.backend(), summary(&task, &n.to_string(), 0));
            tokio::spawn(async move { backend.append(vec![frame]).await.remove(0).is_ok() })
        })
        .collect();
    let mut won = 0;
    for call in calls {
        won += usize::from(call.await.expect("the store answers"));
    }
    assert_eq!((won, read(store, &task).await.frames.len()), (1, 1));
}

/// A frame of a leased task.
pub(super) fn a_frame(task: &Task, text: &str) -> Append {
    let frame = NewFrame {
        frame_type: FrameType::parse("log").expect("a frame type"),
        payload: Payload::binary(text.to_owned()),
        correlation_id: None,
        mode: Keep::Durable,
        key: None,
    };
    Append::to(&task.execution, fence(task), frame)
}

/// Everything an attempt put out.
pub(super) fn everything(execution_id: ExecutionId, attempt_index: u32) -> FrameRange {
    FrameRange {
        execution_id,
        attempt_index,
        from: FrameId::START,
        to: FrameId::END,
        limit: 1_000,
    }
}

/// A frame that replaces the summary of this revision.
pub(super) fn summary(task: &Task, document: &str, revision: u64) -> Append {
    let mut frame = a_frame(task, "{}");
    frame.frame.mode = Keep::Summary {
        document: Bytes::from(document.to_owned()),
        revision,
    };
    frame
}

/// Appends one frame.
pub(super) async fn append(store: &Store<'_>, frame: Append) -> Result<Appended, AppendError> {
    store.backend().append(vec![frame]).await.remove(0)
}

/// Everything the current attempt of a task put out.
pub(super) async fn read(store: &Store<'_>, task: &Task) -> Frames {
    let index = task.execution.attempt.as_ref().map_or(0, |attempt| attempt.index);
    store
        .backend()
        .read(everything(task.execution.id, index))
        .await
        .expect("the store answers")
}

async fn complete(store: &Store<'_>, task: &Task) {
    let complete = Complete {
        fence: Some(fence(task)),
        result: None,
        ..Complete::default()
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::complete(execution, &complete, context)
        })
        .await;
}

/// A task whose lease outlasts the case.
pub(super) async fn renewed(store: &Store<'_>) -> Task {
    let task = store.leased().await;
    let renew = Renew {
        fence: Some(fence(&task)),
        ttl: Some(Duration::from_hours(24)),
        doing: Vec::new(),
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::renew(execution, &renew, context)
        })
        .await;
    task
}

/// What is in the frames.
pub(super) fn texts(frames: &Frames) -> Vec<String> {
    let text = |frame: &Frame| String::from_utf8(frame.payload.bytes.to_vec()).expect("the suite appends text here");
    frames.frames.iter().map(text).collect()
}

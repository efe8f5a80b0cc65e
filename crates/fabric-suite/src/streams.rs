//! Output of attempts.

use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::command::flow::WaitChildren;
use ff_core::command::stream::{AppendFrame, AttemptRef, ReadStream, StreamPage, TailStream};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::Suspend;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::frame::{FrameBound, FrameId, FrameMode};
use ff_core::id::FlowId;
use ff_core::machine::decided::ClosedReason;
use ff_core::payload::Payload;
use ff_core::record::TimeoutBehavior;
use ff_core::time::Duration;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, at_once, attempt, frame, into_flow, nobody, promptly, refused, request, retrying,
    submission, summary, waiting, with_policy,
};

pub(crate) async fn frames_are_read_in_the_order_they_came(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let mut ids = Vec::new();
    for (n, text) in (1..).zip(["a", "b", "c"]) {
        let appended = scene.append(&task, text).await.unwrap();
        assert_eq!(appended.frame_count, n);
        ids.push(appended.frame_id);
    }
    assert!(ids.is_sorted() && ids[0] != ids[1]);
    let output = scene.output(&task).await;
    assert_eq!(output.frames.iter().map(|frame| frame.id).collect::<Vec<_>>(), ids);
    assert_eq!(
        (scene.texts(&task).await, output.closed),
        (["a", "b", "c"].map(str::to_owned).to_vec(), None)
    );
}

pub(crate) async fn a_frame_comes_back_as_it_was_given(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let every_byte: Vec<u8> = (0..=255).collect();
    let odd = AppendFrame {
        payload: Payload::binary(every_byte.clone()),
        correlation_id: Some("tie".to_owned()),
        ..frame(&task, "")
    };
    scene.append_as(&task, odd).await.unwrap();
    let output = scene.output(&task).await;
    assert_eq!(output.frames[0].payload.bytes, every_byte);
    assert_eq!(output.frames[0].frame_type.as_str(), "log");
    assert_eq!(output.frames[0].correlation_id.as_deref(), Some("tie"));
}

pub(crate) async fn a_range_of_frames_includes_its_ends(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let mut ids = Vec::new();
    for text in ["a", "b", "c", "d"] {
        ids.push(scene.append(&task, text).await.unwrap().frame_id);
    }
    let read = |from, to, limit| ReadStream { from, to, limit };
    let middle = read(FrameBound::Id(ids[1]), FrameBound::Id(ids[2]), None);
    let page = scene.fabric.read_stream(On::new(attempt(&task), middle)).await.unwrap();
    assert_eq!(page.frames.iter().map(|frame| frame.id).collect::<Vec<_>>(), ids[1..3]);
    let two = read(FrameBound::Start, FrameBound::End, Some(2));
    let page = scene.fabric.read_stream(On::new(attempt(&task), two)).await.unwrap();
    assert_eq!(page.frames.iter().map(|frame| frame.id).collect::<Vec<_>>(), ids[..2]);
    let since = read(FrameBound::Millis(ids[0].millis), FrameBound::End, None);
    let page = scene.fabric.read_stream(On::new(attempt(&task), since)).await.unwrap();
    assert_eq!(page.frames.len(), 4);
}

pub(crate) async fn a_page_of_frames_has_1_to_1_000(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    for limit in [0, 1_001] {
        let read = ReadStream {
            from: FrameBound::Start,
            to: FrameBound::End,
            limit: Some(limit),
        };
        let answer = scene.fabric.read_stream(On::new(attempt(&task), read)).await;
        assert_eq!(refused(answer), Code::InvalidInput);
        let tail = TailStream {
            after: None,
            wait: Duration::ZERO,
            limit: Some(limit),
        };
        let answer = scene.fabric.tail_stream(On::new(attempt(&task), tail)).await;
        assert_eq!(refused(answer), Code::InvalidInput);
    }
}

pub(crate) async fn a_tail_goes_on_after_what_was_seen(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert!(scene.peek(&task, None).await.frames.is_empty());
    let seen = scene.append(&task, "a").await.unwrap().frame_id;
    scene.append(&task, "b").await.unwrap();
    assert_eq!(scene.peek(&task, None).await.frames.len(), 2);
    let rest = scene.peek(&task, Some(seen)).await.frames;
    assert_eq!((rest.len(), &rest[0].payload.bytes[..]), (1, &b"b"[..]));
    assert!(scene.peek(&task, Some(rest[0].id)).await.frames.is_empty());
}

pub(crate) async fn a_parked_tail_gets_the_next_frame(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let seen = scene.append(&task, "a").await.unwrap().frame_id;
    let parked = park(&scene, &task, Some(seen));
    scene.append(&task, "b").await.unwrap();
    let page = promptly(parked).await.unwrap().unwrap();
    assert_eq!(page.frames[0].payload.bytes, "b");
}

pub(crate) async fn a_parked_tail_ends_with_its_stream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let seen = scene.append(&task, "a").await.unwrap().frame_id;
    let parked = [park(&scene, &task, Some(seen)), park(&scene, &task, Some(seen))];
    scene.complete(&task).await.unwrap();
    for tail in parked {
        let page = promptly(tail).await.unwrap().unwrap();
        assert_eq!(
            (page.frames.len(), page.closed.unwrap().closed_reason),
            (0, ClosedReason::Success)
        );
    }
}

pub(crate) async fn a_tail_of_a_stream_without_frames_ends_with_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let parked = park(&scene, &task, None);
    scene.complete(&task).await.unwrap();
    let page = promptly(parked).await.unwrap().unwrap();
    assert_eq!(page.closed.unwrap().closed_reason, ClosedReason::Success);
}

fn park(scene: &Scene<'_>, task: &Task, after: Option<FrameId>) -> JoinHandle<Result<StreamPage>> {
    let fabric = Arc::clone(&scene.fabric);
    let tail = TailStream {
        after,
        wait: Duration::from_secs(30),
        limit: None,
    };
    let tail = On::new(attempt(task), tail);
    tokio::spawn(async move { fabric.tail_stream(tail).await })
}

pub(crate) async fn a_stream_says_why_it_ended(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let cancelled = streaming(&scene, submission()).await;
    scene.cancel(cancelled.execution_id).await.unwrap();
    assert_eq!(closed(&scene, &cancelled).await, ClosedReason::Cancelled);
    let failed = streaming(&scene, retrying(1)).await;
    scene.fail(&failed, "transient").await.unwrap();
    assert_eq!(closed(&scene, &failed).await, ClosedReason::Failure);
    let retry = scene.claim_and_keep().await;
    scene.append(&retry, "again").await.unwrap();
    scene.revoke(retry.execution_id).await.unwrap();
    assert_eq!(closed(&scene, &retry).await, ClosedReason::Reclaimed);
}

pub(crate) async fn a_stream_says_which_time_ended_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "execution_deadline_ms": 60_000 } });
    let late = streaming(&scene, with_policy(&policy)).await;
    scene.after(MINUTE).await;
    assert_eq!(closed(&scene, &late).await, ClosedReason::Expired);
    let asleep = streaming(&scene, submission()).await;
    let suspend = Suspend {
        timeout_at: Some(asleep.now + MINUTE),
        ..waiting(&asleep)
    };
    scene.suspended(&asleep, suspend).await;
    assert!(
        scene.output(&asleep).await.closed.is_none(),
        "a suspended attempt goes on"
    );
    scene.after(MINUTE).await;
    assert_eq!(closed(&scene, &asleep).await, ClosedReason::SuspensionTimeout);
}

pub(crate) async fn a_stream_says_that_its_dependencies_were_impossible(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = streaming(&scene, into_flow(flow, &[])).await;
    wait_in_vain(&scene, flow, &parent).await;
    assert_eq!(closed(&scene, &parent).await, ClosedReason::DependencyImpossible);
}

pub(crate) async fn a_stream_without_frames_says_why_it_ended(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (mut ended, mut expected) = (Vec::new(), Vec::new());
    let done = scene.held(submission()).await;
    scene.complete(&done).await.unwrap();
    ended.push(done);
    expected.push(ClosedReason::Success);
    let failed = scene.held(submission()).await;
    scene.fail(&failed, "permanent").await.unwrap();
    ended.push(failed);
    expected.push(ClosedReason::Failure);
    let cancelled = scene.held(submission()).await;
    scene.cancel(cancelled.execution_id).await.unwrap();
    ended.push(cancelled);
    expected.push(ClosedReason::Cancelled);
    let lost = scene.held(with_policy(&json!({ "max_reclaim_count": 0 }))).await;
    scene.revoke(lost.execution_id).await.unwrap();
    ended.push(lost);
    expected.push(ClosedReason::Reclaimed);
    let late = scene
        .held(with_policy(
            &json!({ "timeout_policy": { "execution_deadline_ms": 60_000 } }),
        ))
        .await;
    scene.after(MINUTE).await;
    ended.push(late);
    expected.push(ClosedReason::Expired);
    for behavior in [TimeoutBehavior::Fail, TimeoutBehavior::Cancel, TimeoutBehavior::Expire] {
        ended.push(timed_out(&scene, behavior).await);
        expected.push(ClosedReason::SuspensionTimeout);
    }
    let flow = scene.empty_flow().await;
    let parent = scene.held(into_flow(flow, &[])).await;
    wait_in_vain(&scene, flow, &parent).await;
    ended.push(parent);
    expected.push(ClosedReason::DependencyImpossible);
    let mut told = Vec::new();
    for task in &ended {
        told.push(closed(&scene, task).await);
    }
    assert_eq!(told, expected);
    for task in &ended {
        scene.replay(task.execution_id).await.unwrap();
    }
    for (task, expected) in ended.iter().zip(expected) {
        assert_eq!(closed(&scene, task).await, expected, "a replay changes nothing of it");
    }
}

/// An execution without output whose suspension timed out.
async fn timed_out(scene: &Scene<'_>, behavior: TimeoutBehavior) -> Task {
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        timeout_at: Some(task.now + MINUTE),
        timeout_behavior: Some(behavior),
        ..waiting(&task)
    };
    scene.suspended(&task, suspend).await;
    scene.after(MINUTE).await;
    task
}

/// A member of a flow waits for what can no longer happen.
async fn wait_in_vain(scene: &Scene<'_>, flow: FlowId, parent: &Task) {
    let child = scene.running(into_flow(flow, &[])).await;
    scene
        .depend(flow, child.execution_id, parent.execution_id)
        .await
        .unwrap();
    scene.break_down(&child).await;
    let wait = WaitChildren {
        fence: Some(parent.fence),
        ..WaitChildren::default()
    };
    scene
        .fabric
        .wait_children(On::new(parent.execution_id, wait))
        .await
        .unwrap();
}

pub(crate) async fn a_stream_is_closed_with_its_last_frame_and_not_before(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let mut ids = Vec::new();
    for n in 0..10 {
        ids.push(scene.append(&task, &n.to_string()).await.unwrap().frame_id);
    }
    scene.complete(&task).await.unwrap();
    let seen = |page: &StreamPage| (page.frames.len(), page.closed.is_some());
    let read = |from, to, limit| {
        let read = ReadStream { from, to, limit };
        scene.fabric.read_stream(On::new(attempt(&task), read))
    };
    let some = read(FrameBound::Start, FrameBound::End, Some(4)).await.unwrap();
    assert_eq!(seen(&some), (4, false));
    let exactly = read(FrameBound::Start, FrameBound::End, Some(10)).await.unwrap();
    assert_eq!(seen(&exactly), (10, true));
    let before = read(FrameBound::Start, FrameBound::Id(ids[8]), None).await.unwrap();
    assert_eq!(seen(&before), (9, false));
    let last = read(FrameBound::Id(ids[9]), FrameBound::Id(ids[9]), None)
        .await
        .unwrap();
    assert_eq!(seen(&last), (1, true));
    let tail = |after, limit| {
        let wait = Duration::ZERO;
        let tail = TailStream { after, wait, limit };
        scene.fabric.tail_stream(On::new(attempt(&task), tail))
    };
    let (mut after, mut pages) = (None, Vec::new());
    for _ in 0..4 {
        let page = tail(after, Some(4)).await.unwrap();
        after = page.frames.last().map(|frame| frame.id).or(after);
        pages.push(seen(&page));
    }
    assert_eq!(pages, [(4, false), (4, false), (2, true), (0, true)]);
}

/// A running execution with some output.
async fn streaming(scene: &Scene<'_>, command: CreateExecution) -> Task {
    let task = scene.held(command).await;
    scene.append(&task, "something").await.unwrap();
    task
}

async fn closed(scene: &Scene<'_>, task: &Task) -> ClosedReason {
    scene.output(task).await.closed.expect("it has ended").closed_reason
}

pub(crate) async fn an_ended_stream_takes_no_frames(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = streaming(&scene, submission()).await;
    scene.complete(&task).await.unwrap();
    assert_eq!(refused(scene.append(&task, "late").await), Code::StreamClosed);
    assert_eq!(scene.texts(&task).await, ["something"]);
}

pub(crate) async fn a_former_holder_cannot_append(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = streaming(&scene, submission()).await;
    scene.release(&task).await.unwrap();
    let again = scene.claim("other").await;
    let answer = scene.append(&task, "late").await;
    assert_eq!(refused(answer), Code::StaleOwnerCannotAppend);
    scene.append(&again, "more").await.unwrap();
    assert_eq!(
        scene.texts(&again).await,
        ["something", "more"],
        "one attempt has one stream"
    );
}

pub(crate) async fn every_attempt_has_its_own_stream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = streaming(&scene, retrying(1)).await;
    scene.fail(&first, "transient").await.unwrap();
    let second = scene.claim(WORKER).await;
    scene.append(&second, "other").await.unwrap();
    assert_eq!(scene.texts(&first).await, ["something"]);
    assert_eq!(scene.texts(&second).await, ["other"]);
}

pub(crate) async fn an_attempt_that_never_was_has_no_stream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let unborn = AttemptRef {
        attempt_index: 7,
        ..attempt(&task)
    };
    assert_eq!(refused(scene.fabric.read_summary(unborn).await), Code::AttemptNotFound);
    let unknown = AttemptRef {
        execution_id: nobody(),
        attempt_index: 0,
    };
    assert_eq!(
        refused(scene.fabric.read_summary(unknown).await),
        Code::ExecutionNotFound
    );
}

pub(crate) async fn the_attempt_that_comes_next_is_waited_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = streaming(&scene, retrying(1)).await;
    let after = |task: &Task| Task {
        attempt_index: task.attempt_index + 1,
        ..task.clone()
    };
    let parked = park(&scene, &after(&first), None);
    scene.fail(&first, "transient").await.unwrap();
    let second = scene.claim(WORKER).await;
    scene.append(&second, "again").await.unwrap();
    let page = promptly(parked).await.unwrap().unwrap();
    assert_eq!(page.closed, None, "it has started, and perhaps said something");
    let parked = park(&scene, &after(&second), None);
    scene.complete(&second).await.unwrap();
    let refusal = promptly(parked).await.unwrap().unwrap_err();
    assert_eq!(
        (refusal.code, &refusal.fields["public_state"]),
        (Code::AttemptNotFound, &json!("completed")),
        "there will be no other"
    );
}

pub(crate) async fn a_frame_has_at_most_64_kib(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let of = |bytes: usize| AppendFrame {
        payload: Payload::binary(vec![0; bytes]),
        ..frame(&task, "")
    };
    assert_eq!(
        refused(scene.append_as(&task, of(64 * 1024 + 1)).await),
        Code::FrameTooLarge
    );
    assert_eq!(scene.append_as(&task, of(64 * 1024)).await.unwrap().frame_count, 1);
}

pub(crate) async fn a_repeated_append_is_one_frame(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let named = || AppendFrame {
        request_id: request("frame-1"),
        ..frame(&task, "once")
    };
    let first = scene.append_as(&task, named()).await.unwrap();
    let again = scene.append_as(&task, named()).await.unwrap();
    assert_eq!(again.frame_id, first.frame_id);
    assert_eq!(scene.texts(&task).await, ["once"]);
}

pub(crate) async fn summaries_are_merged(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert_eq!(scene.fabric.read_summary(attempt(&task)).await.unwrap(), None);
    let patches = [
        json!({ "done": 1, "parts": { "a": true, "b": true } }),
        json!({ "done": 2, "parts": { "b": null } }),
    ];
    for patch in &patches {
        scene.append_as(&task, summary(&task, patch)).await.unwrap();
    }
    let document = scene.fabric.read_summary(attempt(&task)).await.unwrap().unwrap();
    let document: Value = serde_json::from_slice(&document.bytes).unwrap();
    assert_eq!(document, json!({ "done": 2, "parts": { "a": true } }));
}

pub(crate) async fn a_summary_is_json_of_some_depth(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let broken = AppendFrame {
        mode: FrameMode::Summary,
        ..frame(&task, "{")
    };
    assert_eq!(refused(scene.append_as(&task, broken).await), Code::InvalidInput);
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
    let answer = scene.append_as(&task, summary(&task, &nested(17))).await;
    assert_eq!(refused(answer), Code::InvalidInput);
    assert!(scene.append_as(&task, summary(&task, &nested(16))).await.is_ok());
}

pub(crate) async fn summaries_at_once_lose_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let patches = (0..8).map(|n| {
        let fabric = Arc::clone(&scene.fabric);
        let mut patch = json!({});
        patch[format!("part-{n}")] = json!(n);
        let append = On::new(task.execution_id, summary(&task, &patch));
        async move { fabric.append_frame(append).await.unwrap() }
    });
    at_once(patches).await;
    let document = scene.fabric.read_summary(attempt(&task)).await.unwrap().unwrap();
    let document: Value = serde_json::from_slice(&document.bytes).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 8);
}

pub(crate) async fn a_best_effort_frame_is_gone_after_its_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = streaming(&scene, submission()).await;
    let brief = AppendFrame {
        mode: FrameMode::BestEffort { ttl: MINUTE },
        ..frame(&task, "brief")
    };
    scene.append_as(&task, brief).await.unwrap();
    assert_eq!(scene.texts(&task).await, ["something", "brief"]);
    scene.after(MINUTE).await;
    assert_eq!(scene.texts(&task).await, ["something"]);
}

pub(crate) async fn a_stream_keeps_as_much_as_its_policy_says(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene
        .held(with_policy(&json!({ "stream_policy": { "retention_maxlen": 2 } })))
        .await;
    for text in ["a", "b", "c"] {
        scene.append(&task, text).await.unwrap();
    }
    assert_eq!(scene.texts(&task).await, ["b", "c"]);
}

pub(crate) async fn a_lease_that_only_streams_is_used(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.append(&task, "a").await.unwrap();
    scene.after(Duration::from_secs(10)).await;
    assert_eq!(scene.view(task.execution_id).await.counts.reclaims, 1);
}

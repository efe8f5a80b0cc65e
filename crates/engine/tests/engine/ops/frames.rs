//! append_frame: who may, what a lost reply does, and summaries.

use super::support::faulty::{Call, Fault};
use super::support::{Held, LEASE_TTL, World, code, take, work};
use ff_backend::Backend;
use ff_backend::frames::{Append, FrameRange, Frames, Keep, NewFrame};
use ff_core::command::lease::{Complete, Renew};
use ff_core::command::operator::ChangePriority;
use ff_core::command::stream::AppendFrame;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::{FrameId, FrameMode};
use ff_core::id::ExecutionId;
use ff_core::limits::FRAME_BYTES_MAX;
use ff_core::name::{FrameType, RequestId};
use ff_core::payload::Payload;
use ff_core::time::Duration;
use futures::FutureExt;
use serde_json::{Value, json};

fn frame(held: Held, payload: Payload, mode: FrameMode) -> On<ExecutionId, AppendFrame> {
    let command = AppendFrame {
        fence: Some(held.fence),
        frame_type: FrameType::parse("token").unwrap(),
        payload,
        mode,
        correlation_id: None,
        request_id: None,
    };
    On::new(held.id, command)
}

fn durable(held: Held) -> On<ExecutionId, AppendFrame> {
    frame(held, Payload::binary(&b"\xff\x00"[..]), FrameMode::Durable)
}

fn patch(held: Held, patch: &Value) -> On<ExecutionId, AppendFrame> {
    frame(held, Payload::json(patch), FrameMode::Summary)
}

async fn output(world: &World, id: ExecutionId) -> Frames {
    let range = FrameRange {
        execution_id: id,
        attempt_index: 0,
        from: FrameId::START,
        to: FrameId::END,
        limit: 100,
    };
    world.backend.read(range).await.unwrap()
}

async fn summary(world: &World, id: ExecutionId) -> Value {
    serde_json::from_slice(&output(world, id).await.summary.unwrap().0).unwrap()
}

#[tokio::test]
async fn the_first_frame_marks_the_lease_as_used_and_later_ones_write_nothing_else() {
    let world = World::new();
    let held = world.running(work()).await;
    // Somebody else's change makes this process remember a lease its holder has not used yet.
    let higher = On::new(held.id, ChangePriority { priority: 1 });
    world.engine.change_priority(higher).await.unwrap();
    assert!(!world.read(held.id).lease().unwrap().confirmed);
    let first = world.engine.append_frame(durable(held)).await.unwrap();
    assert_eq!(first.frame_count, 1);
    assert!(world.read(held.id).lease().unwrap().confirmed);
    let (loads, commits) = (world.backend.count(Call::Load), world.backend.count(Call::Commit));
    let second = world.engine.append_frame(durable(held)).await.unwrap();
    assert!(second.frame_id > first.frame_id);
    assert_eq!(
        (world.backend.count(Call::Load), world.backend.count(Call::Commit)),
        (loads, commits)
    );
    assert_eq!(
        output(&world, held.id).await.frames[0].payload,
        durable(held).command.payload
    );
}

#[tokio::test]
async fn only_the_live_holder_appends() {
    let world = World::new();
    let held = world.running(work()).await;
    let mut without = durable(held);
    without.command.fence = None;
    assert_eq!(code(world.engine.append_frame(without).await), Code::FenceRequired);
    let mut stolen = held;
    stolen.fence.lease_epoch += 1;
    assert_eq!(
        code(world.engine.append_frame(durable(stolen)).await),
        Code::StaleOwnerCannotAppend
    );
    let stranger = world.bound_to("elsewhere");
    assert_eq!(
        code(stranger.append_frame(durable(held)).await),
        Code::ExecutionNotFound
    );
    let huge = frame(held, Payload::binary(vec![0; FRAME_BYTES_MAX + 1]), FrameMode::Durable);
    assert_eq!(code(world.engine.append_frame(huge).await), Code::FrameTooLarge);

    world.engine.append_frame(durable(held)).await.unwrap();
    assert_eq!(
        code(stranger.append_frame(durable(held)).await),
        Code::ExecutionNotFound
    );
    world.backend.memory.advance(LEASE_TTL);
    assert_eq!(
        code(world.engine.append_frame(durable(held)).await),
        Code::StaleOwnerCannotAppend
    );
}

#[tokio::test]
async fn a_stream_closes_with_its_attempt() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.append_frame(durable(held)).await.unwrap();
    let done = Complete {
        fence: Some(held.fence),
        result: None,
        ..Complete::default()
    };
    world.engine.complete(On::new(held.id, done)).await.unwrap();
    assert_eq!(code(world.engine.append_frame(durable(held)).await), Code::StreamClosed);
}

#[tokio::test]
async fn a_new_holder_is_not_mistaken_for_the_one_remembered() {
    let world = World::new();
    let first = world.running(work()).await;
    let renewal = Renew {
        fence: Some(first.fence),
        ttl: None,
        doing: Vec::new(),
    };
    world.engine.renew(On::new(first.id, renewal)).await.unwrap();
    world.backend.memory.advance(LEASE_TTL);
    reclaim(&world, first.id);
    let second = take(&world.backend.memory, 2);
    assert_ne!(second.fence.attempt_id, first.fence.attempt_id);
    world.engine.append_frame(durable(second)).await.unwrap();
    assert_eq!(world.backend.frames_sent().pop().unwrap().attempt_index, 1);
}

/// What the pump does to an expired lease, in another process.
fn reclaim(world: &World, id: ExecutionId) {
    let key = ff_core::record::RecordKey::Execution(id);
    let snapshot = super::support::load(&world.backend.memory, id.partition(), [key.clone()]);
    let context = ff_core::machine::Context::engine(snapshot.now);
    let decided = ff_core::machine::time::advance(snapshot.execution(&key).unwrap(), &context);
    super::support::commit(&world.backend.memory, decided.draft, &snapshot);
}

#[tokio::test]
async fn a_frame_whose_reply_was_lost_is_sent_again_under_the_same_key() {
    let world = World::new();
    let held = world.running(work()).await;
    let named = RequestId::parse("frame-1").unwrap();
    for request_id in [None, Some(named.clone())] {
        let before = world.backend.frames_sent().len();
        world.backend.script(Call::Append, Fault::lost());
        world.backend.script(Call::Append, Fault::Down);
        let mut command = durable(held);
        command.command.request_id = request_id.clone();
        world.engine.append_frame(command).await.unwrap();
        let sent = world.backend.frames_sent().split_off(before);
        assert_eq!(sent.len(), 3);
        assert!(sent.iter().all(|append| append.frame.key == sent[0].frame.key));
        let key = sent[0].frame.key.clone().unwrap();
        assert!(request_id.is_none_or(|request_id| request_id == key));
    }
}

#[tokio::test]
async fn a_store_that_stays_down_is_reported() {
    let world = World::new();
    let held = world.running(work()).await;
    for _ in 0..4 {
        world.backend.script(Call::Append, Fault::Down);
    }
    assert_eq!(code(world.engine.append_frame(durable(held)).await), Code::Unavailable);
    world.engine.append_frame(durable(held)).await.unwrap();
}

#[tokio::test]
async fn summaries_are_merged() {
    let world = World::new();
    let held = world.running(work()).await;
    let steps = [
        json!({"done": 1, "note": "a"}),
        json!({"done": 2}),
        json!({"note": null}),
    ];
    for decided in &steps {
        world.engine.append_frame(patch(held, decided)).await.unwrap();
    }
    assert_eq!(summary(&world, held.id).await, json!({"done": 2}));
    let refused = frame(held, Payload::binary(&b"no json"[..]), FrameMode::Summary);
    assert_eq!(code(world.engine.append_frame(refused).await), Code::InvalidInput);
}

#[tokio::test]
async fn a_summary_that_moved_on_is_merged_again() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.append_frame(patch(held, &json!({"a": 1}))).await.unwrap();
    let execution = world.read(held.id);
    // The same worker, through another server, between reading and writing.
    let faster = Fault::After(Box::new(move |memory| {
        let document = json!({"a": 1, "b": 2}).to_string().into();
        let other = NewFrame {
            frame_type: FrameType::parse("token").unwrap(),
            payload: Payload::json(&json!({"b": 2})),
            correlation_id: None,
            mode: Keep::Summary { document, revision: 1 },
            key: None,
        };
        let append = Append::to(&execution, held.fence, other);
        memory
            .append(vec![append])
            .now_or_never()
            .unwrap()
            .pop()
            .unwrap()
            .unwrap();
    }));
    world.backend.script(Call::Append, faster);
    world.engine.append_frame(patch(held, &json!({"c": 3}))).await.unwrap();
    assert_eq!(summary(&world, held.id).await, json!({"a": 1, "b": 2, "c": 3}));
}

#[tokio::test]
async fn best_effort_frames_go_by_themselves() {
    let world = World::new();
    let held = world.running(work()).await;
    let ttl = Duration::from_secs(1);
    let fleeting = frame(held, Payload::default(), FrameMode::BestEffort { ttl });
    world.engine.append_frame(fleeting).await.unwrap();
    assert_eq!(output(&world, held.id).await.frames.len(), 1);
    world.advance(ttl);
    assert_eq!(output(&world, held.id).await.frames.len(), 0);
}

//! suspend and create_pending_waitpoint: early signals, tokens, ids that are not fresh.

use super::support::faulty::{Call, Fault};
use super::support::{Held, World, code, signal, work};
use ff_core::command::signal::{DeliverSignal, Delivered, SendSignal};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::name::{Identity, SignalName, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{Matcher, ReasonCode, ResumeCondition, SignalEffect};
use ff_core::state::{PublicState, public_state};
use ff_core::time::Duration;
use uuid::Uuid;

fn waitpoint(number: u128) -> WaitpointId {
    WaitpointId::from_uuid(Uuid::from_u128(number))
}

fn key(text: &str) -> WaitpointKey {
    WaitpointKey::parse(text).unwrap()
}

fn fresh(number: u128) -> WaitpointChoice {
    WaitpointChoice::Fresh {
        waitpoint_key: key("approval"),
        waitpoint_id: Some(waitpoint(number)),
    }
}

fn suspend(held: Held, waitpoints: Vec<WaitpointChoice>) -> On<ExecutionId, Suspend> {
    let command = Suspend {
        fence: Some(held.fence),
        waitpoints,
        resume_condition: ResumeCondition::Single {
            waitpoint_key: key("approval"),
            matcher: Matcher::Any,
        },
        reason_code: ReasonCode::WaitingForApproval,
        timeout_at: None,
        timeout_behavior: None,
        resume_delay: Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        step: None,
        steps: Vec::new(),
    };
    On::new(held.id, command)
}

fn pending(held: Held, number: u128) -> On<ExecutionId, CreatePendingWaitpoint> {
    let command = CreatePendingWaitpoint {
        fence: Some(held.fence),
        waitpoint_key: key("approval"),
        expires_in: Duration::from_secs(600),
        request_id: None,
        waitpoint_id: Some(waitpoint(number)),
    };
    On::new(held.id, command)
}

fn issued(task: SuspendedTask) -> Vec<IssuedWaitpoint> {
    match task {
        SuspendedTask::Suspended { waitpoints, .. } => waitpoints,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_suspended_task_hands_out_tokens_and_the_same_again_when_repeated() {
    let world = World::new();
    let held = world.running(work()).await;
    let command = suspend(held, vec![fresh(1)]);
    world.backend.script(Call::Commit, Fault::lost());
    let first = issued(world.engine.suspend(command.clone()).await.unwrap());
    assert_eq!(first.len(), 1);
    assert_eq!((first[0].waitpoint_id, first[0].expires_at), (waitpoint(1), None));
    assert_eq!(issued(world.engine.suspend(command).await.unwrap()), first);
    assert_eq!(public_state(&world.read(held.id)), PublicState::Suspended);
}

#[tokio::test]
async fn an_early_signal_keeps_the_lease() {
    let world = World::new();
    let held = world.running(work()).await;
    let pending = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    assert_eq!(
        pending.expires_at,
        Some(world.backend.memory.now() + Duration::from_secs(600))
    );
    let came = signal(&world.backend.memory, held.id, waitpoint(1), 5);
    let used = WaitpointChoice::UsePending {
        waitpoint_id: pending.waitpoint_id,
    };
    let command = suspend(held, vec![used]);
    let satisfied = SuspendedTask::AlreadySatisfied {
        signals: vec![came],
        step_seq: None,
    };
    assert_eq!(world.engine.suspend(command.clone()).await.unwrap(), satisfied);
    assert_eq!(world.engine.suspend(command).await.unwrap(), satisfied);
    assert!(world.read(held.id).lease().is_some());
}

#[tokio::test]
async fn a_pending_waitpoint_that_another_process_used_up_is_not_handed_out_again() {
    let world = World::new();
    let other = world.another_engine();
    let held = world.running(work()).await;
    let first = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    signal(&world.backend.memory, held.id, waitpoint(1), 5);
    let used = WaitpointChoice::UsePending {
        waitpoint_id: waitpoint(1),
    };
    let task = other.suspend(suspend(held, vec![used])).await.unwrap();
    assert!(matches!(task, SuspendedTask::AlreadySatisfied { .. }), "{task:?}");
    // What this process remembers has it open.
    let mut unnamed = pending(held, 2);
    unnamed.command.waitpoint_id = None;
    let second = world.engine.create_pending_waitpoint(unnamed).await.unwrap();
    assert_ne!(second.waitpoint_id, first.waitpoint_id);
}

#[tokio::test]
async fn a_signal_that_lands_between_reading_and_committing_counts() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    let id = held.id;
    let lands = Fault::After(Box::new(move |memory| {
        signal(memory, id, waitpoint(1), 5);
    }));
    world.backend.script(Call::Commit, lands);
    let used = WaitpointChoice::UsePending {
        waitpoint_id: waitpoint(1),
    };
    let task = world.engine.suspend(suspend(held, vec![used])).await.unwrap();
    assert!(matches!(task, SuspendedTask::AlreadySatisfied { .. }), "{task:?}");
}

#[tokio::test]
async fn a_used_pending_waitpoint_keeps_its_token() {
    let world = World::new();
    let held = world.running(work()).await;
    let before = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    let used = WaitpointChoice::UsePending {
        waitpoint_id: waitpoint(1),
    };
    let after = issued(world.engine.suspend(suspend(held, vec![used])).await.unwrap());
    assert_eq!(after[0].token, before.token);
}

#[tokio::test]
async fn a_waitpoint_id_that_is_not_fresh_is_refused_at_once() {
    let world = World::new();
    let held = world.running(work()).await;
    world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    let commits = world.backend.count(Call::Commit);
    let refused = world.engine.suspend(suspend(held, vec![fresh(1)])).await;
    assert_eq!(code(refused), Code::WaitpointAlreadyExists);
    let mut other_key = pending(held, 1);
    other_key.command.waitpoint_key = key("other");
    let refused = world.engine.create_pending_waitpoint(other_key).await;
    assert_eq!(code(refused), Code::WaitpointAlreadyExists);
    assert!(world.backend.count(Call::Commit) <= commits + 2);

    let mut twice = suspend(held, vec![fresh(2)]);
    twice.command.waitpoints.push(WaitpointChoice::Fresh {
        waitpoint_key: key("other"),
        waitpoint_id: Some(waitpoint(2)),
    });
    assert_eq!(code(world.engine.suspend(twice).await), Code::WaitpointAlreadyExists);
}

#[tokio::test]
async fn an_unknown_pending_waitpoint_is_refused() {
    let world = World::new();
    let held = world.running(work()).await;
    let used = WaitpointChoice::UsePending {
        waitpoint_id: waitpoint(9),
    };
    let refused = world.engine.suspend(suspend(held, vec![used])).await;
    assert_eq!(code(refused), Code::WaitpointNotFound);
}

#[tokio::test]
async fn a_pending_waitpoint_whose_reply_was_lost_is_found_again_by_its_id() {
    let world = World::new();
    let held = world.running(work()).await;
    let lost = Fault::Lost(Box::new(move |memory| {
        let key = ff_core::record::RecordKey::Execution(held.id);
        let snapshot = super::support::load(memory, held.id.partition(), [key.clone()]);
        let mut draft = ff_core::machine::Draft::default();
        draft.put(snapshot.execution(&key).unwrap().clone());
        super::support::commit(memory, draft, &snapshot);
    }));
    world.backend.script(Call::Commit, lost);
    let first = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    let again = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    assert_eq!(first, again);
    let another = world.engine.create_pending_waitpoint(pending(held, 2)).await;
    assert_eq!(code(another), Code::WaitpointAlreadyExists);
}

#[tokio::test]
async fn a_signal_that_was_sent_once_is_no_duplicate_of_itself_when_a_reply_was_lost() {
    let world = World::new();
    let held = world.running(work()).await;
    let issued = world.engine.create_pending_waitpoint(pending(held, 1)).await.unwrap();
    let overtaken = Fault::Lost(Box::new(move |memory| {
        signal(memory, held.id, waitpoint(1), 7);
    }));
    world.backend.script(Call::Commit, overtaken);
    let sent = SendSignal {
        waitpoint_token: issued.token,
        signal: DeliverSignal {
            waitpoint_id: issued.waitpoint_id,
            signal_id: None,
            signal_name: SignalName::approved(),
            category: "test".to_owned(),
            source_type: "test".to_owned(),
            source_identity: Identity::anonymous(),
            payload: Payload::default(),
            idempotency_key: None,
            correlation_id: None,
        },
    };
    let delivered = world.engine.deliver_signal(On::new(held.id, sent)).await.unwrap();
    let Delivered::Accepted { effect, .. } = delivered else {
        panic!("{delivered:?}");
    };
    assert_eq!(effect, SignalEffect::BufferedForPendingWaitpoint);
}

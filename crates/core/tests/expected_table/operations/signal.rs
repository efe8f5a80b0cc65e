//! deliver_signal.

use ff_core::command::signal::Delivered;
use ff_core::error::Rejection;
use ff_core::id::SignalId;
use ff_core::record::{SignalEffect, WaitpointRef};
use uuid::Uuid;

use crate::premise::{Pending, Premise};
use crate::render::Answer;
use crate::scene::{Post, Scene};

use super::{Cast, Operation, everywhere, in_situations, trial, twice};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    let handed_out = |pending| Premise {
        pending: Some(pending),
        ..plain
    };
    Some(match block {
        "deliver_signal (active waitpoint, matching name)" => {
            everywhere(plain, |scene| deliver(scene, active, &Post::named("go")?))
        }
        "deliver_signal (active waitpoint, other name)" => {
            everywhere(plain, |scene| deliver(scene, active, &Post::named("stop")?))
        }
        "deliver_signal (pending waitpoint)" => everywhere(handed_out(Pending::Open), |scene| {
            deliver(scene, pending, &Post::named("go")?)
        }),
        "deliver_signal (closed waitpoint)" => in_situations(vec![
            trial("closed by the pump", handed_out(Pending::Closed), to_pending),
            trial("the pump has not run", handed_out(Pending::ClosedUnnoticed), to_pending),
        ]),
        "deliver_signal repeated" => Operation {
            cast: Cast::Each(vec!["after-deliver_signal"]),
            trials: vec![
                twice("same signal_id, active waitpoint", "suspended", plain, |scene| {
                    deliver(scene, active, &same_id()?)
                }),
                twice("same idempotency_key, active waitpoint", "suspended", plain, |scene| {
                    deliver(scene, active, &same_key()?)
                }),
                twice(
                    "same signal_id, pending waitpoint",
                    "leased",
                    handed_out(Pending::Open),
                    |scene| deliver(scene, pending, &same_id()?),
                ),
                twice(
                    "same idempotency_key, pending waitpoint",
                    "leased",
                    handed_out(Pending::Open),
                    |scene| deliver(scene, pending, &same_key()?),
                ),
            ],
        },
        _ => return None,
    })
}

fn to_pending(scene: &mut Scene) -> Result<Answer, Rejection> {
    deliver(scene, pending, &Post::named("go")?)
}

fn same_id() -> Result<Post, Rejection> {
    Ok(Post {
        id: Some(SignalId::from_uuid(Uuid::from_u128(0x51))),
        ..Post::named("go")?
    })
}

fn same_key() -> Result<Post, Rejection> {
    Ok(Post {
        key: Some("key".parse()?),
        ..Post::named("go")?
    })
}

fn active(scene: &Scene) -> Option<WaitpointRef> {
    scene.waitpoint.clone()
}

fn pending(scene: &Scene) -> Option<WaitpointRef> {
    scene.pending.clone()
}

/// To one of the scene's waitpoints; one that it cannot have is made up.
fn deliver(scene: &mut Scene, to: fn(&Scene) -> Option<WaitpointRef>, post: &Post) -> Result<Answer, Rejection> {
    let waitpoint = match to(scene) {
        Some(waitpoint) => waitpoint,
        None => scene.made_up_waitpoint()?,
    };
    Ok(match scene.signal(&waitpoint, post)? {
        Delivered::Accepted { effect, .. } => {
            Answer::accepted("accepted", scene.reading().with("effect", word_of(effect)))
        }
        Delivered::Duplicate { .. } => scene.accepted("duplicate"),
    })
}

const fn word_of(effect: SignalEffect) -> &'static str {
    match effect {
        SignalEffect::ResumeConditionSatisfied => "resume_condition_satisfied",
        SignalEffect::AppendedToWaitpoint => "appended_to_waitpoint",
        SignalEffect::BufferedForPendingWaitpoint => "buffered_for_pending_waitpoint",
        SignalEffect::IgnoredNotInCondition => "ignored_not_in_condition",
    }
}

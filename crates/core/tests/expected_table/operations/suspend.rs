//! suspend, create_pending_waitpoint, resume_execution.

use ff_core::command::signal::ResumeExecution;
use ff_core::command::suspend::WaitpointChoice;
use ff_core::error::Rejection;
use ff_core::id::WaitpointId;
use ff_core::machine::resume;
use ff_core::record::{Matcher, ResumeCondition};

use crate::premise::{Pending, Premise};
use crate::render::Answer;
use crate::scene::{Post, Scene};

use super::fenced::{self, with_own_fence};
use super::{Operation, everywhere, repeated};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    let with_waitpoint = Premise {
        pending: Some(Pending::Open),
        ..plain
    };
    let suspend = || with_own_fence(fenced::suspend);
    Some(match block {
        "suspend (own fence)" => everywhere(plain, suspend()),
        "suspend (condition already met)" => everywhere(with_waitpoint, suspend_satisfied),
        "suspend repeated" => repeated_suspend(),
        "suspend repeated (other idempotency_key)" => other_key(),
        "create_pending_waitpoint (own fence)" => everywhere(plain, with_own_fence(fenced::create_pending_waitpoint)),
        "create_pending_waitpoint repeated (same request_id)" => {
            repeated("after-create_pending_waitpoint", "leased", plain, |scene| {
                let request_id = Some("request".parse()?);
                fenced::create_waitpoint(scene, scene.fence, request_id)
            })
        }
        "create_pending_waitpoint repeated (same waitpoint_key, no request_id)" => repeated(
            "after-create_pending_waitpoint",
            "leased",
            plain,
            with_own_fence(fenced::create_pending_waitpoint),
        ),
        "resume_execution" => everywhere(plain, resume_execution),
        "resume_execution repeated" => repeated("after-resume_execution", "suspended", plain, resume_execution),
        _ => return None,
    })
}

/// The same lease; the same key, or none, both times.
fn repeated_suspend() -> Operation {
    let plain = Premise::default();
    Operation {
        cast: super::Cast::Each(vec!["after-suspend"]),
        trials: vec![
            super::twice("no key", "leased", plain, with_own_fence(fenced::suspend)),
            super::twice("same key", "leased", plain, |scene| suspend_under(scene, "key")),
        ],
    }
}

/// The same lease, another key.
fn other_key() -> Operation {
    repeated("after-suspend", "leased", Premise::default(), |scene| {
        let suspended = scene.execution()?.suspension().is_some();
        suspend_under(scene, if suspended { "other" } else { "key" })
    })
}

fn suspend_under(scene: &mut Scene, key: &str) -> Result<Answer, Rejection> {
    let mut command = scene.suspend_command(scene.fence)?;
    command.idempotency_key = Some(key.parse()?);
    fenced::suspend_as(scene, &command)
}

/// The pending waitpoint was signalled before; where there is none it is made up.
fn suspend_satisfied(scene: &mut Scene) -> Result<Answer, Rejection> {
    if let Some(pending) = scene
        .pending
        .clone()
        .filter(|_| scene.reading().public_state() == "active")
    {
        // Where what is due has ended the lease the signal may be refused; the suspend is refused as well then.
        let _ = scene.signal(&pending, &Post::named("go")?);
    }
    let made_up = WaitpointId::from_uuid(scene.world.mint());
    let fence = scene.own_fence();
    let mut command = scene.suspend_command(Some(fence))?;
    command.waitpoints = vec![WaitpointChoice::UsePending {
        waitpoint_id: scene.pending.as_ref().map_or(made_up, |pending| pending.id),
    }];
    command.resume_condition = ResumeCondition::Single {
        waitpoint_key: "early".parse()?,
        matcher: Matcher::ByName("go".parse()?),
    };
    fenced::suspend_as(scene, &command)
}

fn resume_execution(scene: &mut Scene) -> Result<Answer, Rejection> {
    let command = ResumeExecution {
        reason: None,
        request_id: Some("request".parse()?),
    };
    scene.apply(|execution, context| resume::resume_execution(execution, &command, context))?;
    Ok(scene.accepted("resumed"))
}

//! What a lease holder may send, each with whatever fence it is given.

use std::collections::BTreeMap;

use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, DelayUntil, Fail, Failed, LetGo, Release, Renew, ReportUsage, UpdateProgress};
use ff_core::command::operator::CancelExecution;
use ff_core::command::steps::ProgressNote;
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::CreatePendingWaitpoint;
use ff_core::error::Rejection;
use ff_core::id::{EffectId, WaitpointId};
use ff_core::machine::lease::UsageRecorded;
use ff_core::machine::suspend::SuspendOutcome;
use ff_core::machine::{fail as machine_fail, lease, operator, wait_children as machine_wait, waitpoint};
use ff_core::name::RequestId;
use ff_core::record::Fence;
use ff_core::time::Duration;

use crate::flows;
use crate::premise::Premise;
use crate::render::Answer;
use crate::scene::Scene;
use crate::situations::budget;

use super::{Trial, trial};

/// Sends an operation with a fence, or without.
pub(super) type Send = fn(&mut Scene, Option<Fence>) -> Result<Answer, Rejection>;

/// Every operation that must carry a fence.
pub(super) const FENCED: [(&str, Send); 10] = [
    ("renew", renew),
    ("release", release),
    ("update_progress", update_progress),
    ("complete", complete),
    ("fail", fail),
    ("delay", delay),
    ("wait_children", wait_children),
    ("report_usage", report_usage),
    ("suspend", suspend),
    ("create_pending_waitpoint", create_pending_waitpoint),
];

pub(super) fn with_own_fence(send: Send) -> impl Fn(&mut Scene) -> Result<Answer, Rejection> {
    move |scene| {
        let fence = scene.own_fence();
        send(scene, Some(fence))
    }
}

pub(super) fn without_fence(label: &'static str, send: Send) -> Trial {
    trial(label, Premise::default(), move |scene| send(scene, None))
}

/// A random fence; one that is the holder's own but for the secret, the epoch or the attempt; and that of an older lease.
pub(super) fn with_stale_fences(label: &'static str, send: Send) -> Vec<Trial> {
    let earlier = Premise {
        earlier_leases: true,
        ..Premise::default()
    };
    let forged = |forge: fn(Fence, Fence) -> Fence| {
        trial(label, Premise::default(), move |scene| {
            let random = scene.random_fence();
            let fence = scene.fence.map_or(random, |own| forge(own, random));
            send(scene, Some(fence))
        })
    };
    vec![
        forged(|_, random| random),
        forged(|own, random| Fence {
            lease_id: random.lease_id,
            ..own
        }),
        forged(|own, random| Fence {
            attempt_id: random.attempt_id,
            ..own
        }),
        forged(|own, _| Fence {
            lease_epoch: own.lease_epoch + 1,
            ..own
        }),
        trial(label, earlier, move |scene| {
            let random = scene.random_fence();
            send(scene, Some(scene.first_fence.unwrap_or(random)))
        }),
    ]
}

pub(super) fn renew(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = Renew {
        fence,
        ..Renew::default()
    };
    let renewed = scene.apply(|execution, context| lease::renew(execution, &command, context))?;
    let reading = scene.reading().with("stop_requested", renewed.stop_requested.is_some());
    Ok(Answer::accepted("renewed", reading))
}

pub(super) fn release(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = Release {
        fence,
        ..Release::default()
    };
    let let_go = scene.apply(|execution, context| lease::release(execution, &command, context))?;
    Ok(scene.accepted(word_of(let_go, "released")))
}

const fn word_of(let_go: LetGo, asked: &'static str) -> &'static str {
    match let_go {
        LetGo::Now | LetGo::Already => asked,
        LetGo::Cancelled => "cancelled",
    }
}

pub(super) fn update_progress(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = UpdateProgress {
        fence,
        progress: ProgressNote {
            pct: Some(50),
            message: None,
        },
    };
    scene.apply(|execution, context| lease::update_progress(execution, &command, context))?;
    Ok(scene.accepted("updated"))
}

pub(super) fn complete(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = Complete {
        fence,
        result: None,
        ..Complete::default()
    };
    scene.apply(|execution, context| lease::complete(execution, &command, context))?;
    Ok(scene.accepted("completed"))
}

pub(super) fn fail(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    fail_as(scene, fence, "transient")
}

pub(super) fn fail_permanently(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    fail_as(scene, fence, "permanent")
}

fn fail_as(scene: &mut Scene, fence: Option<Fence>, category: &str) -> Result<Answer, Rejection> {
    let command = Fail {
        fence,
        reason: "broken".to_owned(),
        category: category.parse()?,
        retry_after: None,
        steps: Vec::new(),
    };
    let failed = scene.apply(|execution, context| machine_fail::fail(execution, &command, context))?;
    Ok(scene.accepted(match failed {
        Failed::RetryScheduled { .. } => "retry_scheduled",
        Failed::TerminalFailed => "terminal_failed",
        Failed::Cancelled => "cancelled",
    }))
}

pub(super) fn delay(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = DelayUntil {
        fence,
        until: scene.world.now + Duration::from_secs(10),
        step: None,
        steps: Vec::new(),
    };
    let let_go = scene.apply(|execution, context| lease::delay(execution, &command, context))?;
    Ok(scene.accepted(word_of(let_go, "delayed")))
}

pub(super) fn wait_children(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = WaitChildren {
        fence,
        ..WaitChildren::default()
    };
    let counts = flows::group_counts(&scene.world, scene.id);
    let waited =
        scene.apply(|execution, context| machine_wait::wait_children(execution, &command, &counts, context))?;
    Ok(scene.accepted(match waited {
        WaitedChildren::AlreadySatisfied => "already_satisfied",
        WaitedChildren::Waiting => "waiting_children",
        WaitedChildren::DependencyImpossible => "failed",
        WaitedChildren::Cancelled => "cancelled",
    }))
}

/// Usage that nothing tells from another report.
pub(super) fn report_usage(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = usage(fence)?;
    report(scene, &command)
}

pub(super) fn usage(fence: Option<Fence>) -> Result<ReportUsage, Rejection> {
    Ok(ReportUsage {
        fence,
        budget_id: budget(),
        deltas: BTreeMap::from([("tokens".parse()?, 5)]),
        dedup_key: None,
        request_id: None,
    })
}

pub(super) fn report(scene: &mut Scene, command: &ReportUsage) -> Result<Answer, Rejection> {
    let effect_id = EffectId::from_uuid(scene.world.mint());
    let recorded = scene.apply(|execution, context| lease::report_usage(execution, command, effect_id, context))?;
    // A report that is recognised by its own key is answered as the budget answers it.
    let by_key = command.request_id.is_none() && command.dedup_key.is_some();
    Ok(scene.accepted(match recorded {
        UsageRecorded::Already if by_key => "already_applied",
        UsageRecorded::Now | UsageRecorded::Already => "recorded",
    }))
}

/// At a fresh waitpoint, until something that has not happened.
pub(super) fn suspend(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = scene.suspend_command(fence)?;
    suspend_as(scene, &command)
}

pub(super) fn suspend_as(scene: &mut Scene, command: &Suspend) -> Result<Answer, Rejection> {
    let outcome = scene.suspend(command)?;
    let word = match outcome {
        SuspendOutcome::Suspended { .. } => "suspended",
        SuspendOutcome::AlreadySatisfied { .. } => "already_satisfied",
        SuspendOutcome::Cancelled => "cancelled",
    };
    Ok(Answer::accepted(
        word,
        scene.reading().with("reply", format!("{outcome:?}")),
    ))
}

pub(super) fn create_pending_waitpoint(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    create_waitpoint(scene, fence, None)
}

pub(super) fn create_waitpoint(
    scene: &mut Scene,
    fence: Option<Fence>,
    request_id: Option<RequestId>,
) -> Result<Answer, Rejection> {
    let command = CreatePendingWaitpoint {
        fence,
        waitpoint_key: "callback".parse()?,
        expires_in: Duration::from_hours(1),
        request_id,
        waitpoint_id: None,
    };
    let waitpoint_id = WaitpointId::from_uuid(scene.world.mint());
    let pending =
        scene.apply(|execution, context| waitpoint::create_pending(execution, &command, waitpoint_id, context))?;
    Ok(Answer::accepted(
        "created",
        scene.reading().with("reply", format!("{pending:?}")),
    ))
}

/// The holder cancels its own execution; without a fence it is an operator who does.
pub(super) fn cancel_execution(scene: &mut Scene, fence: Option<Fence>) -> Result<Answer, Rejection> {
    let command = CancelExecution {
        reason: "not needed".to_owned(),
        fence,
    };
    scene.apply(|execution, context| operator::cancel(execution, &command, context))?;
    Ok(scene.accepted("cancelled"))
}

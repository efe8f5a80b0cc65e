//! A member under each gate, and what the cancellation of its flow does to it.

use ff_core::command::flow::Assembly;
use ff_core::error::Rejection;
use ff_core::machine::flow::{self, Reached};
use ff_core::record::CancelFlowPolicy;

use crate::flows;
use crate::graph::Upstream;
use crate::premise::{Premise, Retries};
use crate::pump;
use crate::render::Answer;
use crate::scene::{Scene, unexpected};
use crate::situations::{SITUATIONS, build};

use super::fenced::{self, with_own_fence};
use super::gate::{GATES, move_gate};
use super::{Cast, Operation, Trial, claim, everywhere, operator, time};

const MEMBER: Premise = Premise {
    retries: None,
    max_replay_count: None,
    earlier_leases: false,
    pending: None,
    member: true,
    staging: None,
    edge: None,
};

pub(super) fn operation(block: &str) -> Option<Operation> {
    Some(match block {
        "claim of a member" => under_each_gate(vec![Trial::new("", |gate| {
            Ok(answer(claim::claim, under(gate, "waiting", "unopened")?))
        })]),
        "release of a running member" => under_each_gate(vec![
            Trial::new("closed by cancel_all", |gate| {
                Ok(answer(release, under(gate, "leased", "leased")?))
            }),
            Trial::new("closed by cancel_pending", |gate| {
                let scene = match gate {
                    "cancelled" => cancelled_pending(MEMBER)?,
                    _ => under(gate, "leased", "leased")?,
                };
                Ok(answer(release, scene))
            }),
        ]),
        "replay of a failed member" => under_each_gate(vec![Trial::new("", |gate| {
            Ok(answer(operator::replay_execution, under(gate, "failed", "failed")?))
        })]),
        "leave the lease (gate cancelled by cancel_pending)" => leave_the_lease(),
        "cancel_flow reaches a member (cancel_all)" => {
            everywhere(MEMBER, |scene| reach(scene, CancelFlowPolicy::CancelAll))
        }
        "cancel_flow reaches a member (cancel_pending)" => {
            everywhere(MEMBER, |scene| reach(scene, CancelFlowPolicy::CancelPending))
        }
        _ => return None,
    })
}

fn release(scene: &mut Scene) -> Result<Answer, Rejection> {
    with_own_fence(fenced::release)(scene)
}

fn answer(act: Act, mut scene: Scene) -> Answer {
    act(&mut scene).unwrap_or_else(Answer::from)
}

fn under_each_gate(trials: Vec<Trial>) -> Operation {
    Operation {
        cast: Cast::Each(GATES.to_vec()),
        trials,
    }
}

/// A member in `situation` whose flow's gate then moves. In a flow that is still assembling nothing runs: there it is a
/// member that never ran, or an execution that was in this situation when it was added.
fn under(gate: &str, situation: &str, unopened: &str) -> Result<Scene, String> {
    if gate == "assembling" {
        let scene = build(&SITUATIONS, unopened, Premise::default())?;
        return joined_assembling(scene).map_err(|rejection| format!("it cannot join: {rejection}"));
    }
    let mut scene = build(&SITUATIONS, situation, MEMBER)?;
    let moved = match scene.flow {
        Some(flow) => move_gate(&mut scene.world, flow, gate),
        None => Err(unexpected("is no member")),
    };
    moved.map_err(|rejection| format!("the gate does not move: {rejection}"))?;
    Ok(scene)
}

fn joined_assembling(mut scene: Scene) -> Result<Scene, Rejection> {
    if scene.flow.is_none() {
        let flow = flows::create_flow(&mut scene.world, Assembly::Assembling)?;
        flows::add(&mut scene.world, flow, scene.id)?;
        pump::pump(&mut scene.world)?;
        scene.flow = Some(flow);
    }
    Ok(scene)
}

/// A running member after cancel_pending closed the gate of its flow.
fn cancelled_pending(premise: Premise) -> Result<Scene, String> {
    let mut scene = build(&SITUATIONS, "leased", premise)?;
    let flow = scene.flow.ok_or("it is no member")?;
    flows::cancel_flow(&mut scene.world, flow, CancelFlowPolicy::CancelPending)
        .map_err(|rejection| format!("the gate does not move: {rejection}"))?;
    Ok(scene)
}

type Act = fn(&mut Scene) -> Result<Answer, Rejection>;

/// What ends the lease of a running member.
const LEAVES: [(&str, Premise, Act); 9] = [
    ("release", MEMBER, release),
    ("delay", MEMBER, |scene| with_own_fence(fenced::delay)(scene)),
    ("suspend", MEMBER, |scene| with_own_fence(fenced::suspend)(scene)),
    ("fail-with-retries-left", RETRYING, |scene| {
        with_own_fence(fenced::fail)(scene)
    }),
    ("wait_children-unresolved", WAITING, |scene| {
        with_own_fence(fenced::wait_children)(scene)
    }),
    ("revoke_lease", MEMBER, |scene| operator::revoke_lease(scene, None)),
    ("lease-expires", MEMBER, time::advance),
    ("complete", MEMBER, |scene| with_own_fence(fenced::complete)(scene)),
    ("fail-terminally", MEMBER, |scene| with_own_fence(fenced::fail)(scene)),
];

const RETRYING: Premise = Premise {
    retries: Some(Retries::Left),
    ..MEMBER
};

const WAITING: Premise = Premise {
    edge: Some(Upstream::Open),
    ..MEMBER
};

fn leave_the_lease() -> Operation {
    Operation {
        cast: Cast::Each(LEAVES.iter().map(|(name, ..)| *name).collect()),
        trials: vec![Trial::new("", |name| {
            let (_, premise, leave) = LEAVES
                .iter()
                .find(|(known, ..)| *known == name)
                .ok_or_else(|| format!("nobody knows how {name} leaves a lease"))?;
            Ok(answer(*leave, cancelled_pending(*premise)?))
        })],
    }
}

/// The flow is cancelled, and its follow-up work reaches the member.
fn reach(scene: &mut Scene, policy: CancelFlowPolicy) -> Result<Answer, Rejection> {
    let flow = scene.flow.ok_or_else(|| unexpected("is no member"))?;
    flows::cancel_flow(&mut scene.world, flow, policy)?;
    let reached =
        scene.apply(|execution, context| flow::cancel_member(execution, policy, "its flow was cancelled", context))?;
    Ok(scene.accepted(match reached {
        Reached::Cancelled => "cancelled",
        Reached::Unaffected => "unaffected",
    }))
}

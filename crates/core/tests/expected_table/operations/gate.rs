//! The flow itself under each gate: joining, staging, opening, cancelling.

use ff_core::command::flow::{Assembly, CancelProgress, Joined};
use ff_core::error::Rejection;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::{CancelFlowPolicy, DependencyKind};

use crate::flows::{self, Pair};
use crate::render::{Answer, Reading};
use crate::support::{PARTITION, World, submission};

use super::{Cast, Operation, Trial};

/// The gates a flow can have.
pub(super) const GATES: [&str; 4] = ["assembling", "open", "sealed", "cancelled"];

pub(super) fn operation(block: &str) -> Option<Operation> {
    use CancelFlowPolicy::{CancelAll, CancelPending, FlowOnly};
    Some(match block {
        "add_execution_to_flow (new member)" => under_each_gate(solo, add),
        "add_execution_to_flow (already a member)" => under_each_gate(member, add),
        "add_execution_to_flow (member of another flow)" => under_each_gate(member_of_another, add),
        "add_execution_to_flow (other partition)" => under_each_gate(foreign, add),
        "stage_dependency_edge (new edge)" => under_each_gate(two_members, stage),
        "open_flow" => under_each_gate(member, open),
        "cancel_flow (cancel_all, open members)" => {
            under_each_gate(member, |world, flow, _| cancel(world, flow, CancelAll))
        }
        "cancel_flow (cancel_pending, open members)" => {
            under_each_gate(member, |world, flow, _| cancel(world, flow, CancelPending))
        }
        "cancel_flow (flow_only, open members)" => {
            under_each_gate(member, |world, flow, _| cancel(world, flow, FlowOnly))
        }
        "cancel_flow (cancel_all, no open member)" => under_each_gate(member, |world, flow, _| {
            flows::cancel_others(world, flow, None)?;
            cancel(world, flow, CancelAll)
        }),
        "cancel_flow (cancel_pending, no open member)" => under_each_gate(member, |world, flow, _| {
            flows::cancel_others(world, flow, None)?;
            cancel(world, flow, CancelPending)
        }),
        "cancel_flow (flow_only, no open member)" => under_each_gate(member, |world, flow, _| {
            flows::cancel_others(world, flow, None)?;
            cancel(world, flow, FlowOnly)
        }),
        _ => return None,
    })
}

/// Who an operation on a flow is about; made before the gate moves.
type Prepare = fn(&mut World, FlowId) -> Result<Vec<ExecutionId>, Rejection>;
type Act = fn(&mut World, FlowId, &[ExecutionId]) -> Result<Answer, Rejection>;

fn under_each_gate(prepare: Prepare, act: Act) -> Operation {
    Operation {
        cast: Cast::Each(GATES.to_vec()),
        trials: vec![Trial::new("", move |gate| {
            let unreachable = |rejection: Rejection| format!("a flow cannot be {gate}: {rejection}");
            let mut world = World::new();
            let flow = flow_before(&mut world, gate).map_err(unreachable)?;
            let executions = prepare(&mut world, flow).map_err(unreachable)?;
            move_gate(&mut world, flow, gate).map_err(unreachable)?;
            Ok(act(&mut world, flow, &executions).unwrap_or_else(Answer::from))
        })],
    }
}

/// A flow with one member, as it was before its gate moved.
fn flow_before(world: &mut World, gate: &str) -> Result<FlowId, Rejection> {
    let assembly = if gate == "assembling" {
        Assembly::Assembling
    } else {
        Assembly::Open
    };
    let flow = flows::create_flow(world, assembly)?;
    flows::submit_member(world, flow, &submission()?)?;
    Ok(flow)
}

/// Closes the gate as the tables say it was closed.
pub(super) fn move_gate(world: &mut World, flow: FlowId, gate: &str) -> Result<(), Rejection> {
    let policy = match gate {
        "sealed" => CancelFlowPolicy::FlowOnly,
        "cancelled" => CancelFlowPolicy::CancelAll,
        _ => return Ok(()),
    };
    flows::cancel_flow(world, flow, policy)?;
    Ok(())
}

fn solo(world: &mut World, _: FlowId) -> Result<Vec<ExecutionId>, Rejection> {
    Ok(vec![world.submit(&submission()?)?])
}

fn member(world: &mut World, flow: FlowId) -> Result<Vec<ExecutionId>, Rejection> {
    Ok(vec![flows::submit_member(world, flow, &submission()?)?])
}

fn two_members(world: &mut World, flow: FlowId) -> Result<Vec<ExecutionId>, Rejection> {
    let upstream = flows::submit_member(world, flow, &submission()?)?;
    let downstream = flows::submit_member(world, flow, &submission()?)?;
    Ok(vec![downstream, upstream])
}

fn member_of_another(world: &mut World, _: FlowId) -> Result<Vec<ExecutionId>, Rejection> {
    let other = flows::create_flow(world, Assembly::Open)?;
    member(world, other)
}

fn foreign(world: &mut World, _: FlowId) -> Result<Vec<ExecutionId>, Rejection> {
    let id = ExecutionId::new(PARTITION + 1, world.mint());
    world.submit_as(id, &submission()?)?;
    Ok(vec![id])
}

fn add(world: &mut World, flow: FlowId, executions: &[ExecutionId]) -> Result<Answer, Rejection> {
    let word = match flows::add(world, flow, executions[0])? {
        Joined::Added { .. } => "added",
        Joined::AlreadyMember { .. } => "already_member",
    };
    Ok(Answer::accepted(word, reading(world, flow, executions)))
}

fn stage(world: &mut World, flow: FlowId, executions: &[ExecutionId]) -> Result<Answer, Rejection> {
    let pair = Pair {
        upstream: executions[1],
        downstream: executions[0],
        kind: DependencyKind::SuccessOnly,
        apply: true,
    };
    flows::stage(world, flow, pair)?;
    Ok(Answer::accepted("staged", reading(world, flow, executions)))
}

/// Opens the flow; the opening reaches its members.
fn open(world: &mut World, flow: FlowId, executions: &[ExecutionId]) -> Result<Answer, Rejection> {
    flows::open_flow(world, flow)?;
    flows::open_members(world, flow)?;
    Ok(Answer::accepted("opened", reading(world, flow, executions)))
}

fn cancel(world: &mut World, flow: FlowId, policy: CancelFlowPolicy) -> Result<Answer, Rejection> {
    let word = match flows::cancel_flow(world, flow, policy)?.progress {
        CancelProgress::Cancelled => "cancelled",
        CancelProgress::Scheduled => "cancellation_scheduled",
    };
    Ok(Answer::accepted(word, reading(world, flow, &[])))
}

/// The gate, and the public state of the member concerned.
fn reading(world: &World, flow: FlowId, executions: &[ExecutionId]) -> Reading {
    let gate = world.gate(flow).map_or("gone", flows::gate_word);
    let member = executions.first().and_then(|id| world.execution(*id).ok());
    let member = Reading::of(member.as_ref());
    Reading::of_word(gate).with("member", member.public_state())
}

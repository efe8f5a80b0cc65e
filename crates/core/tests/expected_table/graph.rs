//! The situations of a flow's members, and the edges a variant presumes.

use ff_core::command::flow::Assembly;
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::error::Rejection;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::{DependencyKind, GateState};
use ff_core::time::Duration;

use crate::flows::{Pair, add, create_flow, end_member, stage, submit_member};
use crate::premise::Premise;
use crate::scene::{MOMENT, Scene, unexpected};
use crate::support::{START, World, submission};

/// Where the upstream of an edge stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    Open,
    Succeeded,
    Failed,
}

/// An edge that is staged and not yet applied.
#[derive(Clone, Copy)]
pub(crate) struct Staging {
    pub(crate) upstream: Upstream,
    pub(crate) kind: DependencyKind,
}

/// A member of an open flow. The flow has a bystander, so that it has an open member whatever becomes of this one.
pub(crate) fn submitted_to_open_flow(command: &CreateExecution) -> Result<Scene, Rejection> {
    let mut world = World::new();
    let flow = create_flow(&mut world, Assembly::Open)?;
    submit_member(&mut world, flow, &submission()?)?;
    let id = submit_member(&mut world, flow, command)?;
    Scene::around(world, id)
}

/// A member of a flow whose gate is assembling.
pub(crate) fn unopened(premise: Premise) -> Result<Scene, Rejection> {
    let mut world = World::new();
    let flow = create_flow(&mut world, Assembly::Assembling)?;
    submit_member(&mut world, flow, &submission()?)?;
    let id = submit_member(&mut world, flow, &premise.command()?)?;
    let mut scene = Scene::around(world, id)?;
    stage_for(&mut scene, premise.staging)?;
    Ok(scene)
}

/// A member of an open flow with one unresolved edge.
pub(crate) fn dependent(premise: Premise) -> Result<Scene, Rejection> {
    let (scene, _) = depending(premise, premise.command()?)?;
    Ok(scene)
}

/// One that is delayed as well; the delay is over.
pub(crate) fn delayed_dependent(premise: Premise) -> Result<Scene, Rejection> {
    let mut command = premise.command()?;
    let until = START + Duration::from_secs(10);
    command.delay_until = Some(until);
    let (mut scene, _) = depending(premise, command)?;
    scene.world.wait_until(until);
    Ok(scene)
}

/// One whose upstream failed.
pub(crate) fn skipped(premise: Premise) -> Result<Scene, Rejection> {
    let (mut scene, upstream) = depending(premise, premise.command()?)?;
    end_member(&mut scene.world, upstream, Upstream::Failed)?;
    Ok(scene)
}

fn depending(premise: Premise, mut command: CreateExecution) -> Result<(Scene, ExecutionId), Rejection> {
    let mut world = World::new();
    let flow = create_flow(&mut world, Assembly::Open)?;
    submit_member(&mut world, flow, &submission()?)?;
    let upstream = submit_member(&mut world, flow, &submission()?)?;
    command.depends_on = vec![DependsOn {
        edge_id: None,
        upstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }];
    let id = submit_member(&mut world, flow, &command)?;
    let mut scene = Scene::around(world, id)?;
    stage_for(&mut scene, premise.staging)?;
    Ok((scene, upstream))
}

/// Stages an edge to the scene's execution from a new member, which then ends as asked.
pub(crate) fn stage_for(scene: &mut Scene, staging: Option<Staging>) -> Result<(), Rejection> {
    let Some(staging) = staging else { return Ok(()) };
    let flow = scene.flow.ok_or_else(|| unexpected("is no member"))?;
    let upstream = if gate_is_assembling(&scene.world, flow) && staging.upstream != Upstream::Open {
        ended_before_it_joined(&mut scene.world, flow, staging.upstream)?
    } else {
        let upstream = submit_member(&mut scene.world, flow, &submission()?)?;
        end_member(&mut scene.world, upstream, staging.upstream)?;
        upstream
    };
    let pair = Pair {
        upstream,
        downstream: scene.id,
        kind: staging.kind,
        apply: false,
    };
    scene.edge = Some(stage(&mut scene.world, flow, pair)?.edge_id);
    scene.world.wait(MOMENT);
    Ok(())
}

fn gate_is_assembling(world: &World, flow: FlowId) -> bool {
    world.gate(flow) == Some(GateState::Assembling)
}

/// Nothing runs in a flow that is not open: whoever ended there had ended when it joined.
fn ended_before_it_joined(world: &mut World, flow: FlowId, how: Upstream) -> Result<ExecutionId, Rejection> {
    let id = world.submit(&submission()?)?;
    end_member(world, id, how)?;
    add(world, flow, id)?;
    Ok(id)
}

/// An edge is applied to the running execution, then its upstream ends as asked.
pub(crate) fn apply_edge(scene: &mut Scene, upstream_end: Upstream) -> Result<(), Rejection> {
    let flow = scene.flow.ok_or_else(|| unexpected("is no member"))?;
    let upstream = submit_member(&mut scene.world, flow, &submission()?)?;
    let pair = Pair {
        upstream,
        downstream: scene.id,
        kind: DependencyKind::SuccessOnly,
        apply: true,
    };
    stage(&mut scene.world, flow, pair)?;
    end_member(&mut scene.world, upstream, upstream_end)?;
    scene.world.wait(MOMENT);
    Ok(())
}

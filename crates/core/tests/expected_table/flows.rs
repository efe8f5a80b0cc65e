//! Flows, their members and edges.

use ff_core::command::flow::{
    Applied, Assembly, CancelFlow, CreateFlow, FlowCancelled, Joined, Opened, StageDependencyEdge, Staged,
};
use ff_core::command::lease::{Complete, Fail};
use ff_core::command::operator::CancelExecution;
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::id::{EdgeId, ExecutionId, FlowId};
use ff_core::limits::RETENTION_DEFAULT;
use ff_core::machine::claim::HandOut;
use ff_core::machine::edge::{self, CycleVerdict, Ends, Surroundings};
use ff_core::machine::flow::{self, Loaded};
use ff_core::machine::member::{self, Membership};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, fail, group, lease, operator};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::record::{CancelFlowPolicy, CounterKey, DependencyKind, Execution, GateState, Record, RecordKey, Tags};
use ff_core::time::Duration;

use crate::graph::Upstream;
use crate::pump::pump;
use crate::scene::unexpected;
use crate::support::{PARTITION, World};

/// The name of a gate's state in the tables.
pub(crate) const fn gate_word(state: GateState) -> &'static str {
    match state {
        GateState::Assembling => "assembling",
        GateState::Open => "open",
        GateState::Sealed => "sealed",
        GateState::Cancelled => "cancelled",
    }
}

pub(crate) fn create_flow(world: &mut World, assembly: Assembly) -> Result<FlowId, Rejection> {
    let id = FlowId::from_uuid(world.mint());
    let command = CreateFlow {
        namespace: Namespace::default_namespace(),
        flow_kind: "graph".parse()?,
        tags: Tags::new(),
        retention: None,
        assembly,
    };
    let decided = flow::create(None, id, &command, &world.context_of(None))?;
    world.land(decided)?;
    Ok(id)
}

/// Decides about a stored flow and commits what was decided.
fn decide<O>(
    world: &mut World,
    id: FlowId,
    rule: impl FnOnce(Loaded<'_>, &Context) -> Result<Decided<O>, Rejection>,
) -> Result<O, Rejection> {
    let flow = world.flow(id)?;
    let gate = world
        .gate(id)
        .ok_or_else(|| Code::Internal.because("a flow without a gate"))?;
    let counts = flow::Counts::read(|counter| as_count(world.counter(CounterKey::Flow(id, counter))));
    let loaded = Loaded {
        flow: &flow,
        gate,
        counts: &counts,
    };
    let decided = rule(loaded, &world.context_of(Some(id)))?;
    world.land(decided)
}

fn as_count(counter: u64) -> i64 {
    i64::try_from(counter).unwrap_or(i64::MAX)
}

pub(crate) fn open_flow(world: &mut World, id: FlowId) -> Result<Opened, Rejection> {
    decide(world, id, flow::open)
}

pub(crate) fn cancel_flow(world: &mut World, id: FlowId, policy: CancelFlowPolicy) -> Result<FlowCancelled, Rejection> {
    let command = CancelFlow {
        reason: "not needed".to_owned(),
        policy,
        wait: Duration::ZERO,
    };
    decide(world, id, |loaded, context| flow::cancel(loaded, &command, context))
}

/// What counters and time do to the flow itself.
pub(crate) fn advance_flow(world: &mut World, id: FlowId) -> Result<(), Rejection> {
    decide(world, id, |loaded, context| Ok(flow::advance(loaded, context)))
}

/// Every member has ended and the retention is over: the pump closes the gate, looks again and marks the flow.
pub(crate) fn outlive(world: &mut World, id: FlowId) -> Result<(), Rejection> {
    cancel_others(world, id, None)?;
    world.wait(RETENTION_DEFAULT);
    advance_flow(world, id)?;
    advance_flow(world, id)?;
    if world.flow(id)?.deleting {
        return Ok(());
    }
    Err(Code::Internal.because("the flow was not marked as deleting"))
}

/// Lets the members of an opened flow go.
pub(crate) fn open_members(world: &mut World, id: FlowId) -> Result<(), Rejection> {
    let members: Vec<Execution> = world
        .executions()
        .into_iter()
        .filter(|it| it.definition.flow == Some(id))
        .collect();
    let page: Vec<_> = members
        .iter()
        .map(|member| (member, group_counts(world, member.id)))
        .collect();
    decide(world, id, |loaded, context| {
        Ok(flow::open_members(loaded.flow, &page, true, context))
    })?;
    pump(world)
}

/// Submits an execution as a member of a flow.
pub(crate) fn submit_member(
    world: &mut World,
    flow: FlowId,
    command: &CreateExecution,
) -> Result<ExecutionId, Rejection> {
    let id = world.mint_execution_id();
    let command = CreateExecution {
        flow_id: Some(flow),
        ..command.clone()
    };
    let upstreams = command.depends_on.iter().map(|on| world.execution(on.upstream));
    let upstreams = upstreams.collect::<Result<Vec<_>, _>>()?;
    let upstreams: Vec<&Execution> = upstreams.iter().collect();
    decide(world, flow, |loaded, context| {
        let mut decided = submit::create(&command, id, Known::default(), context)?;
        let membership = Membership {
            flow: loaded,
            depends_on: &command.depends_on,
            upstreams: &upstreams,
        };
        member::join(&mut decided.draft, id, membership, context)?;
        Ok(decided)
    })?;
    pump(world)?;
    Ok(id)
}

/// Adds an execution to a flow.
pub(crate) fn add(world: &mut World, flow: FlowId, id: ExecutionId) -> Result<Joined, Rejection> {
    let execution = world.execution(id)?;
    let partition = Partition::flow(PARTITION);
    decide(world, flow, |loaded, context| {
        member::add(&execution, loaded, partition, context)
    })
}

/// Runs a member to the end that is asked for.
pub(crate) fn end_member(world: &mut World, id: ExecutionId, how: Upstream) -> Result<(), Rejection> {
    if how == Upstream::Open {
        return Ok(());
    }
    let claimant = world.claimant()?;
    world.reserve(id, &claimant, HandOut::Lease);
    let execution = world.execution(id)?;
    let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) else {
        return Err(unexpected("stands in no queue"));
    };
    let fence = Some(lease.fence(attempt.id));
    if how == Upstream::Succeeded {
        let command = Complete {
            fence,
            result: None,
            ..Complete::default()
        };
        world.decide(id, |execution, context| lease::complete(execution, &command, context))?;
    } else {
        let command = Fail {
            fence,
            reason: "broken".to_owned(),
            category: "permanent".parse()?,
            retry_after: None,
            steps: Vec::new(),
        };
        world.decide(id, |execution, context| fail::fail(execution, &command, context))?;
    }
    pump(world)
}

/// Cancels every open member of a flow but `but`.
pub(crate) fn cancel_others(world: &mut World, flow: FlowId, but: Option<ExecutionId>) -> Result<(), Rejection> {
    let command = CancelExecution {
        reason: "not needed".to_owned(),
        fence: None,
    };
    for member in world.executions() {
        if member.definition.flow == Some(flow) && !member.is_terminal() && Some(member.id) != but {
            world.decide(member.id, |execution, context| {
                operator::cancel(execution, &command, context)
            })?;
        }
    }
    pump(world)
}

/// An edge to be.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) upstream: ExecutionId,
    pub(crate) downstream: ExecutionId,
    pub(crate) kind: DependencyKind,
    pub(crate) apply: bool,
}

pub(crate) fn stage(world: &mut World, flow: FlowId, pair: Pair) -> Result<Staged, Rejection> {
    let command = StageDependencyEdge {
        edge_id: None,
        upstream: pair.upstream,
        downstream: pair.downstream,
        dependency_kind: pair.kind,
        data_passing_ref: None,
        expected_graph_revision: None,
        apply: pair.apply,
    };
    let upstream = world.execution(pair.upstream)?;
    let downstream = world.execution(pair.downstream)?;
    let counts = group_counts(world, pair.downstream);
    let ends = Ends {
        upstream: &upstream,
        downstream: &downstream,
        counts: &counts,
    };
    let around = Surroundings {
        existing: None,
        namesake: None,
        search: CycleVerdict::Clear,
    };
    let staged = decide(world, flow, |loaded, context| {
        edge::stage(loaded, ends, &command, around, context)
    })?;
    pump(world)?;
    Ok(staged)
}

/// Applies a staged edge.
pub(crate) fn apply(world: &mut World, id: EdgeId) -> Result<Applied, Rejection> {
    let edge = match world.record(&RecordKey::Edge(id)) {
        Some(Record::Edge(edge)) => (**edge).clone(),
        _ => return Err(Code::EdgeNotFound.because(format!("edge {id} is not stored"))),
    };
    let upstream = world.execution(edge.upstream)?;
    let downstream = world.execution(edge.downstream)?;
    let counts = group_counts(world, edge.downstream);
    let ends = Ends {
        upstream: &upstream,
        downstream: &downstream,
        counts: &counts,
    };
    decide(world, edge.flow_id, |loaded, context| {
        edge::apply(&edge, loaded, ends, context)
    })
}

pub(crate) fn group_counts(world: &World, child: ExecutionId) -> group::Counts {
    group::Counts::read(|counter| as_count(world.counter(CounterKey::Group(child, counter))))
}

//! What a lease allows beyond the role of its holder: things of the execution it runs, of the flow that one is a member of,
//! and results of what it depends on.
//!
//! Every call that a holder may make says here what it is about. A lease that is shown counts, whatever the role is.

use ff_backend::load::Load;
use ff_core::caller::Caller;
use ff_core::command::flow::{SetEdgeGroupPolicy, StageDependencyEdge};
use ff_core::command::lease::Holder;
use ff_core::command::operator::CancelExecution;
use ff_core::command::page::PageRequest;
use ff_core::command::steps::{GetStepOutput, ReadSteps};
use ff_core::command::stream::{AttemptRef, ReadStream, TailStream};
use ff_core::command::submit::CreateExecution;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Operation, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::machine::{Decided, lease};
use ff_core::record::{Edge, RecordKey};
use ff_core::view::GetResult;

use crate::engine::Engine;

/// What a call is about, as far as that decides whether a lease allows it.
pub(crate) enum Reach {
    /// The execution that is run.
    Own(ExecutionId),
    /// The flow it is a member of.
    Flow(FlowId),
    /// Something it depends on.
    Upstream(ExecutionId),
    /// Nothing that any lease reaches.
    Beyond,
}

/// A call that the holder of a lease may make, whatever its role is.
pub(crate) trait UnderLease {
    /// Its rule checks the lease itself, in the commit, and knows a repetition.
    const CHECKED_BY_RULE: bool = false;

    fn reach(&self) -> Reach;

    /// The lease that stands in the command.
    fn shown(&self) -> Option<Holder> {
        None
    }

    /// Puts the lease that was shown beside the command into it.
    fn carry(&mut self, _held: &Holder) {}
}

/// Refuses a caller whose role is not enough and who shows no lease that reaches what the call is about. Who shows one that
/// does not is refused, too.
pub(crate) async fn check<C: UnderLease>(engine: &Engine, operation: &Operation, command: &mut C) -> Result<()> {
    let held = match engine.caller.held {
        None if engine.caller.check(operation).is_ok() => return Ok(()),
        None => command.shown(),
        Some(held) => Some(held),
    };
    let caller = Caller {
        held,
        ..engine.caller.clone()
    };
    caller.check(operation)?;
    let Some(held) = held else { return Ok(()) };
    if command.shown().is_some_and(|shown| shown != held) {
        return Err(Code::InvalidInput.because("two different leases are shown with this call"));
    }
    command.carry(&held);
    check_reach(engine, &held, command).await
}

async fn check_reach<C: UnderLease>(engine: &Engine, held: &Holder, command: &C) -> Result<()> {
    let (run, reach) = (held.execution_id, command.reach());
    match reach {
        Reach::Own(id) if id != run => return Err(out_of_reach(run)),
        Reach::Beyond => return Err(out_of_reach(run)),
        Reach::Own(_) if C::CHECKED_BY_RULE => return Ok(()),
        Reach::Own(_) | Reach::Flow(_) | Reach::Upstream(_) => {}
    }
    let flow_of_run = confirm(engine, held).await?;
    let reaches = match reach {
        Reach::Flow(flow) => flow_of_run == Some(flow),
        Reach::Upstream(upstream) => depends_on(engine, run, upstream).await?,
        Reach::Own(_) | Reach::Beyond => true,
    };
    if reaches { Ok(()) } else { Err(out_of_reach(run)) }
}

fn out_of_reach(run: ExecutionId) -> Rejection {
    Code::Forbidden.because(format!(
        "the lease of execution {run} does not reach what this call is about"
    ))
}

/// The flow of the execution whose lease is held. A lease that is shown is used.
async fn confirm(engine: &Engine, held: &Holder) -> Result<Option<FlowId>> {
    let fence = Some(&held.fence);
    engine
        .change_held(held.execution_id, |execution, context| {
            let Decided { draft, .. } = lease::confirm(execution, fence, context)?;
            Ok(Decided {
                outcome: execution.definition.flow,
                draft,
            })
        })
        .await
}

async fn depends_on(engine: &Engine, downstream: ExecutionId, upstream: ExecutionId) -> Result<bool> {
    let derived = RecordKey::Edge(Edge::id_between(upstream, downstream));
    let load = Load::records(downstream.partition(), [derived.clone()]);
    if engine.store().load(load).await?.edge(&derived).is_some() {
        return Ok(true);
    }
    let mut pages = engine
        .store()
        .pages(engine.range(Index::EdgesInto(downstream)), PAGE_MAX);
    while let Some(page) = pages.next().await? {
        if page.edges().iter().any(|(edge, _)| edge.upstream == upstream) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Calls that are about the execution, or the flow, that stands in their path.
macro_rules! about_what_is_named {
    ($($call:ty => $reach:expr;)+) => {
        $(
            impl UnderLease for $call {
                fn reach(&self) -> Reach {
                    $reach(self)
                }
            }
        )+
    };
}

about_what_is_named! {
    ExecutionId => |id: &ExecutionId| Reach::Own(*id);
    AttemptRef => |attempt: &AttemptRef| Reach::Own(attempt.execution_id);
    On<AttemptRef, ReadStream> => |on: &Self| Reach::Own(on.id.execution_id);
    On<AttemptRef, TailStream> => |on: &Self| Reach::Own(on.id.execution_id);
    On<ExecutionId, PageRequest> => |on: &Self| Reach::Own(on.id);
    On<ExecutionId, ReadSteps> => |on: &Self| Reach::Own(on.id);
    On<ExecutionId, GetStepOutput> => |on: &Self| Reach::Own(on.id);
    On<ExecutionId, GetResult> => |on: &Self| Reach::Upstream(on.id);
    On<FlowId, StageDependencyEdge> => |on: &Self| Reach::Flow(on.id);
    On<FlowId, SetEdgeGroupPolicy> => |on: &Self| Reach::Flow(on.id);
}

impl UnderLease for On<ExecutionId, CancelExecution> {
    const CHECKED_BY_RULE: bool = true;

    fn reach(&self) -> Reach {
        Reach::Own(self.id)
    }

    fn shown(&self) -> Option<Holder> {
        self.command.fence.map(|fence| Holder {
            execution_id: self.id,
            fence,
        })
    }

    fn carry(&mut self, held: &Holder) {
        if held.execution_id == self.id {
            self.command.fence = Some(held.fence);
        }
    }
}

impl UnderLease for CreateExecution {
    fn reach(&self) -> Reach {
        self.flow_id.map_or(Reach::Beyond, Reach::Flow)
    }

    fn shown(&self) -> Option<Holder> {
        self.parent_fence
    }

    fn carry(&mut self, held: &Holder) {
        self.parent_fence = Some(*held);
    }
}

//! set_edge_group_policy.

use crate::command::flow::SetEdgeGroupPolicy;
use crate::command::operator::Changed;
use crate::error::{Code, Rejection};
use crate::id::FlowId;
use crate::machine::change::Change;
use crate::machine::context::Context;
use crate::machine::decided::Decided;
use crate::record::{Dependencies, EdgeGroupPolicy, Execution};

/// Says how the inbound edges of a member of `flow` join, as long as none was applied.
pub fn set_policy(
    child: &Execution,
    flow: FlowId,
    command: &SetEdgeGroupPolicy,
    context: &Context,
) -> Result<Decided<Changed>, Rejection> {
    check_policy(command.policy)?;
    let mut change = Change::begin(child, context)?;
    let id = child.id;
    if child.definition.flow != Some(flow) {
        return Err(Code::ExecutionNotInFlow.because(format!("execution {id} is no member of flow {flow}")));
    }
    let dependencies = change.after.dependencies.clone().unwrap_or_else(no_edges);
    if dependencies.policy == command.policy {
        return Ok(change.finish(Changed::Already));
    }
    if dependencies.fixed {
        return Err(Code::GroupPolicyFixed.because(format!("execution {id} has applied edges: their policy is fixed")));
    }
    change.after.dependencies = Some(Dependencies {
        policy: command.policy,
        ..dependencies
    });
    Ok(change.finish(Changed::Now))
}

/// Refuses a quorum of nobody.
pub(crate) fn check_policy(policy: EdgeGroupPolicy) -> Result<(), Rejection> {
    if matches!(policy, EdgeGroupPolicy::Quorum { k: 0, .. }) {
        return Err(Code::InvalidInput.because("a quorum needs k ≥ 1"));
    }
    Ok(())
}

/// The inbound side of a member that has no edges.
pub(crate) fn no_edges() -> Dependencies {
    Dependencies {
        policy: EdgeGroupPolicy::default(),
        fixed: false,
        waiting: false,
        unsatisfied: 0,
        no_results: true,
    }
}

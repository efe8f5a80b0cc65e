//! What a client or an operator does to executions and lanes.

use async_trait::async_trait;
use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, RevokeLease, Revoked,
};
use ff_core::fabric::{On, Operate, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::{Context, operator};
use ff_core::record::Execution;

use crate::engine::Engine;

#[async_trait]
impl Operate for Engine {
    async fn cancel_execution(&self, command: On<ExecutionId, CancelExecution>) -> Result<Cancelled> {
        let rule = |execution: &Execution, context: &Context| operator::cancel(execution, &command.command, context);
        match command.command.fence {
            Some(_) => self.change_held(command.id, rule).await,
            None => self.change(command.id, rule).await,
        }
    }

    async fn replay_execution(&self, command: On<ExecutionId, ReplayExecution>) -> Result<Replayed> {
        self.replay(command).await
    }

    async fn revoke_lease(&self, command: On<ExecutionId, RevokeLease>) -> Result<Revoked> {
        self.change(command.id, |execution, context| {
            operator::revoke_lease(execution, &command.command, context)
        })
        .await
    }

    async fn change_priority(&self, command: On<ExecutionId, ChangePriority>) -> Result<Changed> {
        self.change(command.id, |execution, context| {
            operator::change_priority(execution, &command.command, context)
        })
        .await
    }

    async fn hold(&self, command: On<ExecutionId, HoldExecution>) -> Result<Changed> {
        self.change(command.id, |execution, context| {
            operator::hold(execution, &command.command, context)
        })
        .await
    }

    async fn unhold(&self, id: ExecutionId) -> Result<Changed> {
        self.change(id, operator::unhold).await
    }

    async fn set_lane_state(&self, command: SetLaneState) -> Result<Changed> {
        self.check_namespace(&command.namespace)?;
        let changed = self.change_lane(&command).await?;
        if command.state.hands_out() {
            // Also when it was so already: whoever changed it may not have come to this line.
            self.shared.desks.wake(&command.namespace, &command.lane_id);
        }
        Ok(changed)
    }
}

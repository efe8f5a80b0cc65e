//! What an operator does to single executions.

use ff_core::command::claim::RedeemGrant;
use ff_core::command::flow::ReplayExecution;
use ff_core::command::operator::{CancelExecution, ChangePriority, HoldExecution, IssueReclaimGrant, RevokeLease};
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::time::Duration;
use ff_core::view::ListPartitions;

use crate::invariants::reason_of;
use crate::world::actor::{Actor, call, call_once};
use crate::world::board::{KnownGrant, OperatorRequest};
use crate::world::names;

impl Actor {
    pub(super) async fn cancel(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let command = CancelExecution {
            reason: "not needed".to_owned(),
            fence: None,
        };
        call_once!(self, cancel_execution, On::new(id, command)).await;
    }

    pub(super) async fn replay(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let request_id = names::maybe_request(&self.luck);
        let steps = self.kept_steps(id);
        self.stage.watch.asks_to_replay(id, steps.clone());
        let command = On::new(id, ReplayExecution { request_id, steps });
        if command.command.request_id.is_some() {
            call_once!(self, replay_execution, command).await;
        } else {
            call!(self, replay_execution, command).await;
        }
    }

    pub(super) async fn delete(&self) {
        call!(self, list_partitions, ListPartitions {}).await;
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        self.stage.watch.ask_to_delete(id);
        call!(self, delete_execution, id).await;
    }

    pub(super) async fn revoke(&self) {
        let leased = self.stage.watch.leased_executions();
        let leased = self.luck.pick(&leased).copied().filter(|_| self.luck.flip());
        let Some(id) = leased.or_else(|| self.board.execution(&self.luck)) else {
            return;
        };
        let request_id = names::maybe_request(&self.luck);
        let command = RevokeLease {
            reason: request_id.as_ref().map(|request| reason_of(request.as_str())),
            expected_lease_epoch: self.luck.one_in(3).then(|| self.luck.between(1, 3)),
            request_id,
        };
        let heard = call!(self, revoke_lease, On::new(id, command.clone())).await;
        if heard.told().is_some() && command.request_id.is_some() {
            self.board.known().requests.push((id, OperatorRequest::Revoke(command)));
        }
    }

    /// Asks for something once more, long after it was done: mostly where there is something it could be done to again.
    pub(super) async fn ask_again(&self) {
        let watch = &self.stage.watch;
        let (suspended, leased) = (watch.suspended_executions(), watch.leased_executions());
        let could_act = |(id, request): &&(ExecutionId, OperatorRequest)| match request {
            OperatorRequest::Resume(_) => suspended.contains(id),
            OperatorRequest::Revoke(_) => leased.contains(id),
        };
        let all = self.board.known().requests.clone();
        let acting: Vec<_> = all.iter().filter(could_act).cloned().collect();
        let chosen = self.luck.pick(&acting).or_else(|| self.luck.pick(&all)).cloned();
        match chosen {
            Some((id, OperatorRequest::Resume(command))) => {
                call!(self, resume_execution, On::new(id, command)).await;
            }
            Some((id, OperatorRequest::Revoke(command))) => {
                call!(self, revoke_lease, On::new(id, command)).await;
            }
            None => {}
        }
    }

    pub(super) async fn prioritise(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let priority = self.luck.choose([0, 5, 9_000]);
        call!(self, change_priority, On::new(id, ChangePriority { priority })).await;
    }

    pub(super) async fn hold(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let reason = self.luck.flip().then(|| "wait for Monday".to_owned());
        call!(self, hold, On::new(id, HoldExecution { reason })).await;
    }

    pub(super) async fn unhold(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        call!(self, unhold, id).await;
    }

    /// Promises a lost execution to a worker; sometimes the orchestrator takes it over itself and drops it again.
    pub(in crate::world) async fn reclaim(&self) {
        let Some(id) = self.lost_execution() else { return };
        let (worker, instance) = (names::worker("orchestrator"), names::instance("orchestrator-1"));
        let command = IssueReclaimGrant {
            worker: worker.clone(),
            instance: instance.clone(),
            capabilities: if self.luck.one_in(6) {
                names::required(&self.luck)
            } else {
                names::all_capabilities()
            },
            grant_ttl: (!self.luck.one_in(4)).then(|| Duration::from_millis(self.luck.between(500, 20_000))),
        };
        let Some(issued) = call_once!(self, issue_reclaim_grant, On::new(id, command)).await.told() else {
            return;
        };
        let known = KnownGrant {
            grant: issued.grant.clone(),
            worker: worker.clone(),
            instance: instance.clone(),
        };
        self.board.known().grants.push(known);
        if self.luck.one_in(4) {
            return;
        }
        let redeem = RedeemGrant {
            grant: issued.grant,
            worker,
            instance: instance.clone(),
            lease_ttl: Some(Duration::from_secs(2)),
        };
        if let Some(task) = call_once!(self, claim_from_grant, redeem).await.told() {
            self.took(&task, &instance);
            self.board.known().old_fences.push((task.execution_id, task.fence));
        }
    }

    /// An execution that lost its worker, if there is one; otherwise any.
    fn lost_execution(&self) -> Option<ExecutionId> {
        let lost = self.stage.watch.reclaimable();
        self.luck
            .pick(&lost)
            .copied()
            .or_else(|| self.board.execution(&self.luck))
    }
}

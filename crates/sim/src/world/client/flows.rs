//! Flows: members, dependencies, cancellation.

use ff_core::command::flow::{
    AddExecution, ApplyDependency, Assembly, CancelFlow, CreateFlow, CreateFlowWith, MemberCancellation,
    SetEdgeGroupPolicy, StageDependencyEdge,
};
use ff_core::command::operator::SetTags;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::policy::Retention;
use ff_core::record::CancelFlowPolicy;
use ff_core::time::Duration;

use super::submit::{dependency_kind, group_policy};
use crate::world::actor::{Actor, call, call_once};
use crate::world::board::KnownFlow;
use crate::world::{names, policies};

impl Actor {
    /// What a new flow is.
    pub(super) fn flow_definition(&self, assembly: Assembly) -> CreateFlow {
        CreateFlow {
            namespace: names::some_namespace(&self.luck),
            flow_kind: names::flow_kind("pipeline"),
            tags: names::tags(&self.luck),
            retention: self
                .luck
                .one_in(3)
                .then(|| Retention::For(policies::seconds(&self.luck, 1, 60))),
            assembly,
        }
    }

    pub(super) async fn create_flow(&self) {
        let assembly = if self.luck.one_in(5) {
            Assembly::Assembling
        } else {
            Assembly::Open
        };
        let command = CreateFlowWith {
            flow_id: self.luck.flip().then(|| FlowId::from_uuid(self.luck.uuid())),
            definition: self.flow_definition(assembly),
        };
        let namespace = command.definition.namespace.clone();
        let heard = if command.flow_id.is_some() {
            call_once!(self, create_flow, command).await
        } else {
            call!(self, create_flow, command).await
        };
        if let Some(created) = heard.told() {
            self.learn_flow(created.flow_id, namespace);
        }
    }

    pub(super) fn learn_flow(&self, id: FlowId, namespace: ff_core::name::Namespace) {
        self.stage.watch.accepted_flow(id);
        let mut known = self.board.known();
        if !known.flows.iter().any(|flow| flow.id == id) {
            known.flows.push(KnownFlow { id, namespace });
        }
    }

    /// Makes an execution a member. Mostly one that was submitted into the partition of the flow.
    pub(super) async fn join(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        let id = if self.luck.one_in(4) {
            self.board.execution(&self.luck)
        } else {
            let mut command = self.nameless(flow.namespace.clone());
            command.execution_id = Some(self.member_id(flow.id));
            self.create(command).await
        };
        if let Some(id) = id {
            self.add(flow.id, id).await;
        }
    }

    async fn add(&self, flow: FlowId, id: ExecutionId) {
        if call_once!(
            self,
            add_execution_to_flow,
            On::new(flow, AddExecution { execution_id: id })
        )
        .await
        .told()
        .is_some()
        {
            let mut known = self.board.known();
            if let Some(known) = known.executions.iter_mut().find(|known| known.id == id) {
                known.flow = Some(flow);
            }
        }
    }

    /// Makes something that runs, or has ended, a member of a flow that nobody has opened, and sometimes wants to be rid of
    /// that flow again.
    pub(super) async fn adopt(&self) {
        let ran = self.stage.watch.solo_executions_that_ran();
        let Some((id, namespace)) = self.luck.pick(&ran).cloned() else {
            return;
        };
        let home = id.partition();
        let mut flow_ids = std::iter::repeat_with(|| FlowId::from_uuid(self.luck.uuid()));
        let Some(flow_id) = flow_ids.find(|flow| self.board.counts.of_flow(*flow) == home) else {
            return;
        };
        let command = CreateFlowWith {
            flow_id: Some(flow_id),
            definition: CreateFlow {
                namespace: namespace.clone(),
                ..self.flow_definition(Assembly::Assembling)
            },
        };
        if call!(self, create_flow, command).await.told().is_none() {
            return;
        }
        self.learn_flow(flow_id, namespace);
        self.add(flow_id, id).await;
        if self.luck.flip() {
            call!(self, delete_flow, flow_id).await;
        }
    }

    pub(super) async fn open_flow(&self) {
        let assembling = self.stage.watch.assembling_flows();
        let flow = self.luck.pick(&assembling).copied();
        let Some(id) = flow.or_else(|| Some(self.board.flow(&self.luck)?.id)) else {
            return;
        };
        call!(self, open_flow, id).await;
    }

    pub(super) async fn stage_edge(&self) {
        let Some((flow, mut upstream, mut downstream)) = self.board.two_members(&self.luck) else {
            return;
        };
        if self.luck.one_in(6) {
            // The other way round: a cycle, if the first way is there.
            std::mem::swap(&mut upstream, &mut downstream);
        }
        let command = StageDependencyEdge {
            edge_id: None,
            upstream,
            downstream,
            dependency_kind: dependency_kind(&self.luck),
            data_passing_ref: self.luck.one_in(3).then(|| names::data_ref("late")),
            expected_graph_revision: self.luck.one_in(5).then(|| self.luck.below(5)),
            apply: self.luck.flip(),
        };
        let applied = command.apply;
        let staged = call_once!(self, stage_dependency_edge, On::new(flow, command)).await;
        if let Some(staged) = staged.told().filter(|_| !applied) {
            self.board.known().edges.push((flow, staged.edge_id));
        }
    }

    pub(super) async fn apply_edge(&self) {
        let edge = self.luck.pick(&self.board.known().edges).copied();
        let Some((flow, edge)) = edge else { return };
        call_once!(
            self,
            apply_dependency_to_child,
            On::new(flow, ApplyDependency { edge_id: edge })
        )
        .await;
    }

    pub(super) async fn set_group_policy(&self) {
        let Some((flow, _, downstream)) = self.board.two_members(&self.luck) else {
            return;
        };
        let command = SetEdgeGroupPolicy {
            execution_id: downstream,
            policy: group_policy(&self.luck),
        };
        call!(self, set_edge_group_policy, On::new(flow, command)).await;
    }

    pub(super) async fn cancel_flow(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        let command = CancelFlow {
            reason: format!("enough of it {}", self.luck.below(3)),
            policy: self.luck.choose([
                CancelFlowPolicy::CancelAll,
                CancelFlowPolicy::CancelPending,
                CancelFlowPolicy::FlowOnly,
            ]),
            wait: Duration::from_secs(if self.luck.one_in(3) { 30 } else { 0 }),
        };
        let failovers = self.stage.watch.failovers();
        let heard = call_once!(self, cancel_flow, On::new(flow.id, command)).await;
        let closes = |answer: MemberCancellation| answer.cancelled.policy != CancelFlowPolicy::FlowOnly;
        if heard.told().is_some_and(closes) && self.stage.watch.failovers() == failovers {
            self.stage.watch.cancelled_flow(flow.id);
        }
    }

    pub(super) async fn delete_flow(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        call!(self, delete_flow, flow.id).await;
    }

    pub(super) async fn tag_flow(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        let tags = names::tags(&self.luck);
        call!(self, set_flow_tags, On::new(flow.id, SetTags { tags })).await;
        call!(self, get_flow_tags, flow.id).await;
    }
}

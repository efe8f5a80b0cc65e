//! Calls that are wrong, so that every refusal is seen: things that are not there, values out of range, forged proofs.

use ff_core::command::claim::RedeemGrant;
use ff_core::command::flow::{
    AddExecution, ApplyDependency, CreateFlowWith, FlowGraph, ReplayExecution, StageDependencyEdge,
};
use ff_core::command::lease::{Complete, Renew};
use ff_core::command::page::PageRequest;
use ff_core::command::signal::{DeliverSignal, SendSignal};
use ff_core::command::stream::{AttemptRef, ReadStream};
use ff_core::command::submit::CreateExecution;
use ff_core::command::waitpoint::ReadWaitpointToken;
use ff_core::command::worker::{Heartbeat, NamedInstance};
use ff_core::fabric::On;
use ff_core::frame::FrameBound;
use ff_core::id::{BudgetId, EdgeId, ExecutionId, FlowId, QuotaPolicyId, WaitpointId};
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::payload::Payload;
use ff_core::policy::TimeoutPolicy;
use ff_core::record::{DependencyKind, Incarnation};
use ff_core::time::Duration;
use ff_core::token::{SignedCursor, SignedGrant, WaitpointToken};
use ff_core::view::{GetResult, ListExecutions};

use crate::world::PAYLOAD_BYTES_MAX;
use crate::world::actor::{Actor, call};
use crate::world::names;

impl Actor {
    pub(super) async fn err(&self) {
        match self.luck.below(8) {
            0 | 1 => self.submit_badly().await,
            2 => self.name_the_unknown().await,
            3 => self.name_unknown_parts().await,
            4 => self.forge().await,
            5 => self.forget_the_fence().await,
            6 => self.join_badly().await,
            _ => self.ask_too_early().await,
        }
    }

    async fn submit_badly(&self) {
        let mut command = self.nameless(names::some_namespace(&self.luck));
        match self.luck.below(9) {
            0 => command.priority = 9_001,
            1 => command.tags = [("Not A Key".to_owned(), String::new())].into(),
            2 => command.input = Payload::binary(vec![0; PAYLOAD_BYTES_MAX + 1]),
            3 => {
                command.policy.timeout_policy = Some(TimeoutPolicy {
                    attempt_timeout: Some(Duration::ZERO),
                    execution_deadline: None,
                });
            }
            4 => command.execution_id = Some(ExecutionId::new(999, self.luck.uuid())),
            5 => command.policy.budget_ids = [BudgetId::from_uuid(self.luck.uuid())].into(),
            6 => command.policy.quota_policy_id = Some(QuotaPolicyId::from_uuid(self.luck.uuid())),
            7 => command.execution_id = self.board.execution(&self.luck),
            _ => return self.submit_too_many().await,
        }
        self.create(command).await;
    }

    async fn submit_too_many(&self) {
        if self.luck.one_in(4) {
            let one = CreateExecution::new(names::kind("render"), Payload::default());
            call!(self, create_executions, vec![one; BATCH_ITEMS_MAX + 1]).await;
        }
    }

    fn nobody(&self) -> ExecutionId {
        let uuid = self.luck.uuid();
        ExecutionId::new(self.board.counts.of_execution_uuid(uuid).index, uuid)
    }

    async fn name_the_unknown(&self) {
        let flow = FlowId::from_uuid(self.luck.uuid());
        match self.luck.below(8) {
            0 => drop(call!(self, get_execution, self.nobody()).await),
            1 => drop(call!(self, get_flow, flow).await),
            2 => drop(call!(self, get_budget, BudgetId::from_uuid(self.luck.uuid())).await),
            3 => drop(call!(self, get_quota_policy, QuotaPolicyId::from_uuid(self.luck.uuid())).await),
            4 => drop(call!(self, unhold, self.nobody()).await),
            5 => drop(call!(self, delete_flow, flow).await),
            6 => {
                let command = NamedInstance {
                    namespace: names::some_namespace(&self.luck),
                    process: Heartbeat {
                        instance: names::instance("nobody"),
                        incarnation: Incarnation(self.luck.uuid()),
                    },
                };
                call!(self, heartbeat, command.into()).await;
            }
            _ => {
                let mut command = self.submission(names::some_namespace(&self.luck));
                command.flow_id = Some(flow);
                self.create(command).await;
            }
        }
    }

    async fn name_unknown_parts(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        match self.luck.below(3) {
            0 => {
                let attempt = AttemptRef {
                    execution_id: id,
                    attempt_index: 99,
                };
                let range = ReadStream {
                    from: FrameBound::Start,
                    to: FrameBound::End,
                    limit: None,
                };
                call!(self, read_stream, On::new(attempt, range)).await;
            }
            1 => {
                let waitpoint_id = WaitpointId::from_uuid(self.luck.uuid());
                call!(
                    self,
                    read_waitpoint_token,
                    On::new(id, ReadWaitpointToken { waitpoint_id })
                )
                .await;
            }
            _ => {
                let Some(flow) = self.board.flow(&self.luck) else {
                    return;
                };
                let edge = EdgeId::from_uuid(self.luck.uuid());
                call!(
                    self,
                    apply_dependency_to_child,
                    On::new(flow.id, ApplyDependency { edge_id: edge })
                )
                .await;
            }
        }
    }

    async fn forge(&self) {
        match self.luck.below(4) {
            0 => {
                let page = PageRequest {
                    cursor: Some(SignedCursor::from_text("00.00.00")),
                    limit: None,
                };
                let request = ListExecutions {
                    page,
                    ..ListExecutions::default()
                };
                call!(self, list_executions, request).await;
            }
            1 => self.redeem_badly().await,
            2 => {
                let page = PageRequest {
                    cursor: None,
                    limit: Some(0),
                };
                let request = ListExecutions {
                    page,
                    ..ListExecutions::default()
                };
                call!(self, list_executions, request).await;
            }
            _ => self.signal_badly().await,
        }
    }

    /// A forged grant, or somebody else's, or one that was redeemed long ago.
    async fn redeem_badly(&self) {
        let known = self.luck.pick(&self.board.known().grants).cloned();
        let forged = self.luck.one_in(3);
        let mut command = RedeemGrant {
            grant: SignedGrant::from_text("6b31.7b7d.00"),
            worker: names::worker("thief"),
            instance: names::instance("thief-1"),
            lease_ttl: None,
        };
        if let Some(known) = known.filter(|_| !forged) {
            command.grant = known.grant;
            if self.luck.flip() {
                command.worker = known.worker;
                command.instance = known.instance;
            }
        }
        let instance = command.instance.clone();
        if let Some(task) = call!(self, claim_from_grant, command).await.told() {
            self.took(&task, &instance);
            self.board.known().old_fences.push((task.execution_id, task.fence));
        }
    }

    async fn signal_badly(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let command = SendSignal {
            waitpoint_token: WaitpointToken::from_text("k1:0000"),
            signal: DeliverSignal {
                waitpoint_id: WaitpointId::from_uuid(self.luck.uuid()),
                signal_id: None,
                signal_name: names::signal_name("go"),
                category: String::new(),
                source_type: String::new(),
                source_identity: names::identity("mallory"),
                payload: names::payload(&self.luck),
                idempotency_key: None,
                correlation_id: None,
            },
        };
        call!(self, deliver_signal, On::new(id, command)).await;
    }

    async fn forget_the_fence(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        if self.luck.flip() {
            call!(self, renew, On::new(id, Renew::default())).await;
        } else {
            let command = Complete {
                fence: None,
                result: None,
                ..Complete::default()
            };
            call!(self, complete, On::new(id, command)).await;
        }
    }

    async fn join_badly(&self) {
        let (Some(flow), Some(id)) = (self.board.flow(&self.luck), self.board.execution(&self.luck)) else {
            return;
        };
        match self.luck.below(4) {
            0 => drop(
                call!(
                    self,
                    add_execution_to_flow,
                    On::new(flow.id, AddExecution { execution_id: id })
                )
                .await,
            ),
            1 => {
                let edge = StageDependencyEdge {
                    edge_id: None,
                    upstream: id,
                    downstream: id,
                    dependency_kind: DependencyKind::SuccessOnly,
                    data_passing_ref: None,
                    expected_graph_revision: None,
                    apply: true,
                };
                call!(self, stage_dependency_edge, On::new(flow.id, edge)).await;
            }
            2 => {
                let other = self.board.execution(&self.luck).unwrap_or(id);
                let edge = StageDependencyEdge {
                    edge_id: None,
                    upstream: id,
                    downstream: other,
                    dependency_kind: DependencyKind::SuccessOnly,
                    data_passing_ref: None,
                    expected_graph_revision: None,
                    apply: false,
                };
                call!(self, stage_dependency_edge, On::new(flow.id, edge)).await;
            }
            _ => {
                // The same flow with another definition.
                let definition = ff_core::command::flow::CreateFlow {
                    flow_kind: names::flow_kind("another"),
                    ..self.flow_definition(ff_core::command::flow::Assembly::Open)
                };
                let flow = CreateFlowWith {
                    flow_id: Some(flow.id),
                    definition,
                };
                let graph = FlowGraph {
                    flow,
                    members: Vec::new(),
                    edges: Vec::new(),
                    open: true,
                };
                call!(self, create_flow_graph, graph).await;
            }
        }
    }

    /// Asks for what only an ended execution has, or only a leased one.
    async fn ask_too_early(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        if self.luck.flip() {
            call!(self, get_result, On::new(id, GetResult::default())).await;
        } else {
            let command = ReplayExecution {
                request_id: Some(names::fresh_request(&self.luck)),
                steps: None,
            };
            self.stage.watch.asks_to_replay(id, None);
            call!(self, replay_execution, On::new(id, command)).await;
        }
    }
}

//! Submissions.

use ff_core::command::operator::SetTags;
use ff_core::command::submit::{CreateExecution, Created, DependsOn};
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::Namespace;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};

use crate::luck::Luck;
use crate::world::actor::{Actor, Heard, call, call_once};
use crate::world::{names, policies};

impl Actor {
    pub(super) async fn submit(&self) {
        let command = self.submission(names::some_namespace(&self.luck));
        self.create(command).await;
    }

    /// Submits, and remembers what came of it.
    pub(crate) async fn create(&self, command: CreateExecution) -> Option<ExecutionId> {
        let flow = command.flow_id;
        let has_id = command.execution_id.is_some() || command.execution_uuid.is_some();
        let has_identity = has_id || command.idempotency_key.is_some();
        let heard = if has_identity {
            call_once!(self, create_execution, command).await
        } else {
            call!(self, create_execution, command).await
        };
        let id = self.accepted(heard.told()?);
        self.board.learn(id, flow);
        Some(id)
    }

    fn accepted(&self, created: Created) -> ExecutionId {
        match created {
            Created::Created { execution_id: id } => {
                self.stage.tally().executions += 1;
                self.stage.watch.accepted(id);
                id
            }
            // Its key may have outlived it.
            Created::Duplicate { execution_id, .. } => execution_id,
        }
    }

    pub(super) async fn submit_batch(&self) {
        let namespace = names::some_namespace(&self.luck);
        let mut commands: Vec<_> = (0..self.luck.between(2, 5))
            .map(|_| self.submission(namespace.clone()))
            .collect();
        if self.luck.one_in(3) {
            commands[0].priority = 9_001;
        }
        if let Some(answers) = call!(self, create_executions, commands).await.told() {
            for created in answers.into_iter().flatten() {
                let id = self.accepted(created);
                self.board.learn(id, None);
            }
        }
    }

    pub(super) async fn submit_member(&self) {
        let Some(flow) = self.board.flow(&self.luck) else {
            return;
        };
        let mut command = self.submission(flow.namespace);
        let members = self.board.members(flow.id);
        command.flow_id = Some(flow.id);
        command.execution_id = self.luck.flip().then(|| self.member_id(flow.id));
        command.execution_uuid = command.execution_uuid.filter(|_| command.execution_id.is_none());
        command.depends_on = members
            .into_iter()
            .filter(|_| self.luck.one_in(4))
            .map(|id| self.depends_on(id))
            .collect();
        command.edge_group_policy = self.luck.flip().then(|| group_policy(&self.luck));
        self.create(command).await;
    }

    fn depends_on(&self, upstream: ExecutionId) -> DependsOn {
        DependsOn {
            edge_id: None,
            upstream,
            dependency_kind: dependency_kind(&self.luck),
            data_passing_ref: self
                .luck
                .flip()
                .then(|| names::data_ref(&format!("in-{}", self.luck.below(100)))),
        }
    }

    /// Something to do, with or without a name that tells a repetition.
    pub(crate) fn submission(&self, namespace: Namespace) -> CreateExecution {
        let mut command = self.nameless(namespace);
        match self.luck.below(5) {
            0 => command.execution_id = Some(self.solo_id()),
            1 => command.execution_uuid = Some(self.luck.uuid()),
            2 => command.idempotency_key = Some(self.key()),
            _ => {}
        }
        command
    }

    /// Something to do, as different from everything before as luck has it.
    pub(crate) fn nameless(&self, namespace: Namespace) -> CreateExecution {
        let luck = &self.luck;
        let now = self.stage.watch.now();
        let mut command = CreateExecution::new(names::kind(luck.choose(["render", "ask"])), names::payload(luck));
        command.policy = policies::policy(luck, &self.board, &namespace);
        command.namespace = namespace;
        command.lane_id = names::some_lane(luck);
        command.priority = luck.choose([0, 0, 5, 100]);
        command.creator_identity = luck.flip().then(|| names::identity("somebody"));
        command.tags = names::tags(luck);
        command.delay_until = luck.one_in(6).then(|| now + policies::seconds(luck, 0, 20));
        command.execution_deadline_at = luck.one_in(10).then(|| now + policies::seconds(luck, 5, 200));
        command
    }

    /// A key of its own, or one that was used before.
    fn key(&self) -> ff_core::name::IdempotencyKey {
        let mut known = self.board.known();
        if self.luck.one_in(3)
            && let Some(key) = self.luck.pick(&known.keys)
        {
            return key.clone();
        }
        let key = names::fresh_key(&self.luck);
        known.keys.push(key.clone());
        key
    }

    fn solo_id(&self) -> ExecutionId {
        let uuid = self.luck.uuid();
        ExecutionId::new(self.board.counts.of_execution_uuid(uuid).index, uuid)
    }

    pub(super) fn member_id(&self, flow: FlowId) -> ExecutionId {
        ExecutionId::new(self.board.counts.of_flow(flow).index, self.luck.uuid())
    }

    pub(super) async fn tag(&self) {
        let Some(id) = self.board.execution(&self.luck) else {
            return;
        };
        let tags = names::tags(&self.luck);
        let set = On::new(id, SetTags { tags });
        if let Heard::Told(_) = call!(self, set_tags, set).await {
            call!(self, get_tags, id).await;
        }
    }
}

/// How inbound edges join.
pub(crate) fn group_policy(luck: &Luck) -> EdgeGroupPolicy {
    let on_satisfied = luck.choose([OnSatisfied::CancelRemaining, OnSatisfied::LetRun]);
    match luck.below(3) {
        0 => EdgeGroupPolicy::AllOf,
        1 => EdgeGroupPolicy::AnyOf { on_satisfied },
        _ => EdgeGroupPolicy::Quorum { k: 2, on_satisfied },
    }
}

/// Which ends of an upstream count.
pub(crate) fn dependency_kind(luck: &Luck) -> DependencyKind {
    luck.choose([
        DependencyKind::SuccessOnly,
        DependencyKind::SuccessOnly,
        DependencyKind::AnyTerminal,
    ])
}

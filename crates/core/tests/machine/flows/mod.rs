//! A flow in memory: what callers and workers do to it.

pub(crate) mod store;
pub(crate) mod work;

use ff_core::command::flow::{
    Assembly, CancelFlow, CreateFlow, ReplayExecution, Replayed, StageDependencyEdge, Staged, WaitChildren,
    WaitedChildren,
};
use ff_core::command::lease::{Complete, Fail, Release};
use ff_core::command::operator::CancelExecution;
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::error::{Code, Rejection};
use ff_core::id::{AttemptId, EdgeId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{self, Claimant, HandOut, HandedOut};
use ff_core::machine::edge::{self, CycleSearch, Ends};
use ff_core::machine::flow::{self, Loaded};
use ff_core::machine::member::{self, Membership};
use ff_core::machine::placement::{Placement, placement};
use ff_core::machine::replay::{self, Past};
use ff_core::machine::submit::{self, Known};
use ff_core::machine::{Context, Decided, Draft, fail, lease, operator, wait_children};
use ff_core::name::{Category, ExecutionKind, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{
    CancelFlowPolicy, DependencyKind, Edge, EdgeGroupPolicy, EdgeState, Fence, Record, RecordKey, Tags,
};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use self::store::{FLOW, Store, Transaction};
use self::work::Progress;

pub(crate) type Answer<O> = Result<Decided<O>, Rejection>;

/// The member with this number.
pub(crate) fn id(number: u128) -> ExecutionId {
    ExecutionId::new(3, Uuid::from_u128(0x1000 + number))
}

pub(crate) fn submission() -> CreateExecution {
    CreateExecution {
        flow_id: Some(FLOW),
        ..CreateExecution::new(ExecutionKind::parse("kind").unwrap(), Payload::default())
    }
}

pub(crate) fn on(upstream: ExecutionId) -> DependsOn {
    DependsOn {
        edge_id: None,
        upstream,
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    }
}

pub(crate) fn create_flow(assembly: Assembly) -> CreateFlow {
    CreateFlow {
        namespace: Namespace::default_namespace(),
        flow_kind: "graph".parse().unwrap(),
        tags: Tags::new(),
        retention: None,
        assembly,
    }
}

/// How a worker ends what it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Badly,
}

// What callers do, computed from a copy of the store ----------------------------------------------------------------------

impl Store {
    pub(crate) fn started(assembly: Assembly) -> Store {
        let mut store = Store::default();
        store.now = Timestamp::from_millis(1_000_000);
        let decided = flow::create(None, FLOW, &create_flow(assembly), &store.context()).unwrap();
        store.land(decided);
        store
    }

    /// Commits what nothing can be in the way of.
    pub(crate) fn land<O>(&mut self, decided: Decided<O>) -> O {
        self.land_answering(decided, None)
    }

    fn land_answering<O>(&mut self, decided: Decided<O>, answers: Option<RecordKey>) -> O {
        let transaction = Transaction {
            draft: decided.draft,
            from: self.clone(),
            answers,
        };
        self.commit(transaction).unwrap();
        decided.outcome
    }

    pub(crate) fn about_flow<O>(&self, rule: impl FnOnce(Loaded<'_>, &Context) -> O) -> O {
        let flow = self.flow().unwrap();
        let counts = self.flow_counts();
        let loaded = Loaded {
            flow: &flow,
            gate: self.gate().unwrap(),
            counts: &counts,
        };
        rule(loaded, &self.context())
    }

    pub(crate) fn submitted(&self, id: ExecutionId, command: &CreateExecution) -> Answer<()> {
        let upstreams: Vec<_> = self.executions();
        let upstreams: Vec<_> = upstreams.iter().collect();
        self.about_flow(|flow, context| {
            let mut decided = submit::create(command, id, Known::default(), context)?;
            let membership = Membership {
                flow,
                depends_on: &command.depends_on,
                upstreams: &upstreams,
            };
            member::join(&mut decided.draft, id, membership, context)?;
            Ok(decided.map(|_| ()))
        })
    }

    pub(crate) fn staged(&self, command: &StageDependencyEdge) -> Answer<Staged> {
        let (upstream, downstream) = (self.execution(command.upstream), self.execution(command.downstream));
        let counts = self.group_counts(downstream.id);
        let ends = Ends {
            upstream: &upstream,
            downstream: &downstream,
            counts: &counts,
        };
        let same_pair = |edge: &Edge| edge.upstream == upstream.id && edge.downstream == downstream.id;
        let existing = self
            .edges()
            .into_iter()
            .find(|edge| same_pair(edge) || Some(edge.id) == command.edge_id);
        let mut search = CycleSearch::new(downstream.id, upstream.id);
        loop {
            let frontier = search.next_frontier();
            if frontier.is_empty() {
                break;
            }
            for node in frontier {
                search.feed(&self.edges_from(node));
            }
        }
        let inbound = self.edges_into(downstream.id);
        let name = command.data_passing_ref.as_ref();
        let namesake = inbound
            .iter()
            .find(|edge| name.is_some() && edge.data_passing_ref.as_ref() == name);
        let around = edge::Surroundings {
            existing: existing.as_ref(),
            namesake,
            search: search.verdict(),
        };
        self.about_flow(|loaded, context| edge::stage(loaded, ends, command, around, context))
    }

    pub(crate) fn applied(&self, id: EdgeId) -> Answer<ff_core::command::flow::Applied> {
        let edge = self.edge(id).unwrap();
        let (upstream, downstream) = (self.execution(edge.upstream), self.execution(edge.downstream));
        let counts = self.group_counts(downstream.id);
        let ends = Ends {
            upstream: &upstream,
            downstream: &downstream,
            counts: &counts,
        };
        self.about_flow(|loaded, context| edge::apply(&edge, loaded, ends, context))
    }

    pub(crate) fn is_queued(&self, id: ExecutionId) -> bool {
        matches!(placement(&self.execution(id)), Placement::Eligible { .. })
    }

    /// Takes an execution out of its queue, as a store's reserve does. `false` when it stands in none.
    pub(crate) fn claim(&mut self, id: ExecutionId, luck: u128) -> bool {
        self.is_queued(id) && self.hand_out(id, luck, HandOut::Lease) == HandedOut::Leased
    }

    pub(crate) fn hand_out(&mut self, id: ExecutionId, luck: u128, mode: HandOut) -> HandedOut {
        let execution = self.execution(id);
        let surroundings = claim::Surroundings {
            now: self.now,
            gate: execution.definition.flow.and(self.gate()),
        };
        let reserved = claim::hand_out(&execution, &claimant(luck), mode, surroundings);
        let mut draft = Draft::default();
        draft.put(Record::from(reserved.execution));
        draft.increments = reserved.increments;
        self.land(Decided {
            outcome: reserved.handed_out,
            draft,
        })
    }

    pub(crate) fn fence(&self, id: ExecutionId) -> Option<Fence> {
        let execution = self.execution(id);
        Some(execution.lease()?.fence(execution.attempt.as_ref()?.id))
    }

    pub(crate) fn ended(&self, id: ExecutionId, end: End) -> Answer<()> {
        let (execution, context, fence) = (self.execution(id), self.context(), self.fence(id));
        match end {
            End::Well => Ok(lease::complete(
                &execution,
                &Complete {
                    fence,
                    result: None,
                    ..Complete::default()
                },
                &context,
            )?
            .map(|_| ())),
            End::Badly => {
                let command = Fail {
                    fence,
                    reason: "broken".to_owned(),
                    category: Category::permanent(),
                    retry_after: None,
                    steps: Vec::new(),
                };
                Ok(fail::fail(&execution, &command, &context)?.map(|_| ()))
            }
        }
    }

    pub(crate) fn released(&self, id: ExecutionId) -> Answer<()> {
        let command = Release {
            fence: self.fence(id),
            ..Release::default()
        };
        Ok(lease::release(&self.execution(id), &command, &self.context())?.map(|_| ()))
    }

    pub(crate) fn waited(&self, id: ExecutionId, fence: Option<Fence>) -> Answer<WaitedChildren> {
        let command = WaitChildren {
            fence,
            ..WaitChildren::default()
        };
        wait_children::wait_children(&self.execution(id), &command, &self.group_counts(id), &self.context())
    }

    pub(crate) fn cancelled(&self, id: ExecutionId) -> Answer<()> {
        let command = CancelExecution {
            reason: "unwanted".to_owned(),
            fence: None,
        };
        Ok(operator::cancel(&self.execution(id), &command, &self.context())?.map(|_| ()))
    }

    pub(crate) fn replayed(&self, id: ExecutionId, command: &ReplayExecution) -> Answer<Replayed> {
        let execution = self.execution(id);
        let failed = |edge: &Edge| edge.state == EdgeState::Failed;
        let archived = |attempt: &ff_core::record::Attempt| self.has(&RecordKey::Attempt(id, attempt.index));
        let past = Past {
            archived: execution.attempt.as_ref().is_some_and(archived),
            has_failed_edges: self.edges_from(id).iter().chain(&self.edges_into(id)).any(failed),
            steps: Vec::new(),
        };
        replay::replay(&execution, command, &past, &self.context())
    }

    pub(crate) fn flow_cancelled(&self, policy: CancelFlowPolicy) -> Answer<ff_core::command::flow::FlowCancelled> {
        let command = CancelFlow {
            reason: "enough".to_owned(),
            policy,
            wait: Duration::ZERO,
        };
        self.about_flow(|loaded, context| flow::cancel(loaded, &command, context))
    }
}

fn claimant(luck: u128) -> Claimant {
    Claimant {
        worker: "worker".parse().unwrap(),
        instance: "worker-1".parse().unwrap(),
        grant_id: GrantId::from_uuid(Uuid::from_u128(luck)),
        lease_id: LeaseId::from_uuid(Uuid::from_u128(luck)),
        attempt_id: AttemptId::from_uuid(Uuid::from_u128(luck)),
        lease_ttl: Duration::from_hours(1),
        grant_ttl: Duration::from_secs(5),
    }
}

// What tests do, one thing after another ----------------------------------------------------------------------------------

impl Store {
    pub(crate) fn add(&mut self, number: u128, upstreams: &[u128]) -> ExecutionId {
        self.add_joining(number, upstreams, EdgeGroupPolicy::AllOf)
    }

    pub(crate) fn add_joining(&mut self, number: u128, upstreams: &[u128], policy: EdgeGroupPolicy) -> ExecutionId {
        let command = CreateExecution {
            depends_on: upstreams.iter().map(|number| on(id(*number))).collect(),
            edge_group_policy: Some(policy),
            ..submission()
        };
        let decided = self.submitted(id(number), &command).unwrap();
        self.land(decided);
        self.pump();
        id(number)
    }

    /// Runs a member to an end, and everything that follows from it.
    pub(crate) fn run(&mut self, id: ExecutionId, end: End) {
        let luck = id.uuid().as_u128() + (u128::from(self.execution(id).lease_epoch) << 64);
        assert!(self.claim(id, luck), "{id} stands in no queue");
        let decided = self.ended(id, end).unwrap();
        self.land(decided);
        self.pump();
    }

    pub(crate) fn replay(&mut self, id: ExecutionId) {
        let decided = self.replayed(id, &ReplayExecution::default()).unwrap();
        self.land(decided);
        self.pump();
    }

    pub(crate) fn state(&self, id: ExecutionId) -> PublicState {
        public_state(&self.execution(id))
    }

    /// Does what is owed until nothing is.
    pub(crate) fn pump(&mut self) {
        let mut progress = Progress::new(64);
        for _ in 0..10_000 {
            let Some(work) = self.owed().into_iter().next() else {
                return;
            };
            let done = progress.page(self, &work);
            self.land_answering(
                Decided {
                    outcome: (),
                    draft: done.draft.clone(),
                },
                work.answers(),
            );
            progress.landed(&work, &done);
            self.assert_counters();
        }
        panic!("follow-up work does not end: {:?}", self.owed());
    }
}

/// The code of a refusal.
pub(crate) fn refusal<O>(answer: Answer<O>) -> Code {
    match answer {
        Ok(_) => panic!("it was not refused"),
        Err(rejection) => rejection.code,
    }
}

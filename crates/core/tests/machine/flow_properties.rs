//! Random flows: whatever the order of things, children end as a plain reading of the graph says, counters stay exact, and
//! nobody waits for something that has been decided.

use std::collections::BTreeMap;

use ff_core::command::flow::{Assembly, ReplayExecution, StageDependencyEdge};
use ff_core::command::submit::{CreateExecution, DependsOn};
use ff_core::id::ExecutionId;
use ff_core::machine::group::{Counts, Verdict, verdict};
use ff_core::machine::{Draft, flow};
use ff_core::record::{CancelFlowPolicy, DependencyKind, EdgeGroupPolicy, GateState, OnSatisfied};
use ff_core::state::PublicState;
use proptest::prelude::*;

use crate::flows::store::{Store, Transaction};
use crate::flows::work::{Done, Progress, Work};
use crate::flows::{End, id, on, submission};

/// A member of a graph to be: what it depends on, how, and what becomes of it when it runs.
#[derive(Clone, Debug)]
struct Node {
    upstreams: Vec<(usize, DependencyKind)>,
    policy: EdgeGroupPolicy,
    end: End,
}

fn nodes(on_satisfied: OnSatisfied) -> impl Strategy<Value = Vec<Node>> {
    let node = (
        any::<u16>(),
        any::<u16>(),
        0..4_u32,
        prop_oneof![3 => Just(End::Well), 1 => Just(End::Badly)],
    );
    prop::collection::vec(node, 2..9).prop_map(move |drawn| {
        let node = |(position, (upstreams, kinds, k, end)): (usize, (u16, u16, u32, End))| Node {
            upstreams: (0..position)
                .filter(|bit| upstreams >> bit & 1 == 1)
                .map(|bit| (bit, kind(kinds >> bit)))
                .collect(),
            policy: match k {
                0 => EdgeGroupPolicy::AllOf,
                1 => EdgeGroupPolicy::AnyOf { on_satisfied },
                k => EdgeGroupPolicy::Quorum { k, on_satisfied },
            },
            end,
        };
        drawn.into_iter().enumerate().map(node).collect()
    })
}

fn kind(luck: u16) -> DependencyKind {
    if luck.is_multiple_of(4) {
        DependencyKind::AnyTerminal
    } else {
        DependencyKind::SuccessOnly
    }
}

fn number(position: usize) -> ExecutionId {
    id(position as u128)
}

fn command(node: &Node) -> CreateExecution {
    let depends_on = |(upstream, dependency_kind): &(usize, DependencyKind)| DependsOn {
        dependency_kind: *dependency_kind,
        ..on(number(*upstream))
    };
    CreateExecution {
        depends_on: node.upstreams.iter().map(depends_on).collect(),
        edge_group_policy: Some(node.policy),
        ..submission()
    }
}

/// How each member ends, read off the graph from its roots down; `None` waits for ever.
fn expected(nodes: &[Node]) -> Vec<Option<PublicState>> {
    let mut ends: Vec<Option<PublicState>> = Vec::new();
    for node in nodes {
        let mut counts = Counts {
            applied: node.upstreams.len() as u64,
            ..Counts::default()
        };
        for (upstream, kind) in &node.upstreams {
            match (ends[*upstream], kind) {
                (None, _) => counts.unresolved += 1,
                (Some(PublicState::Completed), _) | (Some(_), DependencyKind::AnyTerminal) => counts.satisfied += 1,
                (Some(_), DependencyKind::SuccessOnly) => counts.failed += 1,
            }
        }
        ends.push(match (verdict(node.policy, &counts), node.end) {
            (Verdict::Satisfied, End::Well) => Some(PublicState::Completed),
            (Verdict::Satisfied, End::Badly) => Some(PublicState::Failed),
            (Verdict::Impossible, _) => Some(PublicState::Skipped),
            (Verdict::Undecided, _) => None,
        });
    }
    ends
}

/// A store, transactions that were computed and have not landed yet, and how far its follow-up work is.
struct Race {
    store: Store,
    flight: Vec<(Transaction, Option<(Work, Done)>)>,
    progress: Progress,
    luck: u128,
    started: BTreeMap<ExecutionId, u32>,
}

impl Race {
    fn new(store: Store, page: usize) -> Self {
        Self {
            store,
            flight: Vec::new(),
            progress: Progress::new(page),
            luck: 1 << 100,
            started: BTreeMap::new(),
        }
    }

    fn depart(&mut self, draft: Draft) {
        self.flight.push((
            Transaction {
                draft,
                from: self.store.clone(),
                answers: None,
            },
            None,
        ));
    }

    fn depart_work(&mut self, work: Work) {
        let done = self.progress.page(&self.store, &work);
        let transaction = Transaction {
            draft: done.draft.clone(),
            from: self.store.clone(),
            answers: work.answers(),
        };
        self.flight.push((transaction, Some((work, done))));
    }

    /// One of the transactions under way lands, or finds that something changed and is lost.
    fn arrive(&mut self, which: usize) {
        let (transaction, work) = self.flight.swap_remove(which % self.flight.len());
        if self.store.commit(transaction).is_ok() {
            if let Some((work, done)) = work {
                self.progress.landed(&work, &done);
            }
            self.store.assert_counters();
        }
    }

    fn claim(&mut self, id: ExecutionId) {
        let execution = self.store.execution(id);
        self.luck += 1;
        let counts = self.store.group_counts(id);
        if self.store.claim(id, self.luck) {
            let policy = execution.dependencies.as_ref().map(|dependencies| dependencies.policy);
            let held = policy.is_none_or(|policy| verdict(policy, &counts) == Verdict::Satisfied);
            assert!(
                held || execution.has_run(),
                "{id} started before its dependencies held: {counts:?}"
            );
            *self.started.entry(id).or_default() += 1;
        }
    }

    /// Everything under way lands, and everything owed is done.
    fn settle(&mut self) {
        for turn in 0..2_000 {
            let owed = self.store.owed();
            if !self.flight.is_empty() {
                self.arrive(0);
            } else if owed.is_empty() {
                return;
            } else {
                self.depart_work(owed[turn / 2 % owed.len()].clone());
            }
        }
        panic!("follow-up work does not end: {:?}", self.store.owed());
    }

    /// What must hold when nothing is owed.
    fn assert_at_rest(&self) {
        let store = &self.store;
        let gate = store.gate().unwrap();
        store.assert_counters();
        for execution in store.executions() {
            let Some(dependencies) = execution
                .dependencies
                .as_ref()
                .filter(|_| execution.runnable().is_some())
            else {
                continue;
            };
            if dependencies.waiting && gate.evaluates() {
                let counts = store.group_counts(execution.id);
                let verdict = verdict(dependencies.policy, &counts);
                assert_eq!(verdict, Verdict::Undecided, "{} still waits: {counts:?}", execution.id);
            }
        }
        for edge in store.edges().iter().filter(|edge| edge.is_unresolved()) {
            let (upstream, child) = (store.execution(edge.upstream), store.execution(edge.downstream));
            let reopened = child.counts.replays > 0;
            assert!(
                !upstream.is_terminal() || reopened,
                "nobody will ever resolve {:?}",
                edge.id
            );
        }
        let flow = store.flow().unwrap();
        let open = store
            .executions()
            .iter()
            .filter(|execution| !execution.is_terminal())
            .count();
        assert_eq!(
            flow.ended_at.is_some(),
            open == 0 && !store.executions().is_empty(),
            "{flow:?}"
        );
        if gate == GateState::Cancelled {
            assert!(
                store
                    .executions()
                    .iter()
                    .all(|member| member.is_terminal() || member.lease().is_some())
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn children_end_as_the_graph_says_whatever_the_order(
        nodes in nodes(OnSatisfied::LetRun),
        assembling in any::<bool>(),
        page in 1..4_usize,
        choices in prop::collection::vec(any::<usize>(), 400),
    ) {
        let assembly = if assembling { Assembly::Assembling } else { Assembly::Open };
        let mut race = Race::new(Store::started(assembly), page);
        for (position, node) in nodes.iter().enumerate() {
            let decided = race.store.submitted(number(position), &command(node)).unwrap();
            race.store.land(decided);
        }
        if assembling {
            let decided = race.store.about_flow(flow::open).unwrap();
            race.store.land(decided);
        }
        for choice in choices {
            let owed = race.store.owed();
            let (what, which) = (choice % 3, choice / 3);
            if what == 0 && !race.flight.is_empty() {
                race.arrive(which);
            } else if what == 1 && !owed.is_empty() {
                race.depart_work(owed[which % owed.len()].clone());
            } else {
                run_one(&mut race, &nodes, which);
            }
        }
        for _ in 0..200 {
            race.settle();
            run_one(&mut race, &nodes, 0);
        }
        race.settle();
        race.assert_at_rest();
        for (position, end) in expected(&nodes).into_iter().enumerate() {
            let state = race.store.state(number(position));
            match end {
                Some(end) => prop_assert_eq!(state, end, "member {}", position),
                None => prop_assert_eq!(state, PublicState::WaitingChildren, "member {}", position),
            }
        }
        prop_assert!(race.started.values().all(|starts| *starts == 1));
    }

    #[test]
    fn nobody_waits_for_what_is_decided_whatever_callers_do(
        nodes in nodes(OnSatisfied::CancelRemaining),
        page in 1..4_usize,
        choices in prop::collection::vec((0..12_u8, any::<usize>(), any::<usize>()), 200..400),
        cancels in prop::option::of(0..3_u8),
    ) {
        let mut race = Race::new(Store::started(Assembly::Open), page);
        let (early, late) = nodes.split_at(nodes.len() / 2);
        for (position, node) in early.iter().enumerate() {
            let decided = race.store.submitted(number(position), &command(node)).unwrap();
            race.store.land(decided);
        }
        let mut joined = early.len();
        for (action, which, other) in choices {
            let ids: Vec<_> = race.store.executions().iter().map(|execution| execution.id).collect();
            let (one, another) = (ids[which % ids.len()], ids[other % ids.len()]);
            let owed = race.store.owed();
            match action {
                0..=2 if !race.flight.is_empty() => race.arrive(which),
                3..=5 if !owed.is_empty() => race.depart_work(owed[which % owed.len()].clone()),
                6 => race.claim(one),
                7 if joined < nodes.len() => {
                    let node = &late[joined - early.len()];
                    if let Ok(decided) = race.store.submitted(number(joined), &command(node)) {
                        race.store.land(decided);
                        joined += 1;
                    }
                }
                8 => caller(&mut race, one, another, other),
                _ => worker(&mut race, one, other),
            }
        }
        if let Some(policy) = cancels {
            let policy = [CancelFlowPolicy::CancelAll, CancelFlowPolicy::CancelPending, CancelFlowPolicy::FlowOnly][usize::from(policy)];
            if let Ok(decided) = race.store.flow_cancelled(policy) {
                race.store.land(decided);
            }
        }
        race.settle();
        race.assert_at_rest();
    }
}

/// Hands out something eligible, or ends something that runs as the graph says.
fn run_one(race: &mut Race, nodes: &[Node], which: usize) {
    let ids: Vec<_> = (0..nodes.len())
        .filter(|position| {
            let id = number(*position);
            race.store.is_queued(id) || race.store.fence(id).is_some()
        })
        .collect();
    let Some(position) = ids.get(which % ids.len().max(1)) else {
        return;
    };
    let id = number(*position);
    if race.store.fence(id).is_none() {
        return race.claim(id);
    }
    if let Ok(decided) = race.store.ended(id, nodes[*position].end) {
        race.depart(decided.draft);
    }
}

fn worker(race: &mut Race, id: ExecutionId, luck: usize) {
    let store = &race.store;
    let draft = match luck % 8 {
        0 => store.released(id).map(|decided| decided.draft),
        1 | 2 => store.waited(id, store.fence(id)).map(|decided| decided.draft),
        3 | 4 => store.ended(id, End::Badly).map(|decided| decided.draft),
        _ => store.ended(id, End::Well).map(|decided| decided.draft),
    };
    if let Ok(draft) = draft {
        race.depart(draft);
    }
}

fn caller(race: &mut Race, one: ExecutionId, another: ExecutionId, luck: usize) {
    let store = &race.store;
    let draft = match luck % 8 {
        0 => store.cancelled(one).map(|decided| decided.draft),
        1..=4 => store
            .replayed(one, &ReplayExecution::default())
            .map(|decided| decided.draft),
        5 => {
            let staged = store
                .edges()
                .into_iter()
                .find(|edge| edge.state == ff_core::record::EdgeState::Staged);
            let Some(edge) = staged else { return };
            store.applied(edge.id).map(|decided| decided.draft)
        }
        _ => {
            let command = StageDependencyEdge {
                edge_id: None,
                upstream: one,
                downstream: another,
                dependency_kind: DependencyKind::SuccessOnly,
                data_passing_ref: None,
                expected_graph_revision: None,
                apply: !luck.is_multiple_of(3),
            };
            store.staged(&command).map(|decided| decided.draft)
        }
    };
    if let Ok(draft) = draft {
        race.depart(draft);
    }
}

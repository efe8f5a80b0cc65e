//! The follow-up work a flow owes, a page at a time.

use std::collections::BTreeMap;

use ff_core::id::ExecutionId;
use ff_core::machine::group::{self, Sibling};
use ff_core::machine::reopen::{self, Page, Reopened};
use ff_core::machine::{Draft, flow};
use ff_core::record::{Edge, Execution, RecordKey};
use uuid::Uuid;

use super::store::Store;

/// Something that is owed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    Resolve(ExecutionId),
    CancelSiblings(ExecutionId),
    Reopen(ExecutionId),
    Evaluate(RecordKey),
    OpenMembers,
    CancelMembers,
}

impl Work {
    /// The nudge it answers.
    pub(crate) fn answers(&self) -> Option<RecordKey> {
        match self {
            Work::Evaluate(key) => Some(key.clone()),
            _ => None,
        }
    }
}

impl Store {
    pub(crate) fn owed(&self) -> Vec<Work> {
        let mut owed = Vec::new();
        for execution in self.executions() {
            let follow_ups = execution.follow_ups;
            owed.extend(follow_ups.resolve_edges.then_some(Work::Resolve(execution.id)));
            owed.extend(follow_ups.cancel_siblings.then_some(Work::CancelSiblings(execution.id)));
            owed.extend(follow_ups.reopen_edges.then_some(Work::Reopen(execution.id)));
        }
        let flow = self.flow();
        owed.extend(
            flow.as_ref()
                .is_some_and(|flow| flow.opening)
                .then_some(Work::OpenMembers),
        );
        owed.extend(
            flow.as_ref()
                .is_some_and(|flow| flow.cancelling)
                .then_some(Work::CancelMembers),
        );
        owed.extend(self.nudged().map(|key| Work::Evaluate(key.clone())));
        owed
    }
}

/// How far each piece of work is: the place after which its next page starts.
pub(crate) struct Progress {
    page: usize,
    after: BTreeMap<Work, Uuid>,
}

/// A page of work that has been computed.
pub(crate) struct Done {
    pub(crate) draft: Draft,
    after: Option<Uuid>,
}

impl Progress {
    pub(crate) fn new(page: usize) -> Self {
        Self {
            page,
            after: Default::default(),
        }
    }

    pub(crate) fn landed(&mut self, work: &Work, done: &Done) {
        match done.after {
            Some(after) => self.after.insert(work.clone(), after),
            None => self.after.remove(work),
        };
    }

    /// The next page of `all`, and whether it is the last.
    fn next<T>(&self, work: &Work, all: Vec<T>, place: impl Fn(&T) -> Uuid) -> (Vec<T>, Option<Uuid>, bool) {
        let mut all: Vec<_> = all
            .into_iter()
            .filter(|item| self.after.get(work) < Some(&place(item)))
            .collect();
        all.sort_by_key(&place);
        let last = all.len() <= self.page;
        all.truncate(self.page);
        let after = all.last().map(place).filter(|_| !last);
        (all, after, last)
    }

    pub(crate) fn page(&self, store: &Store, work: &Work) -> Done {
        let context = store.context();
        match work {
            Work::Resolve(id) => {
                let unresolved = store.edges_from(*id).into_iter().filter(Edge::is_unresolved).collect();
                // What was resolved is not listed again.
                let (edges, _, last) = Progress::new(self.page).next(work, unresolved, |edge| edge.id.uuid());
                let draft = group::resolve_edges(&store.execution(*id), &edges, last, &context).draft;
                Done { draft, after: None }
            }
            Work::CancelSiblings(id) => self.siblings(store, work, *id),
            Work::Reopen(id) => self.reopen(store, work, *id),
            Work::Evaluate(RecordKey::Execution(id)) => {
                let draft = group::evaluate(&store.execution(*id), &store.group_counts(*id), &context).draft;
                Done { draft, after: None }
            }
            Work::Evaluate(_) => {
                let draft = store.about_flow(|loaded, context| flow::advance(loaded, context).draft);
                Done { draft, after: None }
            }
            Work::OpenMembers => {
                let (members, after, last) = self.next(work, store.executions(), |member| member.id.uuid());
                let page: Vec<_> = members
                    .iter()
                    .map(|member| (member, store.group_counts(member.id)))
                    .collect();
                let draft = flow::open_members(&store.flow().unwrap(), &page, last, &context).draft;
                Done { draft, after }
            }
            Work::CancelMembers => {
                let (members, after, last) = self.next(work, store.executions(), |member| member.id.uuid());
                let page: Vec<_> = members.iter().collect();
                let draft = flow::cancel_members(&store.flow().unwrap(), &page, last, &context).draft;
                Done { draft, after }
            }
        }
    }

    fn siblings(&self, store: &Store, work: &Work, child: ExecutionId) -> Done {
        let unresolved = store
            .edges_into(child)
            .into_iter()
            .filter(Edge::is_unresolved)
            .collect();
        let (edges, after, last) = self.next(work, unresolved, |edge: &Edge| edge.id.uuid());
        let upstreams: Vec<_> = edges.iter().map(|edge| store.execution(edge.upstream)).collect();
        let needed = |upstream: &Execution| {
            let outbound = store.edges_from(upstream.id);
            outbound.iter().any(|edge| {
                let counts = store.group_counts(edge.downstream);
                group::needs(edge, &store.execution(edge.downstream), &counts, child)
            })
        };
        let page: Vec<_> = upstreams
            .iter()
            .map(|upstream| Sibling {
                upstream,
                needed: needed(upstream),
            })
            .collect();
        let draft = group::cancel_siblings(&store.execution(child), &page, last, &store.context()).draft;
        Done { draft, after }
    }

    fn reopen(&self, store: &Store, work: &Work, id: ExecutionId) -> Done {
        let around = store.edges_into(id).into_iter().chain(store.edges_from(id)).collect();
        let (edges, after, last) = self.next(work, around, |edge: &Edge| edge.id.uuid());
        let others: Vec<_> = edges
            .iter()
            .map(|edge| {
                store.execution(if edge.upstream == id {
                    edge.downstream
                } else {
                    edge.upstream
                })
            })
            .collect();
        let pairs = || edges.iter().zip(&others);
        let inbound: Vec<_> = pairs().filter(|(edge, _)| edge.downstream == id).collect();
        let outbound: Vec<_> = pairs()
            .filter(|(edge, _)| edge.upstream == id)
            .map(|(edge, child)| (edge, child, store.group_counts(child.id)))
            .collect();
        let page = Page {
            inbound: &inbound,
            outbound: &outbound,
            last,
        };
        let decided = reopen::reopen_edges(&store.execution(id), page, &store.context());
        // An edge that had to be left for later is found by starting over.
        let after = after.filter(|_| decided.outcome == Reopened::More);
        Done {
            draft: decided.draft,
            after,
        }
    }
}

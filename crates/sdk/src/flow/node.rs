//! A member of a flow that is being written down.

use std::marker::PhantomData;
use std::sync::Arc;

use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};

use super::graph::{Edge, Member, Passes};
use super::{Shared, lock};
use crate::options::{TaskOptions, option_methods};

/// A member of a flow, which gives an `O`. What is said about it goes into the flow it was added to.
pub struct Node<O> {
    graph: Shared,
    index: usize,
    gives: PhantomData<fn() -> O>,
}

/// How many of the members it waits for a member needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Every one. One that does not succeed lets the member be skipped.
    All,
    /// One is enough; the others go on.
    Any,
    /// So many are enough; the others go on.
    Quorum(u32),
}

impl<O> Node<O> {
    pub(super) const fn new(graph: Shared, index: usize) -> Self {
        Self {
            graph,
            index,
            gives: PhantomData,
        }
    }

    option_methods!();

    /// Its name inside the flow, by which people find it; `<kind>-<n>` unless said.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        self.change(|member| member.key = name.into())
    }

    /// Waits for `from` to succeed, and is handed its result under this name.
    #[must_use]
    pub fn input<P>(self, name: impl Into<String>, from: &Node<P>) -> Self {
        self.depend(from, DependencyKind::SuccessOnly, Some(Passes::One(name.into())))
    }

    /// Waits for all of `from` to succeed, or as many as `join` says, and is handed their results as `name.0`, `name.1`, ….
    #[must_use]
    pub fn collect<'n, P: 'n>(self, name: &str, from: impl IntoIterator<Item = &'n Node<P>>) -> Self {
        let numbered = from.into_iter().enumerate();
        numbered.fold(self, |node, (number, from)| {
            let passes = Passes::Many(name.to_owned(), number);
            node.depend(from, DependencyKind::SuccessOnly, Some(passes))
        })
    }

    /// Waits for `other` to succeed; nothing is handed over.
    #[must_use]
    pub fn after<P>(self, other: &Node<P>) -> Self {
        self.depend(other, DependencyKind::SuccessOnly, None)
    }

    /// Waits for `other` to end, whether it succeeds or not; nothing is handed over.
    #[must_use]
    pub fn after_end_of<P>(self, other: &Node<P>) -> Self {
        self.depend(other, DependencyKind::AnyTerminal, None)
    }

    /// How many of the members it waits for it needs; all of them unless said.
    #[must_use]
    pub fn join(self, join: Join) -> Self {
        let on_satisfied = OnSatisfied::LetRun;
        self.change(|member| {
            member.join = Some(match join {
                Join::All => EdgeGroupPolicy::AllOf,
                Join::Any => EdgeGroupPolicy::AnyOf { on_satisfied },
                Join::Quorum(k) => EdgeGroupPolicy::Quorum { k, on_satisfied },
            });
        })
    }

    /// Once enough have succeeded, the others that nobody else needs are cancelled.
    #[must_use]
    pub fn cancel_rest(self) -> Self {
        self.change(|member| match &mut member.join {
            Some(EdgeGroupPolicy::AnyOf { on_satisfied } | EdgeGroupPolicy::Quorum { on_satisfied, .. }) => {
                *on_satisfied = OnSatisfied::CancelRemaining;
            }
            Some(EdgeGroupPolicy::AllOf) | None => {
                let problem = "cancel_rest() needs join(Any) or join(Quorum(n)) before it: all are needed otherwise";
                member.problems.push(problem.to_owned());
            }
        })
    }

    /// Its position, if it is a member of this flow.
    pub(super) fn index_in(&self, graph: &Shared) -> Option<usize> {
        Arc::ptr_eq(&self.graph, graph).then_some(self.index)
    }

    fn depend<P>(self, on: &Node<P>, kind: DependencyKind, passes: Option<Passes>) -> Self {
        let upstream = on.index_in(&self.graph);
        self.change(|member| match upstream {
            Some(upstream) => member.depend(Edge { upstream, kind, passes }),
            None => member.problems.push("it waits for a member of another flow".to_owned()),
        })
    }

    fn adjust(self, change: impl FnOnce(TaskOptions) -> TaskOptions) -> Self {
        self.change(|member| member.written.options = change(std::mem::take(&mut member.written.options)))
    }

    fn change(self, change: impl FnOnce(&mut Member)) -> Self {
        change(&mut lock(&self.graph).members[self.index]);
        self
    }
}

impl<O> Clone for Node<O> {
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.graph), self.index)
    }
}

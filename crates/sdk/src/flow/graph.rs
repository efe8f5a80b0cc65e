//! What has been written down of a flow.

use ff_core::id::FlowId;
use ff_core::policy::Retention;
use ff_core::record::{DependencyKind, EdgeGroupPolicy, Tags};

use crate::inputs::{FromInputs, InputName};
use crate::submit::Written;
use crate::task::Task;

#[derive(Clone)]
pub(super) struct Graph {
    pub(super) kind: String,
    pub(super) id: Option<FlowId>,
    pub(super) tags: Tags,
    pub(super) retention: Option<Retention>,
    pub(super) members: Vec<Member>,
}

#[derive(Clone)]
pub(super) struct Member {
    /// Its name inside the flow.
    pub(super) key: String,
    pub(super) written: Written,
    /// What its handler reads.
    pub(super) reads: &'static [InputName],
    pub(super) edges: Vec<Edge>,
    pub(super) join: Option<EdgeGroupPolicy>,
    /// What was said that cannot be.
    pub(super) problems: Vec<String>,
}

/// A dependency of a member.
#[derive(Clone)]
pub(super) struct Edge {
    /// Position of the member that must end first.
    pub(super) upstream: usize,
    pub(super) kind: DependencyKind,
    pub(super) passes: Option<Passes>,
}

/// What is handed over, and how it was said.
#[derive(Clone)]
pub(super) enum Passes {
    /// By `input`.
    One(String),
    /// By `collect`: the name, and the number among its like.
    Many(String, usize),
}

impl Graph {
    pub(super) const fn new(kind: String) -> Self {
        Self {
            kind,
            id: None,
            tags: Tags::new(),
            retention: None,
            members: Vec::new(),
        }
    }

    /// Adds a member; its position.
    pub(super) fn add<T: Task>(&mut self, written: Written) -> usize {
        let index = self.members.len();
        self.members.push(Member {
            key: format!("{}-{index}", T::KIND),
            written,
            reads: T::Inputs::NAMES,
            edges: Vec::new(),
            join: None,
            problems: Vec::new(),
        });
        index
    }
}

impl Member {
    /// Adds a dependency. There is one between two members: to wait for what hands something over says nothing new.
    pub(super) fn depend(&mut self, edge: Edge) {
        let found = self.edges.iter_mut().find(|other| other.upstream == edge.upstream);
        match (found, &edge.passes) {
            (None, _) => self.edges.push(edge),
            (Some(found), Some(_)) if found.passes.is_none() => found.passes = edge.passes,
            (Some(_), None) => {}
            (Some(found), Some(passes)) => {
                let (first, other) = (found.passes.as_ref().map(Passes::name), passes.name());
                let problem = format!(
                    "one member hands its result over to it twice, as {:?} and as {other:?}; a result has one name",
                    first.unwrap_or_default()
                );
                self.problems.push(problem);
            }
        }
    }
}

impl Passes {
    /// The name under which the result is handed over.
    pub(super) fn name(&self) -> String {
        match self {
            Self::One(name) => name.clone(),
            Self::Many(name, number) => format!("{name}.{number}"),
        }
    }
}

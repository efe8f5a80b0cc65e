//! The search that keeps a flow acyclic.

use std::collections::{BTreeSet, VecDeque};

use crate::command::flow::StageDependencyEdge;
use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::limits::{FOLLOW_UP_CHUNK, GRAPH_SEARCH_NODES_MAX};
use crate::record::Edge;

/// What a search for a cycle found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleVerdict {
    /// The new edge closes no cycle.
    Clear,
    /// The upstream can be reached from the downstream: the new edge would close a cycle.
    Cycle,
    /// More nodes than a search may visit.
    TooLarge,
}

impl CycleVerdict {
    pub(crate) fn check(self, command: &StageDependencyEdge) -> Result<(), Rejection> {
        let StageDependencyEdge {
            upstream, downstream, ..
        } = command;
        match self {
            CycleVerdict::Clear => Ok(()),
            CycleVerdict::Cycle => {
                let detail = format!("{upstream} depends on {downstream} already, directly or through others");
                Err(Code::CycleDetected.because(detail))
            }
            CycleVerdict::TooLarge => {
                let detail =
                    format!("more than {GRAPH_SEARCH_NODES_MAX} members follow {downstream}: use create_flow_graph");
                Err(Code::GraphTooLarge.because(detail))
            }
        }
    }
}

/// Looks for a path from the downstream of a new edge back to its upstream. Whoever holds the edges feeds it:
/// ask for the next frontier, list every outbound edge of its nodes, feed them, until the frontier is empty.
#[derive(Clone, Debug)]
pub struct CycleSearch {
    target: ExecutionId,
    seen: BTreeSet<ExecutionId>,
    unvisited: VecDeque<ExecutionId>,
}

impl CycleSearch {
    /// A search for `upstream` from `downstream`.
    pub fn new(downstream: ExecutionId, upstream: ExecutionId) -> Self {
        Self {
            target: upstream,
            seen: BTreeSet::from([downstream]),
            unvisited: VecDeque::from([downstream]),
        }
    }

    /// What was found. Final once the next frontier is empty.
    pub fn verdict(&self) -> CycleVerdict {
        if self.seen.contains(&self.target) {
            CycleVerdict::Cycle
        } else if self.seen.len() > GRAPH_SEARCH_NODES_MAX {
            CycleVerdict::TooLarge
        } else {
            CycleVerdict::Clear
        }
    }

    /// The nodes whose outbound edges are wanted next; empty once the search is over.
    pub fn next_frontier(&mut self) -> Vec<ExecutionId> {
        if self.verdict() != CycleVerdict::Clear {
            return Vec::new();
        }
        let nodes = self.unvisited.len().min(FOLLOW_UP_CHUNK);
        self.unvisited.drain(..nodes).collect()
    }

    /// Follows edges out of the last frontier. May be called several times per frontier.
    pub fn feed<'e>(&mut self, edges: impl IntoIterator<Item = &'e Edge>) {
        for edge in edges {
            if self.seen.insert(edge.downstream) {
                self.unvisited.push_back(edge.downstream);
            }
        }
    }
}

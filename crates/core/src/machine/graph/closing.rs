//! Edges into members that are there: only they can close a cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::limits::{FOLLOW_UP_CHUNK, GRAPH_SEARCH_NODES_MAX};
use crate::record::Edge;

/// Looks for a cycle through new edges. Whoever holds the edges that are there feeds it: ask for the next frontier, list
/// every outbound edge of its nodes, feed them, until the frontier is empty.
#[derive(Clone, Debug)]
pub struct ClosingSearch {
    new: BTreeMap<ExecutionId, Vec<ExecutionId>>,
    followed: BTreeMap<ExecutionId, BTreeSet<ExecutionId>>,
    unvisited: VecDeque<ExecutionId>,
}

impl ClosingSearch {
    /// A search from `gaining`, the members that gain dependencies, through `new` edges too. Every cycle that holds an
    /// edge that is there enters what is there by a new edge, so it leads through one of them.
    pub fn new(
        gaining: impl IntoIterator<Item = ExecutionId>,
        new: impl IntoIterator<Item = (ExecutionId, ExecutionId)>,
    ) -> Self {
        let mut search = Self {
            new: BTreeMap::new(),
            followed: BTreeMap::new(),
            unvisited: VecDeque::new(),
        };
        for (upstream, downstream) in new {
            search.new.entry(upstream).or_default().push(downstream);
        }
        for member in gaining {
            search.visit(member);
        }
        search
    }

    fn visit(&mut self, member: ExecutionId) {
        let mut reached = vec![member];
        while let Some(member) = reached.pop() {
            if self.followed.contains_key(&member) {
                continue;
            }
            let new = self.new.get(&member).cloned().unwrap_or_default();
            self.followed.insert(member, new.iter().copied().collect());
            self.unvisited.push_back(member);
            reached.extend(new);
        }
    }

    /// The nodes whose outbound edges are wanted next; empty once the search is over.
    pub fn next_frontier(&mut self) -> Vec<ExecutionId> {
        if self.is_too_large() {
            return Vec::new();
        }
        let nodes = self.unvisited.len().min(FOLLOW_UP_CHUNK);
        self.unvisited.drain(..nodes).collect()
    }

    /// Follows edges out of the last frontier. May be called several times per frontier.
    pub fn feed<'e>(&mut self, edges: impl IntoIterator<Item = &'e Edge>) {
        for edge in edges {
            self.followed.entry(edge.upstream).or_default().insert(edge.downstream);
            self.visit(edge.downstream);
        }
    }

    /// Refuses new edges that close a cycle. Final once the next frontier is empty.
    pub fn check(&self) -> Result<(), Rejection> {
        if self.is_too_large() {
            let detail = format!(
                "more than {GRAPH_SEARCH_NODES_MAX} members follow those that gain dependencies: send a member's \
                 dependencies with the member"
            );
            return Err(Code::GraphTooLarge.because(detail));
        }
        match self.on_a_cycle() {
            None => Ok(()),
            Some(id) => {
                let detail = format!("execution {id} would depend on itself through others");
                Err(Code::CycleDetected.because(detail))
            }
        }
    }

    fn is_too_large(&self) -> bool {
        self.followed.len() > GRAPH_SEARCH_NODES_MAX
    }

    /// A node that is left when every node without inbound edges is taken away, again and again.
    fn on_a_cycle(&self) -> Option<ExecutionId> {
        let mut inbound: BTreeMap<_, usize> = self.followed.keys().map(|id| (*id, 0)).collect();
        for downstream in self.followed.values().flatten() {
            *inbound.entry(*downstream).or_default() += 1;
        }
        let free = inbound.iter().filter(|(_, edges)| **edges == 0);
        let mut free: Vec<_> = free.map(|(id, _)| *id).collect();
        while let Some(id) = free.pop() {
            inbound.remove(&id);
            for downstream in self.followed.get(&id).into_iter().flatten() {
                if let Some(edges) = inbound.get_mut(downstream) {
                    *edges -= 1;
                    if *edges == 0 {
                        free.push(*downstream);
                    }
                }
            }
        }
        inbound.into_keys().next()
    }
}

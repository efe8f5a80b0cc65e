//! Pictures of graphs that were asked for lately.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::ExecutionKind;
use ff_core::view::GraphClass;

/// Pictures that are remembered at the same time.
const PICTURES_MAX: usize = 16;
/// What they take at most, about.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Which graph of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Revision {
    /// Which edges it has.
    pub(super) graph: u64,
    /// How many members: one that joins without an edge leaves the revision as it is.
    pub(super) members: usize,
}

/// What a graph is made of, without the states of its members.
pub(super) struct Picture {
    pub(super) revision: Revision,
    pub(super) kinds: Vec<ExecutionKind>,
    pub(super) classes: Vec<GraphClass>,
    pub(super) links: Vec<(usize, usize, usize)>,
    /// The members by id.
    pub(super) ids: Vec<ExecutionId>,
    /// The members in the order in which they are shown, by their place among the ids.
    pub(super) nodes: Vec<usize>,
    /// Between members in the order in which they are shown; none of a graph that does not name them.
    pub(super) edges: Vec<(usize, usize)>,
    pub(super) more_edges: bool,
}

impl Picture {
    fn bytes(&self) -> usize {
        self.ids.len() * (size_of::<ExecutionId>() + size_of::<usize>())
            + self.edges.len() * size_of::<(usize, usize)>()
            + self.links.len() * size_of::<(usize, usize, usize)>()
            + self.classes.len() * size_of::<GraphClass>()
    }
}

/// The pictures this process remembers.
#[derive(Default)]
pub(crate) struct Pictures {
    /// The last one asked for comes last.
    kept: Mutex<VecDeque<(FlowId, Arc<Picture>)>>,
}

impl Pictures {
    /// The picture of a graph, if it is remembered.
    pub(super) fn of(&self, id: FlowId, revision: Revision) -> Option<Arc<Picture>> {
        let mut kept = self.kept();
        let place = kept
            .iter()
            .position(|(flow, picture)| *flow == id && picture.revision == revision)?;
        let found = kept.remove(place)?;
        let picture = Arc::clone(&found.1);
        kept.push_back(found);
        Some(picture)
    }

    /// Remembers a picture instead of any other of the same flow.
    pub(super) fn remember(&self, id: FlowId, picture: Arc<Picture>) {
        let mut kept = self.kept();
        kept.retain(|(flow, _)| *flow != id);
        kept.push_back((id, picture));
        let mut bytes: usize = kept.iter().map(|(_, picture)| picture.bytes()).sum();
        while kept.len() > PICTURES_MAX || bytes > BYTES_MAX {
            let Some((_, oldest)) = kept.pop_front() else { return };
            bytes -= oldest.bytes();
        }
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(FlowId, Arc<Picture>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn picture(graph: u64, edges: usize) -> Arc<Picture> {
        Arc::new(Picture {
            revision: Revision { graph, members: 0 },
            kinds: Vec::new(),
            classes: Vec::new(),
            links: Vec::new(),
            ids: Vec::new(),
            nodes: Vec::new(),
            edges: vec![(0, 0); edges],
            more_edges: false,
        })
    }

    fn flow(number: u128) -> FlowId {
        FlowId::from_uuid(Uuid::from_u128(number))
    }

    const FIRST: Revision = Revision { graph: 1, members: 0 };

    #[test]
    fn a_flow_has_one_picture_and_only_of_its_last_revision() {
        let pictures = Pictures::default();
        pictures.remember(flow(1), picture(1, 0));
        pictures.remember(flow(1), picture(2, 0));
        assert!(pictures.of(flow(1), FIRST).is_none());
        assert!(pictures.of(flow(1), Revision { graph: 2, members: 0 }).is_some());
        assert!(pictures.of(flow(1), Revision { graph: 2, members: 1 }).is_none());
    }

    #[test]
    fn what_was_not_asked_for_longest_is_forgotten_first() {
        let pictures = Pictures::default();
        for number in 0..PICTURES_MAX as u128 {
            pictures.remember(flow(number), picture(1, 0));
        }
        assert!(pictures.of(flow(0), FIRST).is_some());
        pictures.remember(flow(99), picture(1, 0));
        assert!(pictures.of(flow(0), FIRST).is_some());
        assert!(pictures.of(flow(1), FIRST).is_none());
    }

    #[test]
    fn large_pictures_are_fewer() {
        let pictures = Pictures::default();
        let edges = BYTES_MAX / size_of::<(usize, usize)>() / 2;
        for number in 0..3 {
            pictures.remember(flow(number), picture(1, edges));
        }
        assert_eq!(pictures.kept().len(), 2);
        pictures.remember(flow(9), picture(1, 3 * edges));
        assert_eq!(pictures.kept().len(), 0, "one that is too large is not kept");
    }
}

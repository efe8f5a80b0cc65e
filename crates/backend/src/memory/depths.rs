//! How many executions of a lane are in which state.

use std::collections::BTreeMap;
use std::ops::Bound;

use ff_core::name::{LaneId, Namespace};
use ff_core::record::{Execution, Record};
use ff_core::state::{PublicState, public_state};

/// Counts by lane and state; none is no entry.
#[derive(Clone, Default)]
pub(super) struct Depths(BTreeMap<Namespace, BTreeMap<LaneId, Depth>>);

type Depth = BTreeMap<PublicState, u64>;

impl Depths {
    /// Counts a record, if it is an execution.
    pub(super) fn add(&mut self, record: &Record) {
        if let Record::Execution(execution) = record {
            *self.depth(execution).entry(public_state(execution)).or_default() += 1;
        }
    }

    /// Counts a record no longer; it must be as it was when it was added.
    pub(super) fn remove(&mut self, record: &Record) {
        let Record::Execution(execution) = record else { return };
        let definition = &execution.definition;
        let depth = self.depth(execution);
        if let Some(count) = depth.get_mut(&public_state(execution)) {
            *count -= 1;
        }
        depth.retain(|_, count| *count > 0);
        if depth.is_empty()
            && let Some(lanes) = self.0.get_mut(&definition.namespace)
        {
            lanes.remove(&definition.lane);
        }
    }

    /// The lanes of a namespace from one on, by name.
    pub(super) fn of_namespace(
        &self,
        namespace: &Namespace,
        start: Bound<LaneId>,
    ) -> impl Iterator<Item = (&LaneId, &Depth)> + use<'_> {
        let lanes = self.0.get(namespace).into_iter();
        lanes.flat_map(move |lanes| lanes.range((start.clone(), Bound::Unbounded)))
    }

    fn depth(&mut self, execution: &Execution) -> &mut Depth {
        let definition = &execution.definition;
        let lanes = self.0.entry(definition.namespace.clone()).or_default();
        lanes.entry(definition.lane.clone()).or_default()
    }
}

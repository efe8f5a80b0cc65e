//! The lanes of a namespace.

use ff_core::name::{LaneId, Namespace};

use super::super::store::Store;
use super::{Cut, Found};
use crate::query::{LaneDepth, Rows};

impl Store {
    pub(super) fn list_lanes(&self, namespace: &Namespace, cut: &Cut) -> Found {
        let start = cut.start::<LaneId>()?;
        let lanes = self.depths.of_namespace(namespace, start);
        let (rows, next) = cut.page(lanes.map(|(lane, depth)| {
            let row = LaneDepth {
                lane: lane.clone(),
                depth: depth.clone(),
                oldest_eligible: self.queues.oldest(namespace, lane),
            };
            (lane, Some(row))
        }))?;
        Ok((Rows::Lanes(rows), next))
    }
}

//! The partitions a listing goes over, as its statement takes them.

use std::collections::BTreeSet;

use ff_backend::codec::cursor::Cut;
use ff_core::partition::{Family, Partition};

use crate::key::index;

/// Flow partitions, each one once and in order. Others hold nothing that is listed by partition.
pub(super) struct Partitions(BTreeSet<u16>);

impl Partitions {
    pub(super) fn of(partitions: &[Partition]) -> Self {
        let flow = partitions.iter().filter(|partition| partition.family == Family::Flow);
        Self(flow.copied().map(index).collect())
    }

    /// Their numbers as a JSON array, which is one parameter however many they are.
    pub(super) fn json(&self) -> String {
        let numbers: Vec<String> = self.0.iter().map(u16::to_string).collect();
        format!("[{}]", numbers.join(","))
    }

    /// Rows a statement needs for a page: besides those shown and one that tells whether there are more, it has one for
    /// each partition that begins or ends.
    pub(super) fn rows_for(&self, cut: &Cut) -> usize {
        cut.limit + 1 + self.0.len()
    }
}

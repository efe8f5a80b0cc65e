//! Listings that go partition by partition.

use std::collections::BTreeSet;

use ff_backend::Result;
use ff_backend::codec::cursor::Cut;
use ff_core::partition::{Family, Partition};
use redis::Value;

use super::reader::{Command, Reader};

/// Partitions that are read first; then twice as many each time.
const FIRST: usize = 32;

/// Flow partitions, each one once and in order. Others hold nothing that is listed by partition.
pub(super) fn flow_partitions(partitions: &[Partition]) -> BTreeSet<Partition> {
    let flow = partitions.iter().filter(|partition| partition.family == Family::Flow);
    flow.copied().collect()
}

/// A row of a partition.
pub(super) type Row<K> = (Partition, K);

impl Reader<'_> {
    /// The rows of partitions after a place: those of a page, and one more if there is one.
    pub(super) async fn rows<K: Ord + Send>(
        &mut self,
        (partitions, after): (&[Partition], Option<Row<K>>),
        cut: &Cut,
        command: impl Fn() -> Command + Send,
        parse: impl Fn(Value) -> Result<Vec<K>> + Send,
    ) -> Result<Vec<Row<K>>> {
        let mut rest = flow_partitions(partitions);
        if let Some((first, _)) = &after {
            rest = rest.split_off(first);
        }
        let rest: Vec<Partition> = rest.into_iter().collect();
        let (mut rows, mut read, mut batch) = (Vec::new(), 0, FIRST);
        while rows.len() <= cut.limit && read < rest.len() {
            let asked = &rest[read..rest.len().min(read + batch)];
            let replies = self.ask_each(asked.iter().map(|partition| (*partition, command())).collect());
            for (partition, reply) in asked.iter().zip(replies.await?) {
                let mut found = parse(reply)?;
                found.sort_unstable();
                rows.extend(found.into_iter().map(|key| (*partition, key)));
            }
            if let Some(after) = &after {
                rows.retain(|row| row > after);
            }
            read += batch;
            batch *= 2;
        }
        rows.truncate(cut.limit + 1);
        Ok(rows)
    }
}

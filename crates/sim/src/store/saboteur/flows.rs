//! Flows that are thrown away too early, and graphs of which parts are missing.

use ff_backend::load::Load;
use ff_backend::transaction::{Put, Tag, Transaction};
use ff_core::id::FlowId;
use ff_core::partition::Partition;
use ff_core::record::{CounterKey, Flow, Record, RecordKey};

use super::Saboteur;

/// The transaction without the dependencies it adds.
pub(super) fn forget_new_edges(transaction: &mut Transaction) {
    let is_new_edge = |put: &Put| put.expected.is_none() && matches!(put.record, Record::Edge(_));
    if transaction.puts.iter().any(is_new_edge) {
        transaction.puts.retain(|put| !is_new_edge(put));
        transaction
            .increments
            .retain(|(counter, _)| !matches!(counter, CounterKey::Group(..)));
    }
}

/// Flows nobody has opened, of which a transaction writes members that ran.
pub(super) fn with_members_that_ran(transaction: &Transaction) -> Vec<(Partition, FlowId)> {
    let flow = |put: &Put| match &put.record {
        Record::Execution(member) if member.unopened && member.has_run() => member.definition.flow,
        _ => None,
    };
    let flows = transaction.puts.iter().filter_map(flow);
    flows.map(|flow| (transaction.partition, flow)).collect()
}

impl Saboteur {
    /// Begins to delete these flows, with whatever is in them.
    pub(super) async fn throw_away(&self, flows: Vec<(Partition, FlowId)>) {
        for (partition, id) in flows {
            let key = RecordKey::Flow(id);
            let load = Load::records(partition, [key.clone()]);
            let Ok(loaded) = self.inner.load(vec![load]).await else {
                return;
            };
            let Some((before, version)) = loaded.first().and_then(|snapshot| snapshot.records.get(&key)) else {
                continue;
            };
            let Record::Flow(flow) = before else { continue };
            let record = Record::Flow(Box::new(Flow {
                deleting: true,
                ..(**flow).clone()
            }));
            let mut delete = Transaction::new(partition, Tag(self.luck.next() >> 11));
            delete.puts.push(Put::replace(record, (before, *version)));
            self.inner.commit(vec![delete]).await;
        }
    }
}

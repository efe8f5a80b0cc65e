//! What landed in the store, in words: the trace of a seed shows it between what callers said.

use ff_backend::transaction::Transaction;
use ff_core::record::{Edge, Execution, Flow, Phase, Record};

/// A transaction.
pub(super) fn transaction(transaction: &Transaction) -> String {
    let puts = transaction.puts.iter().map(|put| record(&put.record));
    let deletes = transaction
        .deletes
        .iter()
        .map(|delete| format!("deletes {:?}", delete.key));
    let nudges = transaction.nudges.iter().map(|nudge| format!("nudges {:?}", nudge.key));
    let increments = transaction
        .increments
        .iter()
        .map(|(counter, by)| format!("{counter:?} {by:+}"));
    let all: Vec<String> = puts.chain(deletes).chain(increments).chain(nudges).collect();
    format!("      · {}", all.join("; "))
}

fn record(record: &Record) -> String {
    match record {
        Record::Execution(of) => execution(of),
        Record::Flow(flow) => flow_in_words(flow),
        Record::Gate(gate) => format!("gate of {} is {:?}", gate.flow_id, gate.state),
        Record::Edge(edge) => edge_in_words(edge),
        other => format!("{:?}", other.key()),
    }
}

/// An execution.
pub(super) fn execution(execution: &Execution) -> String {
    let (id, epoch) = (execution.id, execution.lease_epoch);
    let mut words = match &execution.phase {
        Phase::Runnable(runnable) => match (&runnable.grant, &runnable.delay, &runnable.block) {
            (Some(grant), ..) => format!("granted {:?} admitted {}", grant.id, grant.admitted),
            (None, Some(delay), _) => format!("delayed until {}", delay.until),
            (None, None, Some(block)) => format!("blocked by {:?}", block.cause),
            (None, None, None) => format!("runnable {:?}", runnable.next_claim.kind),
        },
        Phase::Active(lease) => {
            let expired = if lease.is_expired() { " (expired)" } else { "" };
            let (worker, grant, until) = (&lease.instance, lease.grant, lease.expires_at);
            format!("active with {worker} under {grant:?} until {until}{expired}")
        }
        Phase::Suspended(suspension) => format!("suspended {:?}", suspension.id),
        Phase::Terminal(outcome) if outcome.deleting => "deleting".to_owned(),
        Phase::Terminal(outcome) => format!("ended {:?}", outcome.kind),
    };
    if execution.waits_for_dependencies() {
        words += ", waits for dependencies";
    }
    if execution.hold.is_some() {
        words += ", held";
    }
    for effect in &execution.outbox {
        words += &format!(", owes {:?}", effect.kind);
    }
    if execution.follow_ups.any() {
        words += &format!(", {:?}", execution.follow_ups);
    }
    format!("{id} epoch {epoch} {words}")
}

fn flow_in_words(flow: &Flow) -> String {
    let Flow {
        id,
        ended_at,
        opening,
        cancelling,
        delete_requested,
        deleting,
        ..
    } = flow;
    format!(
        "flow {id} ended {ended_at:?} opening {opening} cancelling {cancelling} delete {delete_requested} deleting {deleting}"
    )
}

fn edge_in_words(edge: &Edge) -> String {
    let Edge {
        upstream,
        downstream,
        state,
        ..
    } = edge;
    format!("edge {upstream} → {downstream} {state:?}")
}

//! An execution as the row of its table.

use ff_backend::codec::line;
use ff_backend::transaction::Version;
use ff_core::machine::claim::needs_admission;
use ff_core::machine::time::due_at;
use ff_core::record::{AboutLines, Execution, HistoryLine, stored};
use ff_core::state::{blocking_detail, state_vector};

use crate::rows::ExecutionPut;
use crate::shared::{millis, number};

/// The row of an execution of this version, with lines that are added to its history, and the queue and the score it waits with.
pub(super) fn execution_put(
    execution: &Execution,
    version: Version,
    lines: &[&HistoryLine],
    queue: Option<(i64, i64)>,
) -> ExecutionPut {
    let (definition, vector) = (&execution.definition, state_vector(execution));
    let about = AboutLines {
        // It may join a flow later.
        flow_id: None,
        ..AboutLines::execution(execution)
    };
    let (queue_id, score) = queue.unzip();
    let attempt = attempt(execution);
    ExecutionPut {
        at: None,
        partition: number(execution.id.partition()),
        uuid: execution.id.uuid(),
        namespace: definition.namespace.to_string(),
        lane: definition.lane.to_string(),
        kind: definition.kind.to_string(),
        created_at: millis(definition.created_at),
        version: version.counter.cast_signed(),
        tag: version.tag.0.cast_signed(),
        state: vector.public_state.as_str(),
        blocking_reason: vector.blocking_reason.as_str(),
        blocking_detail: blocking_detail(execution),
        priority: execution.priority.cast_signed(),
        updated_at: millis(execution.updated_at),
        flow_id: definition.flow.map(|flow_id| flow_id.uuid()),
        due_at: due_at(execution).map(millis),
        queue_id,
        score,
        attempt_index: attempt.index,
        attempt_id: attempt.id,
        is_free: attempt.is_free,
        due_cap: attempt.due_cap,
        worker: execution.lease().map(|lease| lease.worker.to_string()),
        lease_epoch: execution.lease_epoch.cast_signed(),
        lease_id: attempt.lease.map(|(id, _)| id),
        lease_expires_at: attempt.lease.map(|(_, expires_at)| expires_at),
        is_attempt_over: attempt.is_over,
        input_bytes: definition.input_bytes.cast_signed(),
        lines: lines.iter().map(|own| line::write(own, Some(&about)) + "\n").collect(),
        line_count: i32::try_from(lines.len()).unwrap_or(i32::MAX),
        body: stored::write(execution).expect("a record is a document"),
    }
}

/// What a claim makes of an execution that waits, or who may append to the output of one that is leased.
#[derive(Default)]
struct AttemptColumns {
    index: Option<i32>,
    id: Option<uuid::Uuid>,
    is_free: bool,
    due_cap: Option<i64>,
    lease: Option<(uuid::Uuid, i64)>,
    is_over: bool,
}

fn attempt(execution: &Execution) -> AttemptColumns {
    if let Some(runnable) = execution.runnable() {
        let next = &runnable.next_claim;
        let owes = !execution.outbox.is_empty() || execution.follow_ups.any();
        let goes_on = execution.attempt.as_ref().filter(|_| next.continues);
        return AttemptColumns {
            index: Some(next.attempt_index.cast_signed()),
            id: goes_on.map(|attempt| attempt.id.uuid()),
            is_free: !needs_admission(execution),
            due_cap: if owes {
                Some(0)
            } else {
                execution.deadline_at.map(millis)
            },
            ..AttemptColumns::default()
        };
    }
    let Some(attempt) = &execution.attempt else {
        return AttemptColumns::default();
    };
    let live = execution.lease().filter(|lease| !lease.is_expired());
    AttemptColumns {
        index: Some(attempt.index.cast_signed()),
        id: Some(attempt.id.uuid()),
        lease: live.map(|lease| (lease.id.expose(), millis(lease.expires_at))),
        is_over: attempt.end.is_some(),
        ..AttemptColumns::default()
    }
}

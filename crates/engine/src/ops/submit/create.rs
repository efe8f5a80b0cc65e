//! One submission, from looking for a repetition to the commit.

use std::sync::OnceLock;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::fabric::Result;
use ff_core::machine::submit::{self, Known, idempotency_scope};
use ff_core::machine::{Context, Step};
use ff_core::record::{Record, RecordKey, SubmissionKeyRecord};

use super::assigned_id::{AssignedId, assign_id};
use super::member::{check_flow, join_flow, load_flow_for, submission_context};
use crate::engine::Engine;
use crate::transact::Decision;

pub(crate) async fn create_execution(engine: &Engine, command: CreateExecution) -> Result<Created> {
    check_submission(engine, &command)?;
    let assigned = assign_id(engine, &command, engine.store_time().await?)?;
    submit(engine, &command, assigned).await
}

/// Refuses what no store could make right, before it is asked anything.
pub(super) fn check_submission(engine: &Engine, command: &CreateExecution) -> Result<()> {
    engine.check_namespace(&command.namespace)?;
    submit::validate(command, &engine.shared.config.rules)
}

/// Submits one execution.
///
/// Lane, budgets and quota are looked at only for what turns out to be new: a repetition is answered as the first time,
/// whatever became of them since.
pub(super) async fn submit(engine: &Engine, command: &CreateExecution, assigned: AssignedId) -> Result<Created> {
    let load = load_for(command, assigned);
    let locked = engine.lock(subject(command, assigned)).await;
    let locked = locked.starting_from(without_reading(engine, command, assigned));
    let lane = OnceLock::new();
    let decide = || async {
        let snapshot = locked.look(load.clone()).await?;
        check_flow(command, &snapshot)?;
        if lane.get().is_none() && is_new(command, assigned, &snapshot) {
            let used = engine.use_lane(&command.namespace, &command.lane_id).await?;
            engine.check_limits(&command.namespace, &command.policy).await?;
            lane.get_or_init(|| used);
        }
        let lane = lane.get().copied().unwrap_or_default();
        let step = accept(engine, command, assigned, &snapshot, lane)?;
        Ok(Decision::Commit(snapshot, step))
    };
    Ok(assigned.told(locked.transact(decide).await?))
}

/// The snapshot for an id nobody knows, without a key and outside of any flow: there is nothing to find but the time.
fn without_reading(engine: &Engine, command: &CreateExecution, assigned: AssignedId) -> Option<Snapshot> {
    let fresh = assigned.minted && command.idempotency_key.is_none() && command.flow_id.is_none();
    let partition = assigned.id.partition();
    fresh
        .then(|| engine.now_in(partition))
        .flatten()
        .map(|now| Snapshot::empty(partition, now))
}

fn load_for(command: &CreateExecution, assigned: AssignedId) -> Load {
    let mut load = Load::records(assigned.id.partition(), [RecordKey::Execution(assigned.id)]);
    load.records.extend(key_of(command));
    load_flow_for(command, load)
}

fn accept(
    engine: &Engine,
    command: &CreateExecution,
    assigned: AssignedId,
    snapshot: &Snapshot,
    lane: LaneState,
) -> Result<Step<Created>> {
    let known = Known {
        existing: snapshot.execution(&RecordKey::Execution(assigned.id)),
        key: known_key(command, snapshot),
        lane,
    };
    let context = submission_context(engine, command, snapshot);
    let submitted = Context {
        now: assigned.submitted_at.unwrap_or(context.now),
        ..context.clone()
    };
    let mut step = submit::create(command, assigned.id, known, &submitted)?;
    join_flow(engine, &mut step.draft, command, assigned.id, snapshot, &context)?;
    Ok(step)
}

/// What submissions that meet lock: their key, or their flow when they write it, or nothing but themselves.
fn subject(command: &CreateExecution, assigned: AssignedId) -> RecordKey {
    match command.flow_id {
        Some(flow) if !command.depends_on.is_empty() => RecordKey::Flow(flow),
        _ => key_of(command).unwrap_or(RecordKey::Execution(assigned.id)),
    }
}

fn key_of(command: &CreateExecution) -> Option<RecordKey> {
    let key = command.idempotency_key.clone()?;
    Some(RecordKey::SubmissionKey(idempotency_scope(command), key))
}

fn known_key<'s>(command: &CreateExecution, snapshot: &'s Snapshot) -> Option<&'s SubmissionKeyRecord> {
    match snapshot.records.get(&key_of(command)?) {
        Some((Record::SubmissionKey(record), _)) => Some(record),
        _ => None,
    }
}

fn is_new(command: &CreateExecution, assigned: AssignedId, snapshot: &Snapshot) -> bool {
    snapshot.execution(&RecordKey::Execution(assigned.id)).is_none() && known_key(command, snapshot).is_none()
}

//! One submission, from looking for a repetition to the commit.

use std::sync::OnceLock;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::fabric::Result;
use ff_core::machine::submit::{self, Known, idempotency_scope};
use ff_core::machine::{Context, Step};
use ff_core::record::{Record, RecordKey, SubmissionKeyRecord};

use super::place::Place;
use crate::engine::Engine;
use crate::transact::Decision;

impl Engine {
    /// Refuses what no store could make right, before it is asked anything.
    pub(super) fn check_submission(&self, command: &CreateExecution) -> Result<()> {
        self.check_namespace(&command.namespace)?;
        submit::validate(command, &self.shared.config.rules)
    }

    /// Submits one execution.
    ///
    /// Lane, budgets and quota are looked at only for what turns out to be new: a repetition is answered as the first time,
    /// whatever became of them since.
    pub(super) async fn submit(&self, command: &CreateExecution, place: Place) -> Result<Created> {
        let load = self.load_for(command, place);
        let locked = self.lock(subject(command, place)).await;
        let locked = locked.starting_from(self.without_reading(command, place));
        let lane = OnceLock::new();
        let decide = || async {
            let snapshot = locked.look(load.clone()).await?;
            self.check_flow(command, &snapshot)?;
            if lane.get().is_none() && is_new(command, place, &snapshot) {
                let used = self.use_lane(&command.namespace, &command.lane_id).await?;
                self.check_limits(&command.namespace, &command.policy).await?;
                lane.get_or_init(|| used);
            }
            let lane = lane.get().copied().unwrap_or_default();
            let step = self.decide(command, place, &snapshot, lane)?;
            Ok(Decision::Commit(snapshot, step))
        };
        Ok(place.told(locked.transact(decide).await?))
    }

    /// The snapshot for an id nobody knows, without a key and outside of any flow: there is nothing to find but the time.
    fn without_reading(&self, command: &CreateExecution, place: Place) -> Option<Snapshot> {
        let fresh = place.minted && command.idempotency_key.is_none() && command.flow_id.is_none();
        let partition = place.id.partition();
        fresh
            .then(|| self.now_in(partition))
            .flatten()
            .map(|now| Snapshot::empty(partition, now))
    }

    fn load_for(&self, command: &CreateExecution, place: Place) -> Load {
        let mut load = Load::records(place.id.partition(), [RecordKey::Execution(place.id)]);
        load.records.extend(key_of(command));
        self.load_flow_for(command, load)
    }

    fn decide(
        &self,
        command: &CreateExecution,
        place: Place,
        snapshot: &Snapshot,
        lane: LaneState,
    ) -> Result<Step<Created>> {
        let known = Known {
            existing: snapshot.execution(&RecordKey::Execution(place.id)),
            key: known_key(command, snapshot),
            lane,
        };
        let context = self.submission_context(command, snapshot);
        let submitted = Context {
            now: place.submitted_at.unwrap_or(context.now),
            ..context.clone()
        };
        let mut step = submit::create(command, place.id, known, &submitted)?;
        self.join_flow(&mut step.draft, command, place.id, snapshot, &context)?;
        Ok(step)
    }
}

/// What submissions that meet lock: their key, or their flow when they write it, or nothing but themselves.
fn subject(command: &CreateExecution, place: Place) -> RecordKey {
    match command.flow_id {
        Some(flow) if !command.depends_on.is_empty() => RecordKey::Flow(flow),
        _ => key_of(command).unwrap_or(RecordKey::Execution(place.id)),
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

fn is_new(command: &CreateExecution, place: Place, snapshot: &Snapshot) -> bool {
    snapshot.execution(&RecordKey::Execution(place.id)).is_none() && known_key(command, snapshot).is_none()
}

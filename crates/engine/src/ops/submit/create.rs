//! One submission, from looking for a repetition to the commit.

use std::sync::OnceLock;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::fabric::Result;
use ff_core::machine::submit::{self, Known, idempotency_scope};
use ff_core::machine::{Context, Decided};
use ff_core::record::{Record, RecordKey, SubmissionKeyRecord};

use super::assigned_id::{AssignedId, assign_id};
use crate::directory::{lanes, limits};
use crate::engine::Engine;
use crate::transact::Decision;

/// One execution to be created, under the id it gets.
pub(super) struct Submission<'s> {
    pub(super) engine: &'s Engine,
    pub(super) command: &'s CreateExecution,
    pub(super) assigned: AssignedId,
}

pub(crate) async fn create_execution(engine: &Engine, command: CreateExecution) -> Result<Created> {
    check_submission(engine, &command)?;
    let submission = Submission {
        engine,
        assigned: assign_id(engine, &command, engine.store_time().await?)?,
        command: &command,
    };
    submission.submit().await
}

/// Refuses what no store could make right, before it is asked anything.
pub(super) fn check_submission(engine: &Engine, command: &CreateExecution) -> Result<()> {
    engine.check_namespace(&command.namespace)?;
    submit::validate(command, &engine.shared.config.rules)
}

impl Submission<'_> {
    /// Lane, budgets and quota are looked at only for what turns out to be new: a repetition is answered as the first time,
    /// whatever became of them since.
    pub(super) async fn submit(&self) -> Result<Created> {
        let (engine, command) = (self.engine, self.command);
        let load = self.load();
        let locked = engine.lock(self.subject()).await;
        let locked = locked.starting_from(self.without_reading());
        let lane = OnceLock::new();
        let decide = || async {
            let snapshot = locked.look(load.clone()).await?;
            self.check_flow(&snapshot)?;
            if lane.get().is_none() && self.is_new(&snapshot) {
                let used = lanes::find_or_create(engine, &command.namespace, &command.lane_id).await?;
                limits::check(engine, &command.namespace, &command.policy).await?;
                lane.get_or_init(|| used);
            }
            let decided = self.create(&snapshot, lane.get().copied().unwrap_or_default())?;
            Ok(Decision::Commit(snapshot, decided))
        };
        Ok(self.assigned.told(locked.transact(decide).await?))
    }

    /// What submissions that meet lock: their key, or their flow when they write it, or nothing but themselves.
    fn subject(&self) -> RecordKey {
        match self.command.flow_id {
            Some(flow) if !self.command.depends_on.is_empty() => RecordKey::Flow(flow),
            _ => self.idempotency_key().unwrap_or_else(|| self.key()),
        }
    }

    fn load(&self) -> Load {
        let mut load = Load::records(self.assigned.id.partition(), [self.key()]);
        load.records.extend(self.idempotency_key());
        self.load_flow(load)
    }

    /// The snapshot for an id nobody knows, without a key and outside of any flow: there is nothing to find but the time.
    fn without_reading(&self) -> Option<Snapshot> {
        let command = self.command;
        let fresh = self.assigned.minted && command.idempotency_key.is_none() && command.flow_id.is_none();
        let partition = self.assigned.id.partition();
        fresh
            .then(|| self.engine.now_in(partition))
            .flatten()
            .map(|now| Snapshot::empty(partition, now))
    }

    fn is_new(&self, snapshot: &Snapshot) -> bool {
        snapshot.execution(&self.key()).is_none() && self.known_key(snapshot).is_none()
    }

    fn create(&self, snapshot: &Snapshot, lane: LaneState) -> Result<Decided<Created>> {
        let known = Known {
            existing: snapshot.execution(&self.key()),
            key: self.known_key(snapshot),
            lane,
        };
        let context = self.context(snapshot);
        let submitted = Context {
            now: self.assigned.submitted_at.unwrap_or(context.now),
            ..context.clone()
        };
        let mut decided = submit::create(self.command, self.assigned.id, known, &submitted)?;
        self.join_flow(&mut decided.draft, snapshot, &context)?;
        Ok(decided)
    }

    const fn key(&self) -> RecordKey {
        RecordKey::Execution(self.assigned.id)
    }

    fn idempotency_key(&self) -> Option<RecordKey> {
        let key = self.command.idempotency_key.clone()?;
        Some(RecordKey::SubmissionKey(idempotency_scope(self.command), key))
    }

    fn known_key<'r>(&self, snapshot: &'r Snapshot) -> Option<&'r SubmissionKeyRecord> {
        match snapshot.records.get(&self.idempotency_key()?) {
            Some((Record::SubmissionKey(record), _)) => Some(record),
            _ => None,
        }
    }
}

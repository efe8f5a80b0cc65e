//! Handing out: the best of the queues a worker can run, stamped as the machine says.

use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::transaction::Version;
use ff_core::limits::RESERVE_BYTES_MAX;
use ff_core::machine::claim::{Claimant, Surroundings, hand_out};
use ff_core::machine::placement::Score;
use ff_core::name::LaneId;
use ff_core::payload::Payload;
use ff_core::record::{Execution, Gate, Record, RecordKey, stored};

use crate::batch::Batch;
use crate::column::{payload, score, text};
use crate::error::{corrupt, if_readable};
use crate::execution::Row;
use crate::history::take_lines;
use crate::queues::QueueId;
use crate::record;
use crate::sql::{self, with};

/// Where an execution waits that may be handed out.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    score: Score,
    queue_id: QueueId,
    row: i64,
}

/// An execution as it stands before it is handed out.
struct Candidate {
    execution: Execution,
    before: Row,
    input: Payload,
    gate: Option<(Gate, Version)>,
}

impl Batch<'_> {
    /// Hands out what one worker asks for.
    pub(crate) fn reserve(&mut self, ask: &Reserve) -> rusqlite::Result<Reservation> {
        let (now, mut tasks) = (self.now, Vec::new());
        let (mut bytes, mut cut) = (0, false);
        'lanes: for lane in &ask.lanes {
            let wanted = ask.claimants.len() - tasks.len();
            for waiting in self.best(ask, lane, wanted)? {
                let Some(candidate) = if_readable(self.candidate(waiting.row))? else {
                    self.set_aside(&waiting)?;
                    cut = true;
                    continue;
                };
                bytes += candidate.input.len();
                if bytes > RESERVE_BYTES_MAX && !tasks.is_empty() {
                    cut = true;
                    break 'lanes;
                }
                let claimant = &ask.claimants[tasks.len()];
                tasks.push(self.hand_out(ask, candidate, claimant)?);
            }
        }
        Ok(Reservation { now, tasks, cut })
    }

    /// An execution that cannot be read is taken out of its queue: whoever is behind it must not wait for a person.
    fn set_aside(&mut self, waiting: &Waiting) -> rusqlite::Result<()> {
        let (id, now) = (waiting.score.id, self.now);
        tracing::error!(%id, "an execution cannot be read and is set aside");
        self.queues.leave(id.partition(), waiting.queue_id);
        self.database
            .run(with!(sql::SET_ASIDE, now: now.as_millis(), row: waiting.row))?;
        self.note_due(id.partition(), Some(now));
        Ok(())
    }

    /// The best executions of a lane that the worker can run.
    fn best(&self, ask: &Reserve, lane: &LaneId, wanted: usize) -> rusqlite::Result<Vec<Waiting>> {
        let queues = self.queues.of_lane(&ask.namespace, lane);
        let runnable = queues.filter(|(signature, _)| ask.can_run(signature));
        let mut best = Vec::new();
        for (_, queue_id) in runnable {
            let asked = with!(sql::BEST_OF_QUEUE, queue_id: queue_id);
            let read = |row: &rusqlite::Row<'_>| {
                let (score, row) = (score(row, 0)?, row.get(4)?);
                Ok(Waiting { score, queue_id, row })
            };
            let of_queue: rusqlite::Result<Vec<_>> = self
                .database
                .rows(asked, |rows| rows.mapped(read).take(wanted).collect());
            best.extend(of_queue?);
        }
        best.sort_unstable();
        best.truncate(wanted);
        Ok(best)
    }

    fn candidate(&self, row: i64) -> rusqlite::Result<Candidate> {
        let candidate = self.database.find(with!(sql::TAKE_CANDIDATE, row: row), |found| {
            let execution = stored::read(text(found, 7)?).map_err(corrupt)?;
            let input = self
                .database
                .find(with!(sql::TAKE_INPUT, row: row), |row| payload(row, 0))?;
            Ok(Candidate {
                before: Row::read(found)?,
                input: input.unwrap_or_default(),
                gate: self.gate_of(&execution)?,
                execution,
            })
        });
        candidate?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    fn hand_out(&mut self, ask: &Reserve, candidate: Candidate, claimant: &Claimant) -> rusqlite::Result<Task> {
        let (execution, before) = (&candidate.execution, &candidate.before);
        let partition = execution.id.partition();
        let surroundings = Surroundings {
            now: self.now,
            gate: candidate.gate.as_ref().map(|(gate, _)| gate.state),
        };
        let reserved = hand_out(execution, claimant, ask.mode, surroundings);
        let version = before.version.next(ask.tag);
        let mut lines = self.take_history(partition, reserved.history.as_slice())?;
        let lines = take_lines(&mut lines, execution);
        self.put_execution(&reserved.execution, version, Some(before), &lines)?;
        self.move_counters(partition, &reserved.increments)?;
        Ok(Task {
            execution: reserved.execution,
            version,
            queued_since: execution.updated_at,
            handed_out: reserved.handed_out,
            claimant: claimant.clone(),
            input: candidate.input,
            gate: candidate.gate,
        })
    }

    fn gate_of(&self, execution: &Execution) -> rusqlite::Result<Option<(Gate, Version)>> {
        let Some(flow_id) = execution.definition.flow else {
            return Ok(None);
        };
        let key = RecordKey::Gate(flow_id);
        let found = record::load(&self.database, execution.id.partition(), &key, self.now)?;
        Ok(found.and_then(|(record, version)| match record {
            Record::Gate(gate) => Some((gate, version)),
            _ => None,
        }))
    }
}

//! Handing out: the best of the queues a worker can run, stamped as the machine says.

use bytes::Bytes;
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::transaction::Version;
use ff_core::id::ExecutionId;
use ff_core::limits::RESERVE_BYTES_MAX;
use ff_core::machine::claim::{Claimant, Surroundings, hand_out};
use ff_core::machine::placement::Score;
use ff_core::name::LaneId;
use ff_core::payload::Payload;
use ff_core::record::{Execution, Gate, HistorySubject, Record, RecordKey};
use rusqlite::OptionalExtension;

use crate::batch::Batch;
use crate::error::if_readable;
use crate::execution::{Lines, Row};
use crate::queues::{QueueId, parse, score};
use crate::record::{self, from_stored};

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
        let mut tasks = Vec::new();
        let (mut bytes, mut any_unreadable) = (0, false);
        for lane in &ask.lanes {
            let wanted = ask.claimants.len() - tasks.len();
            for (id, row) in self.best(ask, lane, wanted)? {
                let Some(candidate) = if_readable(self.candidate(row))? else {
                    self.set_aside(id, row)?;
                    any_unreadable = true;
                    continue;
                };
                bytes += candidate.input.len();
                if bytes > RESERVE_BYTES_MAX && !tasks.is_empty() {
                    return Ok(self.reservation(tasks, true));
                }
                let claimant = &ask.claimants[tasks.len()];
                tasks.push(self.hand_out(ask, candidate, claimant)?);
            }
        }
        Ok(self.reservation(tasks, any_unreadable))
    }

    /// An execution that cannot be read is taken out of its queue: whoever is behind it must not wait for a person.
    fn set_aside(&mut self, id: ExecutionId, row: i64) -> rusqlite::Result<()> {
        tracing::error!(%id, "an execution cannot be read and is set aside");
        let mut statement = self.statement(include_str!("../sql/queue_of.sql"))?;
        let queue_id: Option<QueueId> = statement.query_row([row], |row| row.get(0))?;
        if let Some(queue_id) = queue_id {
            self.queues.leave(id.partition(), queue_id);
        }
        let now = self.now;
        self.run(include_str!("../sql/set_aside.sql"), (row, now.as_millis()))?;
        self.note_due(id.partition(), Some(now));
        Ok(())
    }

    const fn reservation(&self, tasks: Vec<Task>, cut: bool) -> Reservation {
        let now = self.now;
        Reservation { now, tasks, cut }
    }

    /// The rows of the best executions of a lane that the worker can run.
    fn best(&self, ask: &Reserve, lane: &LaneId, wanted: usize) -> rusqlite::Result<Vec<(ExecutionId, i64)>> {
        let queues = self.queues.of_lane(&ask.namespace, lane);
        let runnable = queues.filter(|(signature, _)| ask.can_run(signature));
        let mut best: Vec<(Score, i64)> = Vec::new();
        for (_, queue_id) in runnable {
            best.extend(self.best_of_queue(queue_id, wanted)?);
        }
        best.sort_unstable();
        best.truncate(wanted);
        Ok(best.into_iter().map(|(score, row)| (score.id, row)).collect())
    }

    fn best_of_queue(&self, queue_id: QueueId, wanted: usize) -> rusqlite::Result<Vec<(Score, i64)>> {
        let mut statement = self.statement(include_str!("../sql/best_of_queue.sql"))?;
        let rows = statement.query_map([queue_id], |row| Ok((score(row, 1)?, row.get(0)?)))?;
        rows.take(wanted).collect()
    }

    fn candidate(&self, row: i64) -> rusqlite::Result<Candidate> {
        let mut statement = self.statement(include_str!("../sql/take_candidate.sql"))?;
        statement.query_row([row], |found| {
            let execution = from_stored(found.get_ref(10)?.as_str()?)?;
            Ok(Candidate {
                before: Row::read(found)?,
                input: self.input(row)?,
                gate: self.gate_of(&execution)?,
                execution,
            })
        })
    }

    fn input(&self, row: i64) -> rusqlite::Result<Payload> {
        let mut statement = self.statement(include_str!("../sql/take_input.sql"))?;
        let input = statement.query_row([row], |row| {
            Ok(Payload {
                content_type: parse(row.get_ref(0)?.as_str()?)?,
                bytes: Bytes::copy_from_slice(row.get_ref(1)?.as_blob()?),
            })
        });
        Ok(input.optional()?.unwrap_or_default())
    }

    fn hand_out(&mut self, ask: &Reserve, candidate: Candidate, claimant: &Claimant) -> rusqlite::Result<Task> {
        let Candidate {
            execution,
            before,
            input,
            gate,
        } = candidate;
        let partition = execution.id.partition();
        let surroundings = Surroundings {
            now: self.now,
            gate: gate.as_ref().map(|(gate, _)| gate.state),
        };
        let reserved = hand_out(&execution, claimant, ask.mode, surroundings);
        let version = before.version.next(ask.tag);
        let history: Vec<_> = reserved.history.into_iter().collect();
        let mut lines = self.take_history(partition, &history)?;
        let own = lines
            .remove(&HistorySubject::Execution(execution.id))
            .unwrap_or_default();
        let lines = Lines::of(&own, &execution);
        self.write_execution(&reserved.execution, version, Some(&before), &lines)?;
        self.move_counters(partition, &reserved.increments)?;
        Ok(Task {
            execution: reserved.execution,
            version,
            queued_since: execution.updated_at,
            handed_out: reserved.handed_out,
            claimant: claimant.clone(),
            input,
            gate,
        })
    }

    fn gate_of(&self, execution: &Execution) -> rusqlite::Result<Option<(Gate, Version)>> {
        let Some(flow_id) = execution.definition.flow else {
            return Ok(None);
        };
        let key = RecordKey::Gate(flow_id);
        let found = record::load(self.connection, execution.id.partition(), &key, self.now)?;
        Ok(found.and_then(|(record, version)| match record {
            Record::Gate(gate) => Some((gate, version)),
            _ => None,
        }))
    }
}

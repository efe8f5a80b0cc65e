//! Executions that were written lately, as they stand. Most are claimed soon after they were submitted and end soon after they were
//! claimed: what the writer still knows of them it need not find and read again.

use std::collections::{HashMap, VecDeque};

use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::record::Execution;
use ff_core::time::{Duration, Timestamp};

use crate::execution::Row;

/// How long something is kept at most. Until then it makes no room for others: what waits longest is claimed first.
const KEPT_FOR: Duration = Duration::from_secs(5);
/// How many are kept.
const KEPT_MAX: usize = 8_192;
/// Bytes of inputs that are kept.
const INPUT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What is kept. It says nothing that the database does not.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    kept: HashMap<ExecutionId, Kept>,
    /// When each was first kept, the oldest first; some may be gone.
    since: VecDeque<(Timestamp, ExecutionId)>,
    input_bytes: usize,
}

#[derive(Debug)]
struct Kept {
    since: Timestamp,
    row: Row,
    /// It waits to be handed out.
    waiting: Option<Box<Execution>>,
    input: Option<Payload>,
}

impl Fresh {
    /// The row of an execution, if it is kept.
    pub(crate) fn row(&self, id: ExecutionId) -> Option<Row> {
        self.kept.get(&id).map(|kept| kept.row.clone())
    }

    /// An execution that waits to be handed out, and its input if that is kept too.
    pub(crate) fn take(&mut self, id: ExecutionId, now: Timestamp) -> Option<(Row, Box<Execution>, Option<Payload>)> {
        self.drop_old(now);
        let kept = self.kept.get_mut(&id)?;
        let waiting = kept.waiting.take()?;
        let (row, input) = (kept.row.clone(), kept.input.take());
        self.input_bytes -= size(input.as_ref());
        Some((row, waiting, input))
    }

    /// Keeps an execution as it was just written; one that ended is of no use any more.
    pub(crate) fn keep(&mut self, execution: Box<Execution>, row: Row, now: Timestamp) {
        let id = execution.id;
        if execution.is_terminal() {
            self.forget(id);
        } else if row.queue_id.is_some() {
            self.keep_as(id, row, Some(execution), now);
        } else {
            self.keep_row(id, row, now);
        }
    }

    /// Keeps the row of an execution that does not wait.
    pub(crate) fn keep_row(&mut self, id: ExecutionId, row: Row, now: Timestamp) {
        self.keep_as(id, row, None, now);
    }

    fn keep_as(&mut self, id: ExecutionId, row: Row, waiting: Option<Box<Execution>>, now: Timestamp) {
        self.drop_old(now);
        if let Some(kept) = self.kept.get_mut(&id) {
            if waiting.is_none() {
                self.input_bytes -= size(kept.input.take().as_ref());
            }
            (kept.row, kept.waiting) = (row, waiting);
        } else if self.kept.len() < KEPT_MAX {
            self.since.push_back((now, id));
            let (since, input) = (now, None);
            self.kept.insert(
                id,
                Kept {
                    since,
                    row,
                    waiting,
                    input,
                },
            );
        }
    }

    /// Keeps the input of an execution that is kept because it waits.
    pub(crate) fn keep_input(&mut self, id: ExecutionId, input: Payload) {
        let Some(kept) = self.kept.get_mut(&id).filter(|kept| kept.waiting.is_some()) else {
            return;
        };
        self.input_bytes -= size(kept.input.take().as_ref());
        if self.input_bytes + input.len() <= INPUT_BYTES_MAX {
            self.input_bytes += input.len();
            kept.input = Some(input);
        }
    }

    /// Something about it was written that is not known here.
    pub(crate) fn forget(&mut self, id: ExecutionId) {
        if let Some(kept) = self.kept.remove(&id) {
            self.input_bytes -= size(kept.input.as_ref());
        }
    }

    fn drop_old(&mut self, now: Timestamp) {
        while let Some((since, id)) = self.since.front().copied()
            && now.since(since) > KEPT_FOR
        {
            self.since.pop_front();
            // It may have been kept anew.
            if self.kept.get(&id).is_some_and(|kept| kept.since == since) {
                self.forget(id);
            }
        }
    }
}

fn size(input: Option<&Payload>) -> usize {
    input.map_or(0, Payload::len)
}

#[cfg(test)]
mod tests {
    use ff_backend::Backend;
    use ff_backend::load::Snapshot;
    use ff_backend::reserve::Reserve;
    use ff_backend::transaction::{Tag, Transaction};
    use ff_core::capability::CapabilitySet;
    use ff_core::command::submit::CreateExecution;
    use ff_core::id::{AttemptId, GrantId, LeaseId};
    use ff_core::machine::claim::{Claimant, HandOut};
    use ff_core::machine::{Context, submit};
    use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
    use uuid::Uuid;

    use super::*;
    use crate::backend::SqliteBackend;
    use crate::options::Options;

    fn submission(input: &Payload) -> Transaction {
        let id = ExecutionId::new(0, Uuid::from_u128(1));
        let command = CreateExecution::new(ExecutionKind::parse("kind").unwrap(), input.clone());
        let now = Timestamp::from_millis(1);
        let step = submit::create(&command, id, submit::Known::default(), &Context::engine(now)).unwrap();
        Transaction::bind(step.draft, &Snapshot::empty(id.partition(), now), Tag(1))
    }

    fn ask() -> Reserve {
        let claimant = Claimant {
            worker: WorkerId::parse("worker").unwrap(),
            instance: WorkerInstanceId::parse("worker-1").unwrap(),
            grant_id: GrantId::from_uuid(Uuid::nil()),
            lease_id: LeaseId::from_uuid(Uuid::nil()),
            attempt_id: AttemptId::from_uuid(Uuid::nil()),
            lease_ttl: Duration::from_secs(30),
            grant_ttl: Duration::from_secs(30),
        };
        Reserve {
            namespace: Namespace::default_namespace(),
            lanes: vec![LaneId::default_lane()],
            capabilities: CapabilitySet::default(),
            closed: Vec::new(),
            mode: HandOut::Lease,
            claimants: vec![claimant],
            tag: Tag(2),
        }
    }

    #[tokio::test]
    async fn what_came_lately_is_handed_out_without_reading_it_and_later_it_is_read() {
        let input = Payload::binary("input");
        for (later, handed_out) in [
            (Duration::ZERO, vec![input.clone()]),
            (Duration::from_hours(1), Vec::new()),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let store = SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap();
            store.commit(vec![submission(&input)]).await.remove(0).unwrap();
            let spoil = "UPDATE execution SET body = 'nobody can read this'; DELETE FROM input";
            let spoiled = store
                .writer
                .write(move |batch| batch.database.connection.execute_batch(spoil));
            spoiled.await.unwrap();
            store.advance_clock(later);
            let tasks = store.reserve(ask()).await.unwrap().tasks;
            let inputs: Vec<Payload> = tasks.into_iter().map(|task| task.input).collect();
            assert_eq!(inputs, handed_out, "{later} later");
        }
    }

    #[tokio::test]
    async fn what_a_failed_batch_left_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteBackend::open(&Options::new(directory.path().join("store.db"))).unwrap();
        let prepared = crate::prepared::Prepared::new(submission(&Payload::binary("input"))).unwrap();
        let failed = store.writer.write(move |batch| {
            batch.commit(prepared)?.map_err(crate::error::corrupt)?;
            batch
                .database
                .connection
                .execute_batch("INSERT INTO nowhere VALUES (1)")
        });
        failed.await.unwrap_err();
        assert_eq!(store.reserve(ask()).await.unwrap().tasks, []);
        store
            .commit(vec![submission(&Payload::binary("other"))])
            .await
            .remove(0)
            .unwrap();
        let tasks = store.reserve(ask()).await.unwrap().tasks;
        assert_eq!(tasks[0].input, Payload::binary("other"));
    }
}

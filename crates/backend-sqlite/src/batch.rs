//! The open transaction the writer's jobs run in.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use ff_backend::hint::{Hint, HintBoard};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};
use uuid::Uuid;

use crate::column::parsed_if_any;
use crate::database::Database;
use crate::ledger::Accounts;
use crate::queues::Queues;
use crate::shared::Shared;
use crate::sql::{self, with};

/// What the writer keeps in memory between batches; all of it can be read again from the database.
#[derive(Debug, Default)]
pub(crate) struct WriterState {
    /// The row of the last feed line.
    pub(crate) feed_row: u64,
    /// The time of the last feed line, so that positions never go back.
    pub(crate) feed_millis: u64,
    /// The earliest moment each partition was announced to be due.
    pub(crate) due_heads: BTreeMap<Partition, Timestamp>,
    /// The last revision a setting got.
    pub(crate) last_revision: u64,
    /// No execution has a greater one. Those minted here grow with time, so that most new executions are known to be new.
    pub(crate) greatest_uuid: Uuid,
}

impl WriterState {
    /// Reads everything from the database.
    pub(crate) fn load(database: &Database<'_>) -> rusqlite::Result<Self> {
        let read = |row: &Row<'_>| {
            Ok(Self {
                feed_row: row.get(0)?,
                feed_millis: row.get(1)?,
                due_heads: BTreeMap::new(),
                last_revision: row.get(2)?,
                greatest_uuid: parsed_if_any(row, 3)?.unwrap_or_default(),
            })
        };
        Ok(database.find(with!(sql::READ_WRITER_STATE), read)?.unwrap_or_default())
    }
}

/// The open transaction of one batch.
pub(crate) struct Batch<'a> {
    pub(crate) database: Database<'a>,
    pub(crate) shared: &'a Shared,
    pub(crate) state: &'a mut WriterState,
    /// The store's time for everything in the batch.
    pub(crate) now: Timestamp,
    pub(crate) hints: MutexGuard<'a, HintBoard>,
    pub(crate) queues: MutexGuard<'a, Queues>,
    /// How the depths of lanes move, written once at the end.
    depths: BTreeMap<(Namespace, LaneId, PublicState), i64>,
    /// Accounts that calls have met, written once at the end.
    pub(crate) accounts: Accounts,
}

impl<'a> Batch<'a> {
    /// Joins the transaction the connection has open.
    pub(crate) fn begin(connection: &'a Connection, shared: &'a Shared, state: &'a mut WriterState) -> Self {
        Self {
            database: Database::new(connection),
            shared,
            state,
            now: shared.clock.now(),
            hints: shared.hints(),
            queues: shared.queues(),
            depths: BTreeMap::new(),
            accounts: Accounts::default(),
        }
    }

    /// Sends a hint once the batch is committed.
    pub(crate) fn hint(&mut self, hint: Hint) {
        self.hints.note(hint);
    }

    /// Moves how many executions of a lane are in a state.
    pub(crate) fn count_state(&mut self, (namespace, lane): (Namespace, LaneId), state: PublicState, by: i64) {
        *self.depths.entry((namespace, lane, state)).or_default() += by;
    }

    /// Writes what was collected over the batch.
    pub(crate) fn finish(mut self) -> rusqlite::Result<()> {
        self.write_accounts()?;
        for ((namespace, lane, state), by) in &self.depths {
            let (namespace, lane, state) = (namespace.as_str(), lane.as_str(), state.as_str());
            let moved = with!(sql::MOVE_LANE_DEPTH, by: by, namespace: namespace, lane: lane, state: state);
            if self.database.change(moved)? == 0 {
                self.database
                    .run(with!(sql::INSERT_LANE_DEPTH, namespace: namespace, lane: lane, state: state, by: by))?;
            }
        }
        self.database.run(with!(sql::UPDATE_STORE,
            now: self.now.as_millis(), last_revision: self.state.last_revision))
    }
}

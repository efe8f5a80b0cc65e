//! The open transaction the writer's jobs run in.

use std::collections::BTreeMap;
use std::sync::MutexGuard;

use ff_backend::hint::{Hint, HintBoard};
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::Partition;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use rusqlite::Connection;
use uuid::Uuid;

use crate::error::corrupt;
use crate::queues::Queues;
use crate::shared::Shared;
use crate::statements::{Borrowed, Statements};

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
    pub(crate) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let sql = include_str!("../sql/last_feed_line.sql");
        let (feed_row, feed_millis) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            feed_row,
            feed_millis,
            due_heads: BTreeMap::new(),
            last_revision: connection.query_row("SELECT last_revision FROM store", [], |row| row.get(0))?,
            greatest_uuid: greatest_uuid(connection)?,
        })
    }
}

fn greatest_uuid(connection: &Connection) -> rusqlite::Result<Uuid> {
    let found: Option<String> = connection.query_row(include_str!("../sql/greatest_uuid.sql"), [], |row| row.get(0))?;
    let parsed = found.map(|text| Uuid::try_parse(&text)).transpose();
    Ok(parsed.map_err(corrupt)?.unwrap_or_default())
}

/// The open transaction of one batch.
pub(crate) struct Batch<'a> {
    pub(crate) connection: &'a Connection,
    statements: Statements<'a>,
    pub(crate) shared: &'a Shared,
    pub(crate) state: &'a mut WriterState,
    /// The store's time for everything in the batch.
    pub(crate) now: Timestamp,
    pub(crate) hints: MutexGuard<'a, HintBoard>,
    pub(crate) queues: MutexGuard<'a, Queues>,
    /// How the depths of lanes move, written once at the end.
    depths: BTreeMap<(Namespace, LaneId, PublicState), i64>,
}

impl<'a> Batch<'a> {
    /// Joins the transaction the connection has open.
    pub(crate) fn begin(connection: &'a Connection, shared: &'a Shared, state: &'a mut WriterState) -> Self {
        Self {
            connection,
            statements: Statements::new(connection),
            shared,
            state,
            now: shared.clock.now(),
            hints: shared.hints(),
            queues: shared.queues(),
            depths: BTreeMap::new(),
        }
    }

    /// A statement that is compiled once per connection.
    pub(crate) fn statement(&self, sql: &'static str) -> rusqlite::Result<Borrowed<'a>> {
        self.statements.get(sql)
    }

    /// Sends a hint once the batch is committed.
    pub(crate) fn hint(&mut self, hint: Hint) {
        self.hints.note(hint);
    }

    /// Moves how many executions of a lane are in a state.
    pub(crate) fn count_state(&mut self, namespace: &Namespace, lane: &LaneId, state: PublicState, by: i64) {
        *self.depths.entry((namespace.clone(), lane.clone(), state)).or_default() += by;
    }

    /// Writes what was collected over the batch.
    pub(crate) fn finish(self) -> rusqlite::Result<()> {
        for ((namespace, lane, state), by) in &self.depths {
            let depth = (namespace.as_str(), lane.as_str(), state.as_str(), by);
            let moved = self
                .statement(include_str!("../sql/move_lane_depth.sql"))?
                .execute(depth)?;
            if moved == 0 {
                self.statement(include_str!("../sql/insert_lane_depth.sql"))?
                    .execute(depth)?;
            }
        }
        let mut statement = self.statement(include_str!("../sql/update_store.sql"))?;
        let state = &self.state;
        statement.execute((self.now.as_millis(), state.last_revision))?;
        Ok(())
    }
}

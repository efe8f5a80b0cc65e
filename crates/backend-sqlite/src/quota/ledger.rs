//! The row of a quota policy: the policy, and how much of it is taken.
//!
//! Places are numbered in the order they are taken, which is the order they stop counting in. How many count is the
//! distance between two numbers, and the moment at which so many are left is when one particular place was taken: no
//! question costs more in a full window than in an empty one.

use ff_core::machine::quota::{Outlook, places_beside};
use ff_core::partition::Partition;
use ff_core::record::{QuotaPolicy, WindowRequest};
use ff_core::time::{Duration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::batch::Batch;
use crate::error::corrupt;
use crate::key::index;
use crate::record::{from_stored, to_stored};

/// A quota policy with how much of it is taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ledger {
    pub(super) policy: QuotaPolicy,
    /// Slots taken.
    pub(super) slots: u64,
    /// The first place that may still count. Those before it never count again, whatever becomes of the window.
    pub(super) first_place: u64,
    /// The place that is taken next.
    pub(super) next_place: u64,
    pub(super) due_at: Option<Timestamp>,
}

impl Ledger {
    /// A policy of which nothing is taken.
    pub(super) fn new(policy: QuotaPolicy) -> Self {
        Self {
            policy,
            slots: 0,
            first_place: 0,
            next_place: 0,
            due_at: None,
        }
    }

    /// The policy with this id, deleted or not.
    pub(super) fn load(connection: &Connection, id: ff_core::id::QuotaPolicyId) -> rusqlite::Result<Option<Self>> {
        let mut statement = connection.prepare_cached(include_str!("../../sql/load_quota_policy.sql"))?;
        statement.query_row([id.to_string()], Self::of_row).optional()
    }

    /// Reads body, slots, first place, next place and timer.
    pub(super) fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let due_at: Option<u64> = row.get(4)?;
        Ok(Self {
            policy: from_stored(row.get_ref(0)?.as_str()?)?,
            slots: row.get(1)?,
            first_place: row.get(2)?,
            next_place: row.get(3)?,
            due_at: due_at.map(Timestamp::from_millis),
        })
    }

    /// Writes it.
    pub(super) fn put(&self, batch: &Batch<'_>, partition: Partition) -> rusqlite::Result<()> {
        let policy = &self.policy;
        let params = (
            self.id(),
            index(partition),
            policy.namespace.as_str(),
            policy.generation,
            policy.deleted_at.is_some(),
            self.due_at.map(Timestamp::as_millis),
            self.slots,
            self.first_place,
            self.next_place,
            to_stored(policy)?,
        );
        batch.run(include_str!("../../sql/put_quota_policy.sql"), params)
    }

    pub(super) fn id(&self) -> String {
        self.policy.id.to_string()
    }

    /// How many places count at `now`.
    pub(super) fn places(&self, connection: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
        Ok(self.next_place - self.first_place_at(connection, now)?)
    }

    /// The first place that counts at `now`.
    pub(super) fn first_place_at(&self, connection: &Connection, now: Timestamp) -> rusqlite::Result<u64> {
        if self.first_place == self.next_place {
            return Ok(self.first_place);
        }
        let mut statement = connection.prepare_cached(include_str!("../../sql/find_place_after.sql"))?;
        let params = (self.id(), over_since(self.policy.window, now));
        let found: Option<u64> = statement.query_row(params, |row| row.get(0)).optional()?;
        Ok(found.map_or(self.next_place, |number| number.max(self.first_place)))
    }

    /// Whether an attempt holds a place at `now`.
    pub(super) fn holds_place(
        &self,
        connection: &Connection,
        request: WindowRequest,
        now: Timestamp,
    ) -> rusqlite::Result<bool> {
        let mut statement = connection.prepare_cached(include_str!("../../sql/find_place_of_attempt.sql"))?;
        let params = (self.id(), request.execution_id.to_string(), request.attempt_index);
        let found = statement
            .query_row(params, |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let counts = |(number, taken_at): (u64, u64)| {
            number >= self.first_place
                && i64::try_from(taken_at).is_ok_and(|at| at > over_since(self.policy.window, now))
        };
        Ok(found.is_some_and(counts))
    }

    /// The moment from which at most `places` count, if nothing comes; `None` when there never were more.
    pub(super) fn falls_to(&self, connection: &Connection, places: u64) -> rusqlite::Result<Option<Timestamp>> {
        let last_to_go = self
            .next_place
            .checked_sub(places)
            .and_then(|number| number.checked_sub(1));
        let Some(number) = last_to_go.filter(|number| *number >= self.first_place) else {
            return Ok(None);
        };
        let mut statement = connection.prepare_cached(include_str!("../../sql/read_place.sql"))?;
        let taken_at: Option<u64> = statement.query_row((self.id(), number), |row| row.get(0)).optional()?;
        let taken_at = taken_at.ok_or_else(|| corrupt(format!("place {number} of quota {} is missing", self.id())))?;
        Ok(Some(Timestamp::from_millis(taken_at) + self.policy.window))
    }

    /// When a place is free beside `promised` others.
    pub(super) fn place_free_at(&self, connection: &Connection, promised: u64) -> rusqlite::Result<Option<Timestamp>> {
        match places_beside(&self.policy, promised) {
            Some(places) => self.falls_to(connection, places),
            None => Ok(None),
        }
    }

    /// What the timer of the policy depends on.
    pub(super) fn outlook(&self, connection: &Connection) -> rusqlite::Result<Outlook> {
        let unpromised_place_free_at = match self.policy.promise {
            Some(promise) => self.place_free_at(connection, promise.count)?,
            None => None,
        };
        Ok(Outlook {
            slots: self.slots,
            place_free_at: self.place_free_at(connection, 0)?,
            unpromised_place_free_at,
        })
    }
}

/// What came up to this moment is over at `now`, if it counts for `span`. Before the first moment there is nothing.
pub(super) fn over_since(span: Duration, now: Timestamp) -> i64 {
    let millis = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
    millis(now.as_millis()) - millis(span.as_millis())
}

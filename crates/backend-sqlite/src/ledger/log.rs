//! The log of an account. Its places are numbered as they are taken, which is the order in which they stop counting: how many
//! count is the distance between two numbers, and who is next to go is one of them. What was given back leaves a gap.
//!
//! Gaps are counted from the old end of the log on, and only up to where somebody asks: there they are few, because whatever
//! stops counting is left behind with the next place that is taken.

use ff_core::time::{Duration, Timestamp};

use crate::clock::over_since;
use crate::column::moment;
use crate::database::Database;
use crate::error::corrupt;
use crate::sql::{self, with};

/// Places deleted at most when one may be taken: more than one, so that what no longer counts goes away with use.
const PAST_PLACES_PER_CALL: u64 = 4;

/// How a log is numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// The oldest place that has a row.
    pub(super) oldest: u64,
    /// The first that may count. Those before it never count again.
    pub(super) first: u64,
    /// The one that is taken next.
    pub(super) next: u64,
    /// How many between these two were given back.
    pub(super) gaps: u64,
}

/// The rows of a log at a moment.
pub(super) struct Reading<'s, 'c> {
    pub(super) database: &'s Database<'c>,
    pub(super) account: &'s str,
    pub(super) now: Timestamp,
}

impl Reading<'_, '_> {
    /// The place of a name, if it may count: its number, and since when.
    pub(super) fn find(&self, log: &Log, name: &str) -> rusqlite::Result<Option<(u64, Timestamp)>> {
        let find = with!(sql::FIND_NAMED_PLACE, account: self.account, name: name);
        let found = self.database.find(find, |row| Ok((row.get(0)?, moment(row, 1)?)))?;
        Ok(found.filter(|(number, _)| *number >= log.first))
    }

    /// How many places are younger than that.
    pub(super) fn count(&self, log: &Log, age: Duration) -> rusqlite::Result<u64> {
        let first = self.first_younger(log, age)?;
        let gaps = log.gaps.saturating_sub(self.gaps(log, first)?);
        Ok((log.next - first).saturating_sub(gaps))
    }

    /// When the place was taken that so many younger ones stand beside.
    pub(super) fn behind(&self, log: &Log, younger: u64) -> rusqlite::Result<Option<Timestamp>> {
        let taken = (log.next - log.first).saturating_sub(log.gaps);
        let Some(older) = taken.checked_sub(younger).and_then(|left| left.checked_sub(1)) else {
            return Ok(None);
        };
        let mut number = log.first + older;
        loop {
            let beyond_gaps = log.first + older + self.gaps(log, number + 1)?;
            if beyond_gaps == number {
                break;
            }
            number = beyond_gaps;
        }
        let load = with!(sql::LOAD_PLACE, account: self.account, number: number);
        let taken_at = self.database.find(load, |row| moment(row, 0))?;
        let missing = || corrupt(format!("place {number} of {} is missing", self.account));
        taken_at.ok_or_else(missing).map(Some)
    }

    /// A name takes the next place, or gives the one it has back.
    pub(super) fn put(&self, log: &mut Log, name: &str, at: Option<Timestamp>) -> rusqlite::Result<()> {
        if let Some((number, _)) = self.find(log, name)? {
            let give = with!(sql::GIVE_PLACE_BACK, account: self.account, number: number);
            self.database.run(give)?;
            log.gaps += 1;
        }
        let Some(at) = at else { return Ok(()) };
        self.database.run(with!(sql::INSERT_PLACE,
            account: self.account, number: log.next, taken_at: at.as_millis(), name: name))?;
        log.next += 1;
        Ok(())
    }

    /// Whatever is not younger than that never counts again. Its rows go a few at a time.
    pub(super) fn forget(&self, log: &mut Log, age: Duration) -> rusqlite::Result<()> {
        let first = self.first_younger(log, age)?;
        log.gaps = log.gaps.saturating_sub(self.gaps(log, first)?);
        log.first = first;
        let before = first.min(log.oldest + PAST_PLACES_PER_CALL);
        if before > log.oldest {
            let delete = with!(sql::DELETE_PLACES, account: self.account, before: before);
            self.database.run(delete)?;
            log.oldest = before;
        }
        Ok(())
    }

    /// The first place that is younger than that, given back or not.
    fn first_younger(&self, log: &Log, age: Duration) -> rusqlite::Result<u64> {
        if log.first == log.next {
            return Ok(log.next);
        }
        let find = with!(sql::FIND_YOUNGER_PLACE, account: self.account, moment: over_since(age, self.now));
        let found: Option<u64> = self.database.find(find, |row| row.get(0))?;
        Ok(found.map_or(log.next, |number| number.max(log.first)))
    }

    /// How many places that may count and stand before this number were given back.
    fn gaps(&self, log: &Log, before: u64) -> rusqlite::Result<u64> {
        if log.gaps == 0 || before == log.first {
            return Ok(0);
        }
        let count = with!(sql::COUNT_GAPS, account: self.account, from: log.first, before: before);
        let found = self.database.find(count, |row| row.get(0))?;
        Ok(found.unwrap_or(0))
    }
}

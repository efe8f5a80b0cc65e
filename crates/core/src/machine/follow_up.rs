//! What pages of follow-up work owe to the record they work for: its version must take part in the transaction, so that a
//! decision that makes the work pointless and the work itself cannot both land.

use super::change::Change;
use super::decided::{Decided, Draft};
use crate::record::{FollowUps, Record, RecordKey};

impl Change<'_> {
    /// Ends the change with a write of the record even if nothing about it changed: its version must move.
    pub(crate) fn finish_written<O>(self, outcome: O) -> Decided<O> {
        let record = self.after.clone();
        let mut decided = self.finish(outcome);
        if decided.draft.execution(record.id).is_none() {
            decided.draft.put(Record::from(record));
        }
        decided
    }

    /// Ends the change with a guard on the record if nothing about it changed.
    pub(crate) fn finish_guarded<O>(self, outcome: O) -> Decided<O> {
        let id = self.after.id;
        let mut decided = self.finish(outcome);
        if decided.draft.execution(id).is_none() {
            decided.draft.guard(RecordKey::Execution(id));
        }
        decided
    }

    /// Ends a page of follow-up work whose parts are in `work`. The last page clears the mark that made it due.
    pub(crate) fn finish_page<O>(
        mut self,
        outcome: O,
        work: Draft,
        last: bool,
        done: impl FnOnce(&mut FollowUps),
    ) -> Decided<O> {
        if last {
            done(&mut self.after.follow_ups);
        }
        let mut decided = self.finish_guarded(outcome);
        decided.draft.merge(work);
        decided
    }
}

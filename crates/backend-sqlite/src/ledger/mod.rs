//! Accounts: the arithmetic of [`ff_backend::ledger`] over rows, inside the writer's open transaction.
//!
//! | file | what |
//! |---|---|
//! | `kept` | what a batch knows of accounts: each is read and written once, and a call that fails leaves nothing |
//! | `books` | what the arithmetic asks for, answered from there |
//! | `log` | places, by number |
//! | `rows`, `holds` | how it all stands in the database |

mod books;
mod holds;
mod kept;
mod log;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use kept::Accounts;

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::ledger::{LedgerReply, apply};
use ff_core::ledger::{LedgerAnswer, LedgerCall};
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;

use self::books::Open;
use crate::batch::Batch;
use crate::commit::GENERATION;
use crate::database::Database;
use crate::error::{is_unreadable, store_error};

/// Whether a call only reads.
pub(crate) const fn is_read(call: &LedgerCall) -> bool {
    matches!(call, LedgerCall::Read(_) | LedgerCall::Holds(_))
}

/// Runs calls that only read.
pub(crate) fn read(
    database: &Database<'_>,
    calls: &[LedgerCall],
    (now, counts): (Timestamp, PartitionCounts),
) -> rusqlite::Result<Vec<Result<LedgerReply>>> {
    let mut accounts = Accounts::default();
    let mut open = Open::new(database, &mut accounts, now);
    calls.iter().map(|call| open.answer(call, &counts)).collect()
}

impl Open<'_, '_> {
    /// One call. One that meets a row that cannot be read fails alone, and does nothing.
    fn answer(&mut self, call: &LedgerCall, counts: &PartitionCounts) -> rusqlite::Result<Result<LedgerReply>> {
        let applied = match call.partition(counts) {
            Some(_) => apply(self, call),
            None => Ok(LedgerAnswer::Malformed),
        };
        match applied {
            Ok(answer) => {
                self.keep()?;
                Ok(Ok(LedgerReply {
                    now: self.now,
                    generation: GENERATION,
                    answer,
                }))
            }
            Err(error) if is_unreadable(&error) => {
                self.take_back();
                Ok(Err(store_error(&error)))
            }
            Err(error) => Err(error),
        }
    }
}

impl Batch<'_> {
    /// Runs calls in order.
    pub(crate) fn ledger(&mut self, calls: &[LedgerCall]) -> rusqlite::Result<Vec<Result<LedgerReply>>> {
        let mut open = Open::new(&self.database, &mut self.accounts, self.now);
        calls
            .iter()
            .map(|call| open.answer(call, &self.shared.options.counts))
            .collect()
    }

    /// Writes what calls of the batch have changed, and tells what that does to timers and generations.
    pub(crate) fn write_accounts(&mut self) -> rusqlite::Result<()> {
        let counts = self.shared.options.counts;
        for (key, mut account) in std::mem::take(&mut self.accounts).0 {
            let partition = key.partition(&counts);
            if let Some((before, head)) = account.heads() {
                if before.is_some_and(|before| before.generation != head.generation) {
                    self.hint(Hint::Cause(key));
                }
                if before.and_then(|before| before.due.at) != head.due.at {
                    self.note_due(partition, head.due.at);
                }
            }
            account.write(&self.database, partition)?;
        }
        Ok(())
    }
}

//! Accounts. Every step is worked out by the library (`lua/ledger.lua`); here it is packed, and its answer is read.

mod answer;
mod ask;
mod single;

use ff_backend::Result;
use ff_backend::ledger::LedgerReply;
use ff_backend::transaction::Generation;
use ff_core::ledger::{LedgerAnswer, LedgerCall};
use ff_core::partition::Partition;

use self::answer::answer;
use self::ask::Steps;
use crate::call::Reply;
use crate::library::Function;
use crate::shared::Shared;

/// Steps in one call of the library at most: the server does nothing else meanwhile.
const CALL_MAX: usize = 256;

impl Shared {
    /// Answers calls on accounts; those of one partition are done in their order.
    pub(crate) async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let places: Vec<Option<Partition>> = calls.iter().map(|call| call.partition(&self.counts)).collect();
        let asked = places.iter().zip(calls);
        let mut rest: Vec<(Partition, LedgerCall)> =
            asked.filter_map(|(place, call)| Some(((*place)?, call))).collect();
        let mut replies = Vec::new();
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(CALL_MAX));
            let asked = std::mem::replace(&mut rest, later);
            let answered = self.in_groups(asked, CALL_MAX, |group| self.do_steps(group));
            replies.extend(answered.await);
        }
        let mut replies = replies.into_iter();
        let reply = |place: Option<Partition>| match place {
            Some(_) => replies.next().expect("each one is answered")?,
            None => Ok(self.malformed()),
        };
        places.into_iter().map(reply).collect()
    }

    /// The server is not asked about a call that no partition can do, so no generation is known either.
    fn malformed(&self) -> LedgerReply {
        LedgerReply {
            now: self.estimated_now().unwrap_or_default(),
            generation: Generation::default(),
            answer: LedgerAnswer::Malformed,
        }
    }

    async fn do_steps(&self, group: Vec<(Partition, LedgerCall)>) -> Result<Vec<Result<LedgerReply>>> {
        let only_looks = |call: &LedgerCall| matches!(call, LedgerCall::Read(_) | LedgerCall::Holds(_));
        let function = match group.iter().all(|(_, call)| only_looks(call)) {
            true => Function::READ_LEDGER,
            false => Function::LEDGER,
        };
        let mut ask = self.ask(2);
        Steps::new(&group).write(&mut ask);
        let Reply {
            now,
            generation,
            answer: found,
        } = self.call(function, group[0].0, ask).await?;
        let reply = |found| {
            let answer = answer(found)?;
            Ok(LedgerReply {
                now,
                generation,
                answer,
            })
        };
        Ok(found.into_iter().map(reply).collect())
    }
}

#[cfg(test)]
mod tests {
    use ff_core::ledger::NUMBER_MAX;
    use ff_core::limits::GRANT_TTL_MAX;
    use ff_core::machine::quota::WINDOW_MAX;
    use ff_core::record::DIMENSIONS_MAX;

    use crate::library::LIBRARY;

    #[test]
    fn the_library_has_the_numbers_of_the_ledger() {
        for line in [
            format!("local NUMBER_MAX = {NUMBER_MAX}"),
            format!("local DIMENSIONS_MAX = {DIMENSIONS_MAX}"),
            format!("local GRANT_TTL_MAX_MS = {}", GRANT_TTL_MAX.as_millis()),
            format!("local WINDOW_MAX_MS = {}", WINDOW_MAX.as_millis()),
        ] {
            assert!(LIBRARY.text.lines().any(|found| found == line), "{line}");
        }
    }
}

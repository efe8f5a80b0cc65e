//! Accounts. Every call is worked out by the library (`library/ledger`); here it is packed, and its answer is read.

mod answer;
mod ask;
mod rows;
mod single;
#[cfg(test)]
mod tests;

use ff_backend::Result;
use ff_backend::hint::Hint;
use ff_backend::ledger::LedgerReply;
use ff_backend::transaction::Generation;
use ff_core::ledger::{AccountKey, LedgerAnswer, LedgerCall};
use ff_core::time::Timestamp;

use self::answer::read_answer;
use self::ask::Asked;
use self::rows::{AnswerRow, NewsRow};
use crate::call::{Answer, call};
use crate::error::corrupt;
use crate::hints::tell;
use crate::shared::{Shared, moment};

/// Calls that are made at once at most: their accounts are locked meanwhile.
const CALLS_MAX: usize = 256;

/// What became of the first calls of a batch; and an account that must be locked as well, which the next one needs.
type Done = (Vec<Result<LedgerReply>>, Option<AccountKey>);

impl Shared {
    /// Answers calls on accounts, in their order.
    pub(crate) async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let is_sound = |call: &LedgerCall| call.partition(&self.counts).is_some();
        let (sound, flags): (Vec<&LedgerCall>, Vec<bool>) = {
            let flags: Vec<bool> = calls.iter().map(is_sound).collect();
            let sound = calls.iter().zip(&flags).filter(|(_, is_sound)| **is_sound);
            (sound.map(|(call, _)| call).collect(), flags)
        };
        let mut replies = Vec::with_capacity(sound.len());
        for batch in sound.chunks(CALLS_MAX) {
            self.do_all(batch, &mut replies).await;
        }
        let mut replies = replies.into_iter();
        let reply = |is_sound| match is_sound {
            true => replies
                .next()
                .unwrap_or_else(|| Err(corrupt("a call on an account was not answered"))),
            false => Ok(self.malformed()),
        };
        flags.into_iter().map(reply).collect()
    }

    /// The store is not asked about a call that no partition can do, so no generation is known either.
    fn malformed(&self) -> LedgerReply {
        LedgerReply {
            now: moment(self.caller().seen),
            generation: Generation::default(),
            answer: LedgerAnswer::Malformed,
        }
    }

    /// Makes calls, mostly in one go.
    async fn do_all(&self, calls: &[&LedgerCall], replies: &mut Vec<Result<LedgerReply>>) {
        let only_looks = |call: &&LedgerCall| matches!(call, LedgerCall::Read(_) | LedgerCall::Holds(_));
        let (mut left, mut beside) = (calls, Vec::new());
        while !left.is_empty() {
            let asked = Asked::new(left, &beside, self.counts);
            let done = match left.iter().all(only_looks) {
                true => self.look(&asked).await,
                false => self.change(&asked).await,
            };
            match done {
                Ok((done, missing)) if missing.is_some() || done.len() == left.len() => {
                    left = &left[done.len()..];
                    replies.extend(done);
                    beside.extend(missing);
                }
                Ok(_) => return replies.extend(left.iter().map(|_| Err(corrupt("the store answered another call")))),
                Err(error) => return replies.extend(left.iter().map(|_| Err(error.clone()))),
            }
        }
    }

    async fn change(&self, asked: &Asked) -> Result<Done> {
        let call = call!(writing ledger(
            accounts: &asked.accounts,
            windows: &asked.windows,
            numbers: &asked.numbers,
            turns: &asked.turns,
            takes: &asked.takes,
            draws: &asked.draws,
            gives: &asked.gives,
            amends: &asked.amends,
            reads: &asked.reads,
            holds: &asked.holds,
        ));
        let (now, answer) = self.ask(call).await?;
        tell(self, self.hints_of(asked, answer.list("news")?));
        let beside: Option<String> = answer.get("beside")?;
        let beside = beside.map(|account| account.parse().map_err(corrupt)).transpose()?;
        Ok((self.replies(now, &answer).await?, beside))
    }

    async fn look(&self, asked: &Asked) -> Result<Done> {
        let call = call!(reading read_ledger(
            accounts: &asked.accounts,
            turns: &asked.turns,
            reads: &asked.reads,
            holds: &asked.holds,
        ));
        let (now, answer) = self.ask(call).await?;
        Ok((self.replies(now, &answer).await?, None))
    }

    async fn replies(&self, now: Timestamp, answer: &Answer) -> Result<Vec<Result<LedgerReply>>> {
        let generation = self.generation(answer.get("generation")?, 0).await?;
        let reply = |found| {
            Ok(LedgerReply {
                now,
                generation,
                answer: read_answer(found)?,
            })
        };
        Ok(answer.list::<AnswerRow>("answers")?.into_iter().map(reply).collect())
    }

    /// Who waits for an account is told that its generation moved, the pump that it is due earlier.
    fn hints_of(&self, asked: &Asked, news: Vec<NewsRow>) -> Vec<Hint> {
        let hints = news.into_iter().flat_map(|news| {
            let key = usize::try_from(news.account - 1)
                .ok()
                .and_then(|at| asked.keys.get(at))
                .copied();
            let open = key.filter(|_| news.is_open == Some(true)).map(Hint::Cause);
            let due = key.zip(news.due_at).map(|(key, at)| Hint::Due {
                partition: key.partition(&self.counts),
                at: moment(at),
            });
            [open, due].into_iter().flatten()
        });
        hints.collect()
    }
}

//! Transactions of which only a part is done, or more than they say.

use async_trait::async_trait;
use ff_backend::Backend;
use ff_backend::layer::Layer;
use ff_backend::load::Load;
use ff_backend::transaction::{CommitError, Committed, Tag, Transaction};
use ff_core::record::{Record, RecordKey, Stored};
use ff_core::time::Duration;

use crate::liar::lies;

lies! {
    ();
    /// Deleted records stay.
    DeletesForgotten,
    /// Blobs, history, streams and counters of a deleted execution stay.
    RemainsStay,
    /// What a later version wrote is dropped when an execution is written.
    LaterMembersForgotten,
    /// Tags lose their upper bits.
    TagsTruncated,
    /// Records are gone before their time.
    TtlTooShort,
    /// Records outlive their time to live.
    TtlNeverExpires,
    /// What was decided from counters lands in any generation.
    GenerationIgnored,
    /// Transactions land however late they are.
    NotAfterIgnored,
    /// A transaction lands in the very moment it is refused from.
    NotAfterOneTooLate,
    /// Any number of queues may be opened.
    QueueLimitIgnored,
    /// Whatever opens a queue is limited, not only submissions.
    QueueLimitOnEveryCommit,
    /// Lines of one transaction are told backwards.
    HistoryBackwards,
    /// Nudges are made whatever the counter says.
    NudgeIgnoresZeroCondition,
    /// Evaluated nudges stay.
    NudgesNeverCleared,
    /// An evaluated nudge takes a newer one with it.
    NudgeClearIgnoresStamp,
    /// Streams never end.
    StreamEndsForgotten,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, mut batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        for transaction in &mut batch {
            self.distort(transaction);
            if self.lie == Lie::NudgeClearIgnoresStamp {
                self.clear_newest(transaction).await;
            }
        }
        self.inner().commit(batch).await
    }
}

impl Liar {
    fn distort(&self, transaction: &mut Transaction) {
        match self.lie {
            Lie::DeletesForgotten => transaction.deletes.clear(),
            Lie::RemainsStay => transaction.delete_remains.clear(),
            Lie::LaterMembersForgotten => forget_later_members(transaction),
            Lie::TagsTruncated => transaction.tag = Tag(transaction.tag.0 & ((1 << 53) - 1)),
            Lie::TtlTooShort => change_ttl(transaction, |ttl| Some(Duration::from_millis(ttl.as_millis() / 2))),
            Lie::TtlNeverExpires => change_ttl(transaction, |_| None),
            Lie::GenerationIgnored => transaction.generation = None,
            Lie::NotAfterIgnored => transaction.not_after = None,
            Lie::NotAfterOneTooLate => {
                transaction.not_after = transaction.not_after.map(|at| at + Duration::from_millis(1));
            }
            Lie::QueueLimitIgnored => transaction.limits_queues = false,
            Lie::QueueLimitOnEveryCommit => transaction.limits_queues = true,
            Lie::HistoryBackwards => transaction.history.reverse(),
            Lie::NudgeIgnoresZeroCondition => {
                transaction
                    .nudges
                    .iter_mut()
                    .for_each(|nudge| nudge.only_at_zero = None);
            }
            Lie::NudgesNeverCleared => transaction.clear_nudges.clear(),
            Lie::NudgeClearIgnoresStamp => {}
            Lie::StreamEndsForgotten => transaction.stream_ends.clear(),
        }
    }

    async fn clear_newest(&self, transaction: &mut Transaction) {
        let nudged: Vec<RecordKey> = transaction.clear_nudges.iter().map(|(key, _)| key.clone()).collect();
        let newest = self
            .honest
            .load_one(Load::records(transaction.partition, nudged))
            .await
            .nudges;
        transaction.clear_nudges = newest.into_iter().collect();
    }
}

fn forget_later_members(transaction: &mut Transaction) {
    for put in &mut transaction.puts {
        if let Record::Execution(execution) = &mut put.record {
            execution.carry(Default::default());
        }
    }
}

/// A time to live that is not allowed stays as it is, to be refused.
fn change_ttl(transaction: &mut Transaction, change: impl Fn(Duration) -> Option<Duration>) {
    for put in transaction.puts.iter_mut().filter(|put| put.expected.is_none()) {
        put.ttl = put.ttl.and_then(&change);
    }
}

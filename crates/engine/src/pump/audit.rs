//! The audit sweep: a sample of records is compared with the index entries and counters the store keeps for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ff_backend::load::Load;
use ff_backend::query::{AuditRow, Cursor, Listing};
use ff_core::fabric::Result;
use ff_core::machine::decided::Write;
use ff_core::machine::placement::{due_at, queue_of};
use ff_core::machine::{Decided, Draft};
use ff_core::partition::{Family, Partition};
use ff_core::record::Record;

use super::duty::Duty;
use super::recount::recount;
use crate::engine::Engine;
use crate::transact::Decision;

/// Records of one audit.
const SAMPLE: usize = 200;

/// Where the audit stands.
#[derive(Default)]
pub(super) struct Audits {
    position: Mutex<SamplePosition>,
    repaired: AtomicU64,
}

/// The next sample: which partition, and where in it.
#[derive(Clone, Default)]
struct SamplePosition {
    index: u16,
    after: Option<Cursor>,
}

/// Looks at one sample, and repairs what has drifted.
pub(super) async fn sweep(engine: &Engine) -> Result<()> {
    if !Duty::AuditSweep.is_served(engine) {
        return Ok(());
    }
    // From time to time nothing is believed: a store that lost writes may show an old generation again.
    engine.shared.pump.marks.forget_all();
    let position = engine.shared.pump.audits.position();
    let partition = Partition::flow(position.index);
    let page = engine
        .store()
        .list(Listing::Audit(partition), position.after, SAMPLE)
        .await?;
    engine.shared.pump.audits.move_to(match &page.next {
        Some(after) => SamplePosition {
            index: position.index,
            after: Some(after.clone()),
        },
        None => SamplePosition {
            index: (position.index + 1) % engine.shared.config.counts.count(Family::Flow),
            after: None,
        },
    });
    for row in page.audit() {
        if has_drifted(&row) {
            repair(engine, partition, &row).await?;
        }
        let corrected = recount(engine, &row.record).await?;
        engine.shared.pump.audits.add_repaired(corrected);
    }
    Ok(())
}

/// Writes a record again as it is: what the store keeps for it follows.
async fn repair(engine: &Engine, partition: Partition, row: &AuditRow) -> Result<()> {
    let key = row.record.key();
    tracing::error!(
        ?key,
        queue = ?row.queue,
        missing = ?row.missing,
        due_at = ?row.due_at,
        "a record was not where its facts say; it is written again"
    );
    let locked = engine.lock(key.clone()).await;
    let decide = || async {
        let snapshot = locked.look(Load::records(partition, [key.clone()])).await?;
        let Some((record, _)) = snapshot.records.get(&key) else {
            return Ok(Decision::unchanged(snapshot, 0));
        };
        let decided = rewrite(record);
        Ok(Decision::Commit(snapshot, decided.map(|()| 1)))
    };
    engine.shared.pump.audits.add_repaired(locked.transact(decide).await?);
    Ok(())
}

impl Audits {
    /// Index entries and counters that were found wrong and written anew.
    pub(super) fn repaired(&self) -> u64 {
        self.repaired.load(Ordering::Relaxed)
    }

    fn add_repaired(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.repaired.fetch_add(count, Ordering::Relaxed);
    }

    fn position(&self) -> SamplePosition {
        self.position.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn move_to(&self, position: SamplePosition) {
        *self.position.lock().unwrap_or_else(PoisonError::into_inner) = position;
    }
}

fn rewrite(record: &Record) -> Decided<()> {
    let mut draft = Draft::default();
    draft.writes.push(Write::Again(record.clone()));
    Decided { outcome: (), draft }
}

/// Whether a record is in another queue than its facts say, due at another moment, or missing in a list.
fn has_drifted(row: &AuditRow) -> bool {
    row.queue != queue_of(&row.record) || row.due_at != due_at(&row.record) || !row.missing.is_empty()
}

//! What is due is answered out of order, incompletely or beyond what was asked.

use async_trait::async_trait;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_backend::layer::Layer;
use ff_backend::load::Load;
use ff_backend::query::{Page, Query, Rows};
use ff_backend::{Backend, Result};
use ff_core::machine::placement::due_at;
use ff_core::record::{Execution, Record};

use crate::liar::lies;

lies! {
    ();
    /// Nobody is told when the next thing is due.
    DueForgetsNext,
    /// Everything is due since just now.
    DueSinceNow,
    /// What is due elsewhere is answered too.
    DueEverywhere,
    /// What is due is answered backwards.
    DueUnordered,
    /// All that is due is answered.
    DueIgnoresLimit,
    /// Nudges are not due.
    DueForgetsNudges,
    /// A lease or grant has no timer.
    ReserveForgetsDue,
    /// An account that somebody must look at is never due.
    AccountForgetsDue,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn due(&self, mut ask: Due) -> Result<DuePage> {
        match self.lie {
            Lie::DueEverywhere => ask.partitions = crate::liar::partitions(),
            Lie::DueIgnoresLimit => ask.limit = usize::MAX,
            _ => {}
        }
        let mut page = self.inner().due(ask).await?;
        for item in std::mem::take(&mut page.items) {
            if !self.hides(&item).await {
                page.items.push(item);
            }
        }
        match self.lie {
            Lie::DueForgetsNext => page.next = None,
            Lie::DueSinceNow => page.items.iter_mut().for_each(|item| item.due_at = page.now),
            Lie::DueUnordered => page.items.reverse(),
            _ => {}
        }
        Ok(page)
    }

    async fn list(&self, query: Query) -> Result<Page> {
        let mut page = self.inner().list(query).await?;
        if let (Lie::ReserveForgetsDue, Rows::Audit(rows)) = (self.lie, &mut page.rows) {
            let handed_out = rows.iter_mut().filter(|row| is_handed_out(&row.record));
            handed_out.for_each(|row| row.due_at = None);
        }
        Ok(page)
    }
}

impl Liar {
    async fn hides(&self, item: &DueItem) -> bool {
        let key = match &item.key {
            DueKey::Record(key) => key,
            DueKey::Account(_) => return self.lie == Lie::AccountForgetsDue,
        };
        let snapshot = self.honest.load_one(Load::records(item.partition, [key.clone()])).await;
        let Some((record, _)) = snapshot.records.get(key) else {
            return false;
        };
        let has_come = || due_at(record).is_some_and(|at| at.has_come(snapshot.now));
        match self.lie {
            Lie::DueForgetsNudges => snapshot.nudges.contains_key(key) && !has_come(),
            Lie::ReserveForgetsDue => is_handed_out(record),
            _ => false,
        }
    }
}

fn is_handed_out(record: &Record) -> bool {
    let is_taken = |execution: &Execution| execution.lease().is_some() || execution.grant().is_some();
    matches!(record, Record::Execution(execution) if is_taken(execution))
}

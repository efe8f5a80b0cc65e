//! Deciding about executions as a listing showed them: one reading for many.

use ff_backend::load::Snapshot;
use ff_backend::query::Page;
use ff_backend::transaction::Version;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::machine::{Context, Decided};
use ff_core::record::{Execution, Record, RecordKey};
use ff_core::time::Timestamp;
use futures::future::join_all;

use crate::engine::Engine;
use crate::transact::Decision;

/// Executions of one page.
pub(super) const CHUNK: usize = 64;

/// An execution as a listing showed it.
pub(super) struct Listed {
    pub(super) execution: Execution,
    version: Version,
    now: Timestamp,
}

pub(super) fn listed(page: Page) -> Vec<Listed> {
    let now = page.now;
    let rows = page.executions().into_iter();
    rows.map(|(execution, version)| Listed {
        execution,
        version,
        now,
    })
    .collect()
}

impl Listed {
    fn snapshot(self) -> Snapshot {
        let id = self.execution.id;
        let mut snapshot = Snapshot::empty(id.partition(), self.now);
        let record = (Record::from(self.execution), self.version);
        snapshot.records.insert(RecordKey::Execution(id), record);
        snapshot
    }

    /// Decides about it, and again from a fresh reading if it has changed since. `None`: it is gone.
    ///
    /// A listing shows no gates. A rule that guards on one finds it changed, and then decides with it.
    async fn change<O: Send>(
        self,
        engine: &Engine,
        rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
    ) -> Result<Option<O>> {
        let id = self.execution.id;
        let key = RecordKey::Execution(id);
        let locked = engine.lock(key.clone()).await.starting_from(Some(self.snapshot()));
        let decide = || async {
            let snapshot = locked.look(Engine::load_of(id)).await?;
            let Some(execution) = snapshot.execution(&key) else {
                return Ok(Decision::unchanged(snapshot, None));
            };
            let decided = match rule(execution, &engine.context_of(&snapshot, execution)) {
                Err(refusal) if refusal.code == Code::ExecutionNotFound => Decided::unchanged(None),
                decided => decided?.map(Some),
            };
            Ok(Decision::Commit(snapshot, decided))
        };
        locked.transact(decide).await
    }
}

/// Decides about all of them at the same time, so that they share commits. Every one is tried, whatever becomes of the
/// others; answered in order.
pub(super) async fn change_all<O: Send>(
    engine: &Engine,
    all: Vec<Listed>,
    rule: impl Fn(&Execution, &Context) -> Result<Decided<O>> + Send + Sync,
) -> Vec<Result<Option<O>>> {
    let rule = &rule;
    let changes = all.into_iter().map(|listed| listed.change(engine, rule));
    join_all(changes).await
}

//! A client that looks at what was submitted, whoever submitted it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_core::error::Code;
use ff_core::fabric::Fabric as _;
use ff_engine::Engine;

use crate::insist::insist;
use crate::ledger::Ledger;
use crate::luck::Luck;

/// Reads until writers stop.
pub(crate) async fn read(engine: Engine, ledger: Arc<Ledger>, mut luck: Luck) {
    while !ledger.writers_stop.load(Ordering::Relaxed) {
        luck.pause(2..15).await;
        let Some(id) = ledger.any_submitted(&mut luck) else {
            continue;
        };
        let (answer, span) = insist(&ledger, || engine.get_state(id)).await;
        ledger.reads.fetch_add(1, Ordering::Relaxed);
        match answer {
            Ok(_) => {}
            Err(rejection) if rejection.code == Code::ExecutionNotFound => ledger.note_missed(id, span),
            Err(rejection) => ledger.note_oddity("a reading", Some(id), &rejection),
        }
    }
}

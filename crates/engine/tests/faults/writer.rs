//! A client that submits, under ids of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric as _;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_engine::Engine;

use crate::insist::insist;
use crate::ledger::Ledger;
use crate::luck::Luck;

/// Executions that may be open before writers wait for workers.
const OPEN_MAX: u64 = 300;

/// Submits until it is told to stop.
pub(crate) async fn write(engine: Engine, ledger: Arc<Ledger>, mut luck: Luck) {
    let kind = ExecutionKind::parse("fault").unwrap();
    while !ledger.writers_stop.load(Ordering::Relaxed) {
        luck.pause(5..25).await;
        if ledger.open() >= OPEN_MAX {
            continue;
        }
        let uuid = uuid::Uuid::now_v7();
        let id = ExecutionId::new(PartitionCounts::default().of_execution_uuid(uuid).index, uuid);
        let command = CreateExecution {
            execution_id: Some(id),
            ..CreateExecution::new(kind.clone(), Payload::binary(vec![7; 100]))
        };
        // One that was there before is this very one: its id is ours.
        match insist(&ledger, || engine.create_execution(command.clone())).await {
            (Ok(_), span) => ledger.note_submitted(id, span),
            (Err(rejection), _) => ledger.note_oddity("a submission", Some(id), &rejection),
        }
    }
}

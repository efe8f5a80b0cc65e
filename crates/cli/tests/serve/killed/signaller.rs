//! A client that answers what workers wait for.

use std::sync::Arc;

use ff_core::command::signal::{DeliverSignal, Delivered, SendSignal};
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, SignalId};
use ff_core::name::{Identity, SignalName};
use ff_core::payload::Payload;
use ff_sdk::{Fabric, Remote};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::ledger::Ledger;
use crate::luck::Luck;

/// Where a suspended execution waits.
pub(crate) type Waiting = (ExecutionId, IssuedWaitpoint);

/// Sends a signal to everything that waits, until there are no workers left.
pub(crate) async fn send_signals(
    client: Remote,
    ledger: Arc<Ledger>,
    mut waiting: UnboundedReceiver<Waiting>,
    mut luck: Luck,
) {
    let mut sending = JoinSet::new();
    while let Some(waiting) = waiting.recv().await {
        let (client, ledger, mut own) = (client.clone(), Arc::clone(&ledger), luck.clone());
        let twice = luck.below(3) == 0;
        sending.spawn(async move {
            own.pause(0..50).await;
            send(&client, &ledger, waiting, twice).await;
        });
    }
    while sending.join_next().await.transpose().unwrap().is_some() {}
}

/// Some senders are not sure, and send theirs again.
async fn send(client: &Remote, ledger: &Ledger, (id, waitpoint): Waiting, twice: bool) {
    let signal_id = SignalId::from_uuid(Uuid::now_v7());
    let signal = SendSignal {
        waitpoint_token: waitpoint.token,
        signal: DeliverSignal {
            waitpoint_id: waitpoint.waitpoint_id,
            signal_id: Some(signal_id),
            signal_name: SignalName::parse("answer").unwrap(),
            category: "event".to_owned(),
            source_type: "external".to_owned(),
            source_identity: Identity::anonymous(),
            payload: Payload::binary(signal_id.to_string()),
            idempotency_key: None,
            correlation_id: None,
        },
    };
    let command = On::new(id, signal);
    match client.deliver_signal(command.clone()).await {
        Ok(Delivered::Accepted { signal_id: kept, .. }) if kept == signal_id => ledger.note_signal(id, signal_id),
        Ok(Delivered::Duplicate { existing_signal_id }) if existing_signal_id == signal_id => {
            ledger.note_repeated();
            ledger.note_signal(id, signal_id);
        }
        other => ledger.note_oddity("a signal", format_args!("{id}: {other:?}")),
    }
    if !twice {
        return;
    }
    match client.deliver_signal(command).await {
        Ok(Delivered::Duplicate { existing_signal_id }) if existing_signal_id == signal_id => ledger.note_answer(),
        other => ledger.note_oddity("a repeated signal", format_args!("{id}: {other:?}")),
    }
}

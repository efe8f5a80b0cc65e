//! A client that answers what workers wait for.

use std::sync::Arc;
use std::time::Instant;

use ff_core::command::signal::{DeliverSignal, Delivered, SendSignal};
use ff_core::command::waitpoint::IssuedWaitpoint;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, SignalId};
use ff_core::name::{Identity, SignalName};
use ff_core::payload::Payload;
use ff_sdk::{Fabric, Remote};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::ledger::Ledger;
use super::told::{Sent, When};
use crate::luck::Luck;

/// Where a suspended execution waits.
pub(crate) struct Waiting {
    pub(crate) id: ExecutionId,
    pub(crate) waitpoint: IssuedWaitpoint,
    /// When its worker asked for that.
    pub(crate) asked: Instant,
}

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

/// Sends every signal again that was sent before the store was restored: what it has lost of them is there again then.
pub(crate) async fn send_again(client: &Remote, ledger: &Ledger) {
    let sent = ledger.told().signals;
    for sent in sent.into_iter().filter(|sent| ledger.may_be_forgotten(sent.when.asked)) {
        let asked = Instant::now();
        match client.deliver_signal(signal(&sent)).await {
            Ok(Delivered::Accepted { signal_id, .. }) if signal_id == sent.signal_id => {
                let when = When::since(asked);
                ledger.note_signal(Sent { when, ..sent });
            }
            Ok(Delivered::Duplicate { existing_signal_id, .. }) if existing_signal_id == sent.signal_id => {
                ledger.note_answer();
            }
            Err(refusal) if is_unknown(&refusal) => ledger.note_answer(),
            other => ledger.note_oddity("a signal that was sent again", format_args!("{}: {other:?}", sent.id)),
        }
    }
}

/// Some senders are not sure, and send theirs again.
async fn send(client: &Remote, ledger: &Ledger, waiting: Waiting, twice: bool) {
    let is_forgotten = |refusal: &Rejection| ledger.may_be_forgotten(waiting.asked) && is_unknown(refusal);
    let id = waiting.id;
    let first = Sent {
        id,
        signal_id: SignalId::from_uuid(Uuid::now_v7()),
        waitpoint: waiting.waitpoint,
        when: When::since(Instant::now()),
    };
    let answer = client.deliver_signal(signal(&first)).await;
    let sent = Sent {
        when: When::since(first.when.asked),
        ..first
    };
    match answer {
        Ok(Delivered::Accepted { signal_id: kept, .. }) if kept == sent.signal_id => ledger.note_signal(sent.clone()),
        Ok(Delivered::Duplicate { existing_signal_id, .. }) if existing_signal_id == sent.signal_id => {
            ledger.note_repeated();
            ledger.note_signal(sent.clone());
        }
        Err(refusal) if is_forgotten(&refusal) => ledger.note_answer(),
        other => ledger.note_oddity("a signal", format_args!("{id}: {other:?}")),
    }
    if !twice {
        return;
    }
    let asked = Instant::now();
    match client.deliver_signal(signal(&sent)).await {
        Ok(Delivered::Duplicate { existing_signal_id, .. }) if existing_signal_id == sent.signal_id => {
            ledger.note_answer();
        }
        Ok(Delivered::Accepted { signal_id: kept, .. })
            if kept == sent.signal_id && ledger.may_be_forgotten(sent.when.asked) =>
        {
            let when = When::since(asked);
            ledger.note_signal(Sent { when, ..sent });
        }
        Err(refusal) if is_forgotten(&refusal) => ledger.note_answer(),
        other => ledger.note_oddity("a repeated signal", format_args!("{id}: {other:?}")),
    }
}

/// Whether there is no such execution, or no such waitpoint of it: a token opens nothing then.
fn is_unknown(refusal: &Rejection) -> bool {
    matches!(refusal.code, Code::ExecutionNotFound | Code::InvalidToken)
}

fn signal(sent: &Sent) -> On<ExecutionId, SendSignal> {
    let signal = SendSignal {
        waitpoint_token: sent.waitpoint.token.clone(),
        signal: DeliverSignal {
            waitpoint_id: sent.waitpoint.waitpoint_id,
            signal_id: Some(sent.signal_id),
            signal_name: SignalName::parse("answer").unwrap(),
            category: "event".to_owned(),
            source_type: "external".to_owned(),
            source_identity: Identity::anonymous(),
            payload: Payload::binary(sent.signal_id.to_string()),
            idempotency_key: None,
            correlation_id: None,
        },
    };
    On::new(sent.id, signal)
}

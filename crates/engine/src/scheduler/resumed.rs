//! What ended the last suspension of a task, with what came with the signals.

use ff_backend::load::Load;
use ff_core::command::claim::ResumedWith;
use ff_core::fabric::Result;
use ff_core::record::{BlobKey, Execution, Record, RecordKey, Resumed, Signal};
use ff_core::view::SignalView;

use crate::engine::Engine;

/// Bytes of signal payloads read in one call.
const SIGNAL_BYTES_PER_LOAD: u64 = 8 * 1024 * 1024;

/// What a continuing task is told; the journal has the signals of a step. A signal whose record is gone is left out.
pub(super) async fn read(engine: &Engine, execution: &Execution) -> Result<Option<ResumedWith>> {
    let Some(resumed) = &execution.resumed else {
        return Ok(None);
    };
    let signals = signals_that_counted(engine, execution, resumed).await?;
    let mut with_payloads = Vec::new();
    for part in in_parts(signals) {
        with_payloads.extend(payloads_of_signals(engine, execution, part).await?);
    }
    Ok(Some(ResumedWith {
        by: resumed.by,
        signals: with_payloads,
    }))
}

async fn signals_that_counted(engine: &Engine, execution: &Execution, resumed: &Resumed) -> Result<Vec<Signal>> {
    if resumed.step_seq.is_some() || resumed.signals.is_empty() {
        return Ok(Vec::new());
    }
    let key = |id| RecordKey::Signal(execution.id, id);
    let keys: Vec<RecordKey> = resumed.signals.iter().copied().map(key).collect();
    let load = Load::records(execution.id.partition(), keys.clone());
    let mut found = engine.store().load(load).await?;
    let signal = |key| match found.records.remove(&key) {
        Some((Record::Signal(signal), _)) => Some(*signal),
        _ => None,
    };
    Ok(keys.into_iter().filter_map(signal).collect())
}

/// Signals with their payloads; one that came with nothing, as that of a timeout, has an empty one.
async fn payloads_of_signals(engine: &Engine, execution: &Execution, signals: Vec<Signal>) -> Result<Vec<SignalView>> {
    let blob = |signal: &Signal| BlobKey::Signal(execution.id, signal.id);
    let load = Load::records(execution.id.partition(), []).with_blobs(signals.iter().map(blob));
    let mut found = engine.store().load(load).await?;
    let with_payload = |signal: Signal| {
        let payload = found.blobs.remove(&blob(&signal)).unwrap_or_default();
        SignalView { signal, payload }
    };
    Ok(signals.into_iter().map(with_payload).collect())
}

/// The same signals, in parts whose payloads fit into one reply.
fn in_parts(signals: Vec<Signal>) -> Vec<Vec<Signal>> {
    let mut parts: Vec<Vec<Signal>> = Vec::new();
    let mut room = 0;
    for signal in signals {
        let bytes = signal.payload_bytes;
        match parts.last_mut().filter(|_| bytes <= room) {
            Some(part) => {
                part.push(signal);
                room -= bytes;
            }
            None => {
                parts.push(vec![signal]);
                room = SIGNAL_BYTES_PER_LOAD.saturating_sub(bytes);
            }
        }
    }
    parts
}

//! Signals, waitpoints, approvals and the keys that sign for them.
//!
//! | file | operations |
//! |---|---|
//! | here | list_signals, resume_execution, waitpoints and their tokens, the signing keys |
//! | `deliver` | deliver_signal, approve, reject |
//! | `approvals` | approvals |

mod approvals;
mod deliver;

pub(crate) use approvals::approvals;
pub(crate) use deliver::{approve, deliver_signal, reject};

use ff_backend::load::Load;
use ff_backend::query::{Cursor, Range};
use ff_core::command::page::{Page, PageRequest};
use ff_core::command::signal::{ResumeExecution, ResumeOutcome};
use ff_core::command::waitpoint::{OpenWaitpoint, ReadToken, ReadWaitpointToken};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::keyring::{RotateWaitpointSecret, Rotated};
use ff_core::machine::index::{Index, Order};
use ff_core::machine::{resume, waitpoint};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, RecordKey, Signal};
use ff_core::view::SignalView;

use crate::directory::keys;
use crate::engine::{Engine, no_execution};

/// Payloads of one page of signals; at least one signal is handed out.
const PAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub(crate) async fn list_signals(engine: &Engine, request: On<ExecutionId, PageRequest>) -> Result<Page<SignalView>> {
    let On { id, command: page } = request;
    let limit = page.limit()?;
    engine.visible(&engine.read_execution(id).await?, id)?;
    let scope = format!("signals/{id}");
    let after = engine.open_cursor(&page, &scope).await?;
    let (signals, next) = signals_that_fit(engine, id, after, limit).await?;
    Ok(Page {
        items: with_payloads(engine, id, signals).await?,
        next: engine.sign_cursor(next, &scope).await?,
    })
}

pub(crate) async fn resume_execution(
    engine: &Engine,
    command: On<ExecutionId, ResumeExecution>,
) -> Result<ResumeOutcome> {
    let On { id, command } = command;
    engine
        .change(id, |execution, context| {
            resume::resume_execution(execution, &command, context)
        })
        .await
}

pub(crate) async fn list_pending_waitpoints(engine: &Engine, id: ExecutionId) -> Result<Vec<OpenWaitpoint>> {
    let snapshot = engine.read_execution(id).await?;
    let execution = engine.visible(&snapshot, id)?;
    let ring = keys::ring(engine).await?;
    Ok(waitpoint::list_open(execution, ring.current_kid(), snapshot.now))
}

pub(crate) async fn read_waitpoint_token(
    engine: &Engine,
    request: On<ExecutionId, ReadWaitpointToken>,
) -> Result<ReadToken> {
    let On { id, command } = request;
    engine.check_id(id)?;
    let key = RecordKey::Waitpoint(id, command.waitpoint_id);
    let load = Load::records(id.partition(), [RecordKey::Execution(id), key.clone()]);
    let snapshot = engine.store().load(load).await?;
    let execution = engine.visible(&snapshot, id)?;
    let found = waitpoint::known(snapshot.waitpoint(&key))?;
    let waitpoint_token = waitpoint::read_token(found, execution, &*keys::ring(engine).await?, snapshot.now)?;
    Ok(ReadToken { waitpoint_token })
}

pub(crate) async fn rotate_waitpoint_secret(engine: &Engine, command: RotateWaitpointSecret) -> Result<Rotated> {
    if engine.caller.namespace.is_some() {
        return Err(Code::Forbidden.because("the signing keys belong to every namespace; this key reaches only one"));
    }
    keys::rotate(engine, &command).await
}

/// A page of signals that is not too large with their payloads, and where it goes on.
async fn signals_that_fit(
    engine: &Engine,
    id: ExecutionId,
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<Signal>, Option<Cursor>)> {
    let listed = engine.range(Index::Signals(id));
    let mut page = engine.store().list(listed, after, limit).await?;
    let next = page.next.take();
    let mut signals: Vec<Signal> = page.signals().into_iter().map(|(signal, _)| signal).collect();
    let fitting = fitting(&signals);
    if fitting == signals.len() {
        return Ok((signals, next));
    }
    signals.truncate(fitting);
    let last = signals.last().map(|last| Order::first(last.id.uuid()));
    Ok((signals, last.as_ref().map(Range::cursor)))
}

async fn with_payloads(engine: &Engine, id: ExecutionId, signals: Vec<Signal>) -> Result<Vec<SignalView>> {
    let key = |signal: &Signal| BlobKey::Signal(id, signal.id);
    let load = Load::records(id.partition(), []).with_blobs(signals.iter().map(key));
    let mut snapshot = engine.store().load(load).await?;
    let view = |signal: Signal| {
        let payload = match snapshot.blobs.remove(&key(&signal)) {
            Some(payload) => payload,
            // The engine's own signals bring nothing.
            None if signal.payload_bytes == 0 => Payload::default(),
            // It was there a moment ago: the execution is being deleted.
            None => return Err(no_execution(id)),
        };
        Ok(SignalView { signal, payload })
    };
    signals.into_iter().map(view).collect()
}

/// How many of these fit into one page, at least one of those there are.
fn fitting(signals: &[Signal]) -> usize {
    let mut bytes = 0;
    let fits = |signal: &&Signal| {
        bytes += signal.payload_bytes;
        bytes <= PAGE_BYTES_MAX
    };
    signals.iter().take_while(fits).count().max(1).min(signals.len())
}

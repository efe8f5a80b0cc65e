//! suspend and create_pending_waitpoint: waitpoints, and the tokens that open them.

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::Page;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::keyring::KeyRing;
use ff_core::machine::Draft;
use ff_core::machine::decided::Write;
use ff_core::machine::index::Index;
use ff_core::machine::suspend::{self, Early, SuspendOutcome};
use ff_core::machine::waitpoint::{claims, create_pending};
use ff_core::record::{PendingWaitpoint, Record, RecordKey, Signal, Waitpoint, WaitpointRef};
use ff_core::time::Timestamp;
use ff_core::token::{Callback, WaitpointToken};
use futures::future::try_join_all;

use super::Held;
use crate::directory::keys;
use crate::engine::Engine;
use crate::transact::Decision;

/// The keys come first: a suspension nobody could signal must not begin.
pub(crate) async fn suspend(engine: &Engine, command: On<ExecutionId, Suspend>) -> Result<SuspendedTask> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let ring = keys::ring(engine).await?;
    Ok(match suspend_once(engine, id, &command).await? {
        SuspendOutcome::Suspended {
            suspension_id,
            waitpoints,
        } => SuspendedTask::Suspended {
            suspension_id,
            waitpoints: waitpoints.iter().map(|used| issue(&ring, id, used, None)).collect(),
        },
        SuspendOutcome::AlreadySatisfied { signals, step_seq } => SuspendedTask::AlreadySatisfied { signals, step_seq },
        SuspendOutcome::Cancelled => SuspendedTask::Cancelled,
    })
}

async fn suspend_once(engine: &Engine, id: ExecutionId, command: &Suspend) -> Result<SuspendOutcome> {
    let uses_pending = pending_ids(command).next().is_some();
    let held = Held::recording(engine, id, &command.steps, command.step.as_ref()).await?;
    let locked = match uses_pending {
        // Its pending waitpoints are remembered nowhere.
        true => engine.lock(RecordKey::Execution(id)).await,
        false => engine.lock_remembered(id).await,
    };
    let decide = || async {
        let snapshot = locked.look(with_waitpoints(held.load(), id, command)).await?;
        let execution = engine.visible(&snapshot, id)?;
        let waitpoints = pending_waitpoints(id, command, &snapshot);
        let Some(signals) = read_buffered(engine, &waitpoints).await? else {
            return Ok(Decision::Undecided);
        };
        let early = Early {
            waitpoints: &waitpoints,
            signals: &signals,
        };
        let decided = suspend::suspend(execution, command, early, &held.context(engine, &snapshot, execution))?;
        check_fresh(&decided.draft, &snapshot)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// The signals that arrived early. They never change, and one that comes after this makes the commit conflict on its
/// waitpoint; so they may be read after the waitpoints. `None`: a failover took one that the waitpoint still counted.
async fn read_buffered(engine: &Engine, waitpoints: &[Waitpoint]) -> Result<Option<Vec<Signal>>> {
    let used = waitpoints.iter().filter(|waitpoint| waitpoint.buffered > 0);
    let signals = try_join_all(used.map(|waitpoint| buffered_at(engine, waitpoint))).await?;
    Ok(signals
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .map(|signals| signals.concat()))
}

async fn buffered_at(engine: &Engine, waitpoint: &Waitpoint) -> Result<Option<Vec<Signal>>> {
    let of = engine.range(Index::Buffered(waitpoint.execution_id, waitpoint.id));
    let signals = engine.store().list_all(of, Page::signals).await?;
    let mut signals: Vec<Signal> = signals.into_iter().map(|(signal, _)| signal).collect();
    signals.retain(|signal| signal.buffered_after.is_some_and(|before| before < waitpoint.buffered));
    let all = signals.len() as u64 == waitpoint.buffered;
    Ok(all.then_some(signals))
}

/// Hands out a waitpoint before suspending.
pub(crate) async fn create_pending_waitpoint(
    engine: &Engine,
    command: On<ExecutionId, CreatePendingWaitpoint>,
) -> Result<IssuedWaitpoint> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let ring = keys::ring(engine).await?;
    let pending = create_pending_once(engine, id, &command).await?;
    Ok(issue(&ring, id, &pending.waitpoint, Some(pending.expires_at)))
}

async fn create_pending_once(
    engine: &Engine,
    id: ExecutionId,
    command: &CreatePendingWaitpoint,
) -> Result<PendingWaitpoint> {
    let waitpoint_id = match command.waitpoint_id() {
        Some(waitpoint_id) => waitpoint_id,
        None => WaitpointId::from_uuid(engine.mint(engine.store_time().await?)),
    };
    let mut load = Engine::load_of(id);
    load.records.push(RecordKey::Waitpoint(id, waitpoint_id));
    let locked = engine.lock_remembered(id).await;
    let decide = || async {
        let snapshot = locked.look(load.clone()).await?;
        let execution = engine.visible(&snapshot, id)?;
        let context = Held::from(id).context(engine, &snapshot, execution);
        let decided = create_pending(execution, command, waitpoint_id, &context)?;
        check_fresh(&decided.draft, &snapshot)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// The same with every waitpoint the suspend names: those it uses, and those that should not be there yet.
fn with_waitpoints(mut load: Load, id: ExecutionId, command: &Suspend) -> Load {
    let named = command.waitpoint_ids();
    load.records
        .extend(named.map(|waitpoint| RecordKey::Waitpoint(id, waitpoint)));
    load
}

fn pending_ids(command: &Suspend) -> impl Iterator<Item = WaitpointId> {
    command.waitpoints.iter().filter_map(|choice| match choice {
        WaitpointChoice::UsePending { waitpoint_id } => Some(*waitpoint_id),
        WaitpointChoice::Fresh { .. } => None,
    })
}

fn pending_waitpoints(id: ExecutionId, command: &Suspend, snapshot: &Snapshot) -> Vec<Waitpoint> {
    let keys = pending_ids(command).map(|waitpoint| RecordKey::Waitpoint(id, waitpoint));
    keys.filter_map(|key| snapshot.waitpoint(&key).cloned()).collect()
}

/// Refuses to make a waitpoint under an id that has one: trying again would never help.
fn check_fresh(draft: &Draft, snapshot: &Snapshot) -> Result<()> {
    let taken = draft.writes.iter().find_map(|write| match write {
        Write::Create {
            record: Record::Waitpoint(waitpoint),
            ..
        } => snapshot.waitpoint(&RecordKey::Waitpoint(waitpoint.execution_id, waitpoint.id)),
        _ => None,
    });
    match taken {
        None => Ok(()),
        Some(taken) => Err(Code::WaitpointAlreadyExists
            .because(format!(
                "waitpoint {} exists already; ids of new ones must be fresh",
                taken.id
            ))
            .with("waitpoint_id", taken.id.to_string())),
    }
}

/// A waitpoint with the token that opens it.
fn issue(
    ring: &KeyRing,
    execution_id: ExecutionId,
    waitpoint: &WaitpointRef,
    expires_at: Option<Timestamp>,
) -> IssuedWaitpoint {
    let callback = Callback {
        execution_id,
        waitpoint_id: waitpoint.id,
        token: WaitpointToken::mint(ring, &claims(execution_id, waitpoint)),
    };
    IssuedWaitpoint {
        waitpoint_id: waitpoint.id,
        waitpoint_key: waitpoint.key.clone(),
        expires_at,
        callback_path: callback.path(),
        token: callback.token,
    }
}

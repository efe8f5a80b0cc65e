//! deliver_signal, approve, reject: a signal arrives at a waitpoint.

use ff_backend::load::{Load, Snapshot};
use ff_core::command::signal::{Decide, Delivered, SendSignal, Verdict};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::index::Index;
use ff_core::machine::signal::{Target, authenticate};
use ff_core::machine::{Context, Decided, approval, signal, waitpoint};
use ff_core::name::IdempotencyKey;
use ff_core::record::{CounterKey, Execution, Record, RecordKey, Signal, SignalKeyRecord, Waitpoint};
use ff_core::token::WaitpointToken;

use crate::directory::keys;
use crate::engine::Engine;
use crate::transact::Decision;

/// The records a signal is about.
struct Address {
    execution: ExecutionId,
    waitpoint: RecordKey,
    signal: SignalId,
    /// Nobody but this call knows the id of the signal.
    minted: bool,
    signal_key: Option<RecordKey>,
}

impl Address {
    /// The address of a signal with a fresh id.
    async fn fresh(
        engine: &Engine,
        execution: ExecutionId,
        waitpoint: WaitpointId,
        key: Option<&IdempotencyKey>,
    ) -> Result<Self> {
        Ok(Self {
            execution,
            waitpoint: RecordKey::Waitpoint(execution, waitpoint),
            signal: SignalId::from_uuid(engine.mint(engine.store_time().await?)),
            minted: true,
            signal_key: key.map(|key| RecordKey::SignalKey(execution, key.clone())),
        })
    }

    /// The same with the id its sender gave it.
    fn given(self, signal: SignalId) -> Self {
        let minted = false;
        Self { signal, minted, ..self }
    }

    fn load(&self) -> Load {
        let keys = [
            Some(RecordKey::Execution(self.execution)),
            Some(self.waitpoint.clone()),
            Some(RecordKey::Signal(self.execution, self.signal)),
            self.signal_key.clone(),
        ];
        let keys: Vec<RecordKey> = keys.into_iter().flatten().collect();
        Load::records(self.execution.partition(), keys)
            .with_gates()
            .with_counters([CounterKey::BufferedSignals(self.execution)])
    }

    fn target<'s>(&self, snapshot: &'s Snapshot, execution: &'s Execution, waitpoint: &'s Waitpoint) -> Target<'s> {
        let buffered = snapshot.counter(CounterKey::BufferedSignals(self.execution));
        Target {
            execution,
            waitpoint,
            signal_id: self.signal,
            same_id: self.same_id(snapshot),
            same_key: self.same_key(snapshot),
            buffered_signals: u64::try_from(buffered).unwrap_or(0),
        }
    }

    /// What the caller is told. A signal found under an id nobody else knows is this call's own, whose reply was lost.
    fn told(&self, delivered: Delivered, snapshot: &Snapshot) -> Delivered {
        match (delivered, self.same_id(snapshot).filter(|_| self.minted)) {
            (Delivered::Duplicate { .. }, Some(own)) => Delivered::Accepted {
                signal_id: own.id,
                effect: own.effect,
            },
            (delivered, _) => delivered,
        }
    }

    fn same_id<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s Signal> {
        match snapshot.records.get(&RecordKey::Signal(self.execution, self.signal)) {
            Some((Record::Signal(signal), _)) => Some(&**signal),
            _ => None,
        }
    }

    fn same_key<'s>(&self, snapshot: &'s Snapshot) -> Option<&'s SignalKeyRecord> {
        match snapshot.records.get(self.signal_key.as_ref()?) {
            Some((Record::SignalKey(record), _)) => Some(record),
            _ => None,
        }
    }
}

pub(crate) async fn deliver_signal(engine: &Engine, command: On<ExecutionId, SendSignal>) -> Result<Delivered> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let sent = &command.signal;
    let address = Address::fresh(engine, id, sent.waitpoint_id, sent.idempotency_key.as_ref()).await?;
    let address = match sent.signal_id {
        Some(signal_id) => address.given(signal_id),
        None => address,
    };
    let snapshot = engine.store().load(address.load()).await?;
    open_with(engine, &command.waitpoint_token, &snapshot, &address).await?;
    commit_signal(engine, snapshot, &address, |target, context| {
        signal::deliver(target, sent, context)
    })
    .await
}

pub(crate) async fn approve(engine: &Engine, command: On<ExecutionId, Decide>) -> Result<Delivered> {
    decide(engine, Verdict::Approve, command).await
}

pub(crate) async fn reject(engine: &Engine, command: On<ExecutionId, Decide>) -> Result<Delivered> {
    decide(engine, Verdict::Reject, command).await
}

async fn decide(engine: &Engine, verdict: Verdict, decision: On<ExecutionId, Decide>) -> Result<Delivered> {
    let On { id, command } = decision;
    engine.check_id(id)?;
    let key = command.idempotency_key.as_ref();
    let address = Address::fresh(engine, id, command.waitpoint_id, key).await?;
    let snapshot = engine.store().load(address.load()).await?;
    let rule = |target: Target<'_>, context: &Context| approval::decide(target, verdict, &command, context);
    match commit_signal(engine, snapshot, &address, rule).await {
        Ok(Delivered::Duplicate { existing_signal_id, .. }) => same_decision(engine, id, existing_signal_id).await,
        Err(late) if matches!(late.code, Code::WaitpointClosed | Code::TargetNotSignalable) => {
            let decided = decided_before(engine, id, command.waitpoint_id).await?;
            decided.ok_or(late)
        }
        delivered => delivered,
    }
}

/// What a decision was that is made again.
async fn same_decision(engine: &Engine, id: ExecutionId, first: SignalId) -> Result<Delivered> {
    let key = RecordKey::Signal(id, first);
    let snapshot = engine
        .store()
        .load(Load::records(id.partition(), [key.clone()]))
        .await?;
    // It may be gone with its execution by now.
    let found = snapshot.signal(&key).map(approval::same_decision);
    Ok(found.unwrap_or_else(|| Delivered::before(first)))
}

/// What was decided at a waitpoint whose wait is over, if a person ended it.
async fn decided_before(engine: &Engine, id: ExecutionId, waitpoint: WaitpointId) -> Result<Option<Delivered>> {
    let signals = engine.range(Index::Signals(id));
    let is_there = |record: &Record| matches!(record, Record::Signal(signal) if signal.waitpoint_id == Some(waitpoint));
    let found = engine.matching(signals, None, PAGE_MAX, is_there).await?;
    let signals = found.rows.iter().filter_map(|(record, _)| match record {
        Record::Signal(signal) => Some(&**signal),
        _ => None,
    });
    Ok(approval::decided_before(signals, waitpoint))
}

/// Refuses whoever cannot show the token of the waitpoint, before anything about it or its execution shows: an
/// execution that is not there, or not for this caller, has no waitpoints.
async fn open_with(engine: &Engine, token: &WaitpointToken, snapshot: &Snapshot, address: &Address) -> Result<()> {
    let (ring, now) = keys::ring_for(engine, token.kid()).await?;
    let execution = engine.visible(snapshot, address.execution).ok();
    let found = execution.and_then(|_| snapshot.waitpoint(&address.waitpoint));
    authenticate(found, token, &ring, now).map(|_| ())
}

/// Delivers, from what was read on: the first decision waits for no second reading. What a token vouches for never
/// changes, so it is not looked at again.
async fn commit_signal(
    engine: &Engine,
    snapshot: Snapshot,
    address: &Address,
    rule: impl Fn(Target<'_>, &Context) -> Result<Decided<Delivered>> + Send + Sync,
) -> Result<Delivered> {
    let locked = engine.lock(RecordKey::Execution(address.execution)).await;
    let locked = locked.starting_from(Some(snapshot));
    let decide = || async {
        let snapshot = locked.look(address.load()).await?;
        let execution = engine.visible(&snapshot, address.execution)?;
        let found = waitpoint::known(snapshot.waitpoint(&address.waitpoint))?;
        let target = address.target(&snapshot, execution, found);
        let decided = rule(target, &engine.context_of(&snapshot, execution))?;
        let decided = decided.map(|delivered| address.told(delivered, &snapshot));
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

//! A store whose calls fail as scripted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ff_backend::frames::{Append, AppendError, Appended};
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::load::{Load, Snapshot};
use ff_backend::memory::MemoryBackend;
use ff_backend::reserve::{Reservation, Reserve};
use ff_backend::settings::{SettingsOp, SettingsReply};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error, Result};
use ff_core::ledger::LedgerCall;
use ff_core::time::Timestamp;

/// The calls that can be scripted, and are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Load,
    Commit,
    Ledger,
    Append,
    Reserve,
    Settings,
    Ping,
}

/// Something that happens in the store beside the call.
pub(crate) type Meanwhile = Box<dyn FnOnce(&MemoryBackend) + Send>;

/// What goes wrong with a call.
pub(crate) enum Fault {
    /// Nothing is done.
    Down,
    /// Nothing is done, and the call panics.
    Panics,
    /// It is done, and then this happens before the reply is lost.
    Lost(Meanwhile),
    /// This happens first.
    After(Meanwhile),
    /// Only one of the tasks that are wanted is handed out.
    Partly,
}

impl Fault {
    /// It is done, but nobody learns that.
    pub(crate) fn lost() -> Self {
        Fault::Lost(Box::new(|_| ()))
    }
}

/// Memory, with scripted faults.
pub(crate) struct FaultyBackend {
    pub(crate) memory: Arc<MemoryBackend>,
    script: Mutex<VecDeque<(Call, Fault)>>,
    calls: Mutex<Vec<Call>>,
    frames: Mutex<Vec<Append>>,
}

impl FaultyBackend {
    pub(crate) fn new(memory: Arc<MemoryBackend>) -> Self {
        Self {
            memory,
            script: Mutex::default(),
            calls: Mutex::default(),
            frames: Mutex::default(),
        }
    }

    /// The next call of this kind goes wrong like this.
    pub(crate) fn script(&self, call: Call, fault: Fault) {
        self.script.lock().unwrap().push_back((call, fault));
    }

    /// How many calls of this kind were made so far.
    pub(crate) fn count(&self, call: Call) -> usize {
        self.calls.lock().unwrap().iter().filter(|made| **made == call).count()
    }

    /// Every frame that was sent, also those whose reply was lost.
    pub(crate) fn frames_sent(&self) -> Vec<Append> {
        self.frames.lock().unwrap().clone()
    }

    fn fault(&self, call: Call) -> Option<Fault> {
        self.calls.lock().unwrap().push(call);
        let mut script = self.script.lock().unwrap();
        let next = script.iter().position(|(of, _)| *of == call)?;
        Some(script.remove(next)?.1)
    }

    /// Whether the next fault of this call is such a one; then it is over.
    fn takes(&self, call: Call, wanted: impl Fn(&Fault) -> bool) -> bool {
        let mut script = self.script.lock().unwrap();
        let next = script.iter().position(|(of, _)| *of == call);
        let next = next.filter(|next| wanted(&script[*next].1));
        next.is_some_and(|next| script.remove(next).is_some())
    }

    /// Does the call with its fault; the error is that of the store.
    async fn with_fault<T>(&self, call: Call, work: impl Future<Output = T>) -> Result<T> {
        match self.fault(call) {
            None => Ok(work.await),
            Some(Fault::Down) => Err(Error::Unavailable("scripted".to_owned())),
            Some(Fault::Partly) => panic!("only a reservation is answered in part"),
            Some(Fault::Panics) => panic!("scripted"),
            Some(Fault::After(meanwhile)) => {
                meanwhile(&self.memory);
                Ok(work.await)
            }
            Some(Fault::Lost(meanwhile)) => {
                work.await;
                meanwhile(&self.memory);
                Err(Error::Unknown("scripted".to_owned()))
            }
        }
    }
}

#[async_trait]
impl Layer for FaultyBackend {
    fn inner(&self) -> &dyn Backend {
        &*self.memory
    }

    async fn load(&self, loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        self.with_fault(Call::Load, self.memory.load(loads)).await?
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        let size = batch.len();
        let answer = self.with_fault(Call::Commit, self.memory.commit(batch)).await;
        answer.unwrap_or_else(|error| vec![Err(CommitError::Store(error)); size])
    }

    async fn ledger(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        let size = calls.len();
        let answer = self.with_fault(Call::Ledger, self.memory.ledger(calls)).await;
        answer.unwrap_or_else(|error| vec![Err(error); size])
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<std::result::Result<Appended, AppendError>> {
        let size = batch.len();
        self.frames.lock().unwrap().extend(batch.clone());
        let answer = self.with_fault(Call::Append, self.memory.append(batch)).await;
        answer.unwrap_or_else(|error| vec![Err(AppendError::Store(error)); size])
    }

    async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        if self.takes(Call::Reserve, |fault| matches!(fault, Fault::Partly)) {
            ask.claimants.truncate(1);
            let reservation = self.memory.reserve(ask).await?;
            return Ok(Reservation {
                cut: true,
                ..reservation
            });
        }
        self.with_fault(Call::Reserve, self.memory.reserve(ask)).await?
    }

    async fn settings(&self, ops: Vec<SettingsOp>) -> Result<Vec<SettingsReply>> {
        self.with_fault(Call::Settings, self.memory.settings(ops)).await?
    }

    async fn ping(&self) -> Result<Timestamp> {
        self.with_fault(Call::Ping, self.memory.ping()).await?
    }
}

//! An engine in memory whose time somebody moves, from one due thing to the next.

mod passing;
mod workers;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ff_backend::Backend;
use ff_backend::due::Due;
use ff_backend::memory::MemoryBackend;
use ff_core::fabric::{Fabric, Result};
use ff_core::name::LaneId;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionView, ListExecutions};

use crate::{Config, Engine, VirtualHost};

pub use passing::Restless;

/// When time begins: 15 January 2027, 8:00.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// An engine in memory and its time. Clones are the same engine.
#[derive(Clone)]
pub struct VirtualTime {
    engine: Engine,
    store: Arc<MemoryBackend>,
    host: Arc<VirtualHost>,
    /// Held while time jumps.
    jumping: Arc<Mutex<()>>,
}

impl VirtualTime {
    /// An empty store and an engine over it, which listens and does not pump: whoever lets time pass does.
    pub fn new(host: VirtualHost) -> Self {
        let counts = PartitionCounts::default();
        let store = Arc::new(MemoryBackend::new(START, counts));
        let host = Arc::new(host);
        let engine = Engine::new(
            Arc::clone(&store) as Arc<dyn Backend>,
            Arc::clone(&host) as Arc<dyn crate::Host>,
            Config::new(counts),
        );
        engine.listen();
        Self {
            engine,
            store,
            host,
            jumping: Arc::default(),
        }
    }

    /// The same for a server: nobody guesses its luck, and its callers give up by the clock on the wall.
    pub fn for_server() -> Self {
        Self::new(VirtualHost::with_impatient_callers(rand::random()))
    }

    /// The engine.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What the engine asks for luck.
    pub const fn host(&self) -> &Arc<VirtualHost> {
        &self.host
    }

    /// The time it is, as the engine sees it.
    pub fn now(&self) -> Timestamp {
        self.store.now()
    }

    /// Does what is due now; how much came to something.
    pub async fn pump(&self) -> Result<usize> {
        self.engine.pump_pass().await
    }

    /// What runs, and what could be handed to workers of these lanes.
    pub async fn busy(&self, lanes: Vec<LaneId>) -> Result<Vec<ExecutionView>> {
        let running = ListExecutions {
            state: vec![PublicState::Active],
            ..ListExecutions::default()
        };
        let mut busy = self.engine.list_executions(running).await?.items;
        if !lanes.is_empty() {
            let eligible = ListExecutions {
                lane: lanes,
                state: vec![PublicState::Waiting, PublicState::Resumable],
                ..ListExecutions::default()
            };
            busy.extend(self.engine.list_executions(eligible).await?.items);
        }
        Ok(busy)
    }

    /// When the next thing is due.
    pub async fn next_due(&self) -> Option<Timestamp> {
        let counts = PartitionCounts::default();
        let families = [Family::Flow, Family::Budget, Family::Quota];
        let ask = Due {
            partitions: families.into_iter().flat_map(|family| counts.all(family)).collect(),
            limit: 1,
        };
        let page = self.store.due(ask).await.ok()?;
        page.items.first().map(|item| item.due_at).or(page.next)
    }

    /// When the next execution is woken, has waited long enough or expires.
    pub async fn next_waking(&self) -> Result<Option<Timestamp>> {
        let list = ListExecutions {
            state: vec![
                PublicState::Delayed,
                PublicState::Suspended,
                PublicState::WaitingChildren,
            ],
            ..ListExecutions::default()
        };
        let page = self.engine.list_executions(list).await?;
        Ok(page.items.iter().filter_map(waking).min())
    }

    /// Lets time pass, for the engine and for the store: in this order, so that the engine never remembers a time that is ahead
    /// of the store's.
    pub fn jump_to(&self, moment: Timestamp) {
        let _one_at_a_time = self.jumping.lock().unwrap_or_else(PoisonError::into_inner);
        let by = moment.since(self.store.now());
        self.host.advance(Duration::from_millis(by.as_millis()));
        self.store.advance(by);
    }
}

/// When something happens to an execution that waits.
fn waking(execution: &ExecutionView) -> Option<Timestamp> {
    let timeout = execution
        .suspension
        .as_ref()
        .and_then(|suspension| suspension.timeout_at);
    [execution.delay_until, timeout, execution.deadline_at]
        .into_iter()
        .flatten()
        .min()
}

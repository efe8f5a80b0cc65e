//! A worker that is being described.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::error::Rejection;
use ff_core::fabric::Fabric;
use ff_core::name::{ExecutionKind, LaneId, WorkerId, WorkerInstanceId};
use ff_core::record::Incarnation;
use uuid::Uuid;

use super::clock::StoreClock;
use super::drain::Drain;
use super::layer::Layer;
use super::registry::Registered;
use super::shared::{Identity, Shared, UnknownKind};
use super::{Worker, instance};
use crate::client::Client;
use crate::codec::Codec;
use crate::ctx::Probe;
use crate::handler::{Handler, RawHandler, States};
use crate::task::Task;

/// Tasks that run at once unless said otherwise.
const CONCURRENCY: usize = 16;

/// A worker that is being described.
#[must_use = "build it"]
pub struct WorkerBuilder {
    client: Client,
    name: String,
    instance: Option<String>,
    lanes: Vec<String>,
    lanes_of_tasks: BTreeSet<LaneId>,
    capabilities: Vec<String>,
    concurrency: usize,
    prefetch: usize,
    lease_ttl: Option<Duration>,
    version: Option<String>,
    states: States,
    layers: Vec<Arc<dyn Layer>>,
    handlers: Vec<(String, Registered)>,
    unknown_kind: UnknownKind,
    drain: Drain,
    clock: StoreClock,
    probe: Option<Arc<dyn Probe>>,
}

/// Why a worker cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A handler takes a state that the worker does not have.
    #[error("the handler of {kind:?} takes a State<{state}>, which the worker does not have: add .state(…)")]
    MissingState {
        /// What the handler runs.
        kind: String,
        /// The type.
        state: &'static str,
    },
    /// There are two handlers for one kind.
    #[error("there are two handlers for {kind:?}: a worker runs each kind in one way")]
    TwoHandlers {
        /// The kind.
        kind: String,
    },
    /// There is none.
    #[error("the worker has no handlers: add .task(…) or .on(…)")]
    NoHandlers,
    /// A number is zero that must not be.
    #[error("{what} is 0: nothing would ever run")]
    Nothing {
        /// The number.
        what: String,
    },
    /// A name cannot be used.
    #[error(transparent)]
    Name(#[from] Rejection),
}

impl WorkerBuilder {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            name: "worker".to_owned(),
            instance: None,
            lanes: Vec::new(),
            lanes_of_tasks: BTreeSet::new(),
            capabilities: Vec::new(),
            concurrency: CONCURRENCY,
            prefetch: 0,
            lease_ttl: None,
            version: None,
            states: States::default(),
            layers: Vec::new(),
            handlers: Vec::new(),
            unknown_kind: UnknownKind::default(),
            drain: Drain::from_environment(),
            clock: StoreClock::default(),
            probe: None,
        }
    }

    /// What several processes that do the same are called; `worker` unless said.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The slot of this process. Another process that lives under the same one is refused; without it every start has its own.
    pub fn instance(mut self, instance: impl Into<String>) -> Self {
        self.instance = Some(instance.into());
        self
    }

    /// The lanes it takes work from, in turn; the lanes of its tasks unless said.
    pub fn lanes<L: Into<String>>(mut self, lanes: impl IntoIterator<Item = L>) -> Self {
        self.lanes = lanes.into_iter().map(Into::into).collect();
        self
    }

    /// What it offers: it is handed only what requires nothing else.
    pub fn capabilities<C: Into<String>>(mut self, capabilities: impl IntoIterator<Item = C>) -> Self {
        self.capabilities = capabilities.into_iter().map(Into::into).collect();
        self
    }

    /// How many tasks run at once; 16 unless said. Nothing is claimed before there is room for it.
    pub const fn concurrency(mut self, tasks: usize) -> Self {
        self.concurrency = tasks;
        self
    }

    /// How many more are claimed before there is room for them; none unless said. They wait here, where nobody else can take
    /// them.
    pub const fn prefetch(mut self, tasks: usize) -> Self {
        self.prefetch = tasks;
        self
    }

    /// How long a lease lasts between renewals; 30 s unless said. So long a task waits for another worker when this one dies.
    pub const fn lease(mut self, time: Duration) -> Self {
        self.lease_ttl = Some(time);
        self
    }

    /// Which version of the code it runs, for whoever looks at the workers.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// A value that handlers take as `State`; one of each type.
    pub fn state<S: Clone + Send + Sync + 'static>(mut self, state: S) -> Self {
        self.states.insert(state);
        self
    }

    /// Something that runs around every handler; the first added is the outermost.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// A handler of a task.
    pub fn task<H: Handler<Args>, Args: 'static>(mut self, handler: H) -> Self {
        self.lanes_of_tasks
            .insert(H::Task::options().lane.unwrap_or_else(LaneId::default_lane));
        let kind = H::Task::KIND.to_owned();
        self.handlers.push((kind, Registered::typed(handler)));
        self
    }

    /// A handler of bytes, for any kind.
    pub fn on<H: RawHandler<Args>, Args: 'static>(mut self, kind: impl Into<String>, handler: H) -> Self {
        self.lanes_of_tasks.insert(LaneId::default_lane());
        self.handlers.push((kind.into(), Registered::of_bytes(handler)));
        self
    }

    /// What becomes of tasks of other kinds; they come back later unless said.
    pub const fn on_unknown_kind(mut self, what: UnknownKind) -> Self {
        self.unknown_kind = what;
        self
    }

    /// How it ends once it is told to; unless said as `FF_DRAIN` says, or else [`Drain::default`].
    pub const fn drain(mut self, drain: Drain) -> Self {
        self.drain = drain;
        self
    }

    /// What stands between values and what is stored; the client's unless said.
    pub fn codec(mut self, codec: impl Codec) -> Self {
        self.client = self.client.codec(codec);
        self
    }

    /// Watched by a test that moves the store's time.
    #[cfg(feature = "test")]
    pub(crate) fn watched(mut self, clock: StoreClock, probe: Arc<dyn Probe>) -> Self {
        (self.clock, self.probe) = (clock, Some(probe));
        self
    }

    /// The worker, if it can do all that it says.
    pub fn build(self) -> Result<Worker, BuildError> {
        let lanes = self.all_lanes()?;
        let identity = self.identity()?;
        self.check_numbers()?;
        let handlers = handlers_by_kind(self.handlers, &self.states)?;
        let fabric = fabric_of_loop(&self.client)?;
        Ok(Worker::of(Shared {
            fabric,
            codec: self.client.own_codec(),
            client: self.client,
            identity,
            lanes,
            capabilities: CapabilitySet::parse(&self.capabilities)?,
            concurrency: self.concurrency,
            prefetch: self.prefetch,
            lease_ttl: self.lease_ttl,
            version: self.version,
            handlers,
            layers: self.layers.into(),
            states: Arc::new(self.states),
            unknown_kind: self.unknown_kind,
            drain: self.drain,
            clock: self.clock,
            probe: self.probe,
        }))
    }

    fn all_lanes(&self) -> Result<Vec<LaneId>, BuildError> {
        match self.lanes.is_empty() {
            true => Ok(self.lanes_of_tasks.iter().cloned().collect()),
            false => Ok(self.lanes.iter().map(LaneId::parse).collect::<Result<_, _>>()?),
        }
    }

    fn identity(&self) -> Result<Identity, BuildError> {
        let instance = match &self.instance {
            Some(instance) => instance.clone(),
            None => instance::of_this_process(&self.name),
        };
        Ok(Identity {
            namespace: self.client.own_namespace().clone(),
            worker: WorkerId::parse(&self.name)?,
            instance: WorkerInstanceId::parse(instance)?,
            incarnation: Incarnation(Uuid::new_v4()),
        })
    }

    fn check_numbers(&self) -> Result<(), BuildError> {
        let nothing = |what: &str| Err(BuildError::Nothing { what: what.to_owned() });
        if self.concurrency == 0 {
            return nothing("the concurrency of the worker");
        }
        let unable = self.handlers.iter().find(|(_, handler)| handler.runs_nothing());
        unable.map_or(Ok(()), |(kind, _)| nothing(&format!("the concurrency of {kind:?}")))
    }
}

/// What the loop talks to the engine through.
fn fabric_of_loop(client: &Client) -> Result<Arc<dyn Fabric>, BuildError> {
    #[cfg(feature = "client")]
    if let Some(remote) = client.remote() {
        return Ok(Arc::new(remote.of_a_worker()?));
    }
    Ok(client.fabric())
}

fn handlers_by_kind(
    handlers: Vec<(String, Registered)>,
    states: &States,
) -> Result<HashMap<String, Registered>, BuildError> {
    let mut by_kind = HashMap::new();
    for (kind, handler) in handlers {
        ExecutionKind::parse(&kind)?;
        if let Some(missing) = states.missing(&handler.needs) {
            return Err(BuildError::MissingState {
                kind,
                state: missing.name,
            });
        }
        if by_kind.insert(kind.clone(), handler).is_some() {
            return Err(BuildError::TwoHandlers { kind });
        }
    }
    match by_kind.is_empty() {
        true => Err(BuildError::NoHandlers),
        false => Ok(by_kind),
    }
}

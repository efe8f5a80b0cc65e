//! What a worker is: the same for all of its tasks.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ff_core::capability::CapabilitySet;
use ff_core::fabric::Fabric;
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::Incarnation;

use super::clock::StoreClock;
use super::drain::Drain;
use super::layer::Layer;
use super::registry::Registered;
use crate::client::Client;
use crate::codec::Codec;
use crate::ctx::Probe;
use crate::handler::States;

/// Who a worker process is.
pub(crate) struct Identity {
    pub(crate) namespace: Namespace,
    pub(crate) worker: WorkerId,
    pub(crate) instance: WorkerInstanceId,
    pub(crate) incarnation: Incarnation,
}

/// What becomes of a task of a kind that a worker has no handler for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKind {
    /// It comes back after 15 seconds, to whoever has a handler then: half of the workers may be newer than the others.
    #[default]
    Delay,
    /// It fails, and is not retried.
    Fail,
}

pub(crate) struct Shared {
    pub(crate) client: Client,
    /// The same engine, for the loop.
    pub(crate) fabric: Arc<dyn Fabric>,
    pub(crate) codec: Arc<dyn Codec>,
    pub(crate) identity: Identity,
    pub(crate) lanes: Vec<LaneId>,
    pub(crate) capabilities: CapabilitySet,
    pub(crate) concurrency: usize,
    pub(crate) prefetch: usize,
    pub(crate) lease_ttl: Option<Duration>,
    pub(crate) version: Option<String>,
    pub(crate) handlers: HashMap<String, Registered>,
    pub(crate) layers: Arc<[Arc<dyn Layer>]>,
    pub(crate) states: Arc<States>,
    pub(crate) unknown_kind: UnknownKind,
    pub(crate) drain: Drain,
    pub(crate) clock: StoreClock,
    /// Told what steps do, by tests.
    pub(crate) probe: Option<Arc<dyn Probe>>,
}

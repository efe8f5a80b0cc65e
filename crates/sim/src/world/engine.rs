//! The engine as a replica runs it.

use std::sync::Arc;

use ff_backend::Backend;
use ff_core::caller::Caller;
use ff_core::time::Duration;
use ff_engine::{Config, Engine};

use super::replicas::Running;
use super::{PAYLOAD_BYTES_MAX, STEPS_MAX, names, partition_counts};
use crate::executor::SimHost;

/// Starts an engine with its pump.
pub(super) fn boot(backend: Arc<dyn Backend>, host: Arc<SimHost>, reclaim_grace: Duration) -> Running {
    let mut config = Config::new(partition_counts());
    config.rules.payload_bytes_max = PAYLOAD_BYTES_MAX;
    config.rules.steps_max = STEPS_MAX;
    config.rules.reclaim_grace = reclaim_grace;
    let engine = Engine::new(backend, host, config);
    engine.start();
    let tenant = Caller {
        namespace: Some(names::namespace(names::NAMESPACES[0])),
        ..Caller::local()
    };
    let stopped = engine.clone();
    Running {
        bound: Arc::new(engine.acting_as(tenant)),
        stop: Arc::new(move || {
            let engine = stopped.clone();
            Box::pin(async move { engine.stop().await })
        }),
        fabric: Arc::new(engine),
    }
}

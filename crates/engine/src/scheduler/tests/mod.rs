//! What happens in the claim queues: waiting, waking, leaving.

#[expect(dead_code, reason = "this target needs only part of the builders")]
#[path = "../../../tests/engine/sched/support/mod.rs"]
mod support;

mod waiting;
mod waking;

use std::sync::Arc;

use ff_core::command::claim::{Claim, Task};
use ff_core::fabric::{Fabric, Result};
use ff_core::time::Duration;
use tokio::task::JoinHandle;

use self::support::{Store, claim, counts};
use crate::{Config, Engine, VirtualHost};

/// An engine on a store that counts, with a clock that stands still.
struct World {
    store: Arc<Store>,
    host: Arc<VirtualHost>,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let store = Store::new();
        let host = Arc::new(VirtualHost::new(7));
        let engine = Engine::new(Arc::clone(&store) as _, Arc::clone(&host) as _, Config::new(counts()));
        Self { store, host, engine }
    }

    /// Claims beside the test.
    fn claims(&self, command: Claim) -> JoinHandle<Result<Vec<Task>>> {
        let engine = self.engine.clone();
        tokio::spawn(async move { engine.claim(command).await })
    }
}

/// What a claim was answered, which it must have been by now.
async fn answer(claim: JoinHandle<Result<Vec<Task>>>) -> Result<Vec<Task>> {
    support::settle().await;
    assert!(claim.is_finished(), "it still waits");
    claim.await.unwrap()
}

/// The same claim, which waits.
fn patient(number: usize) -> Claim {
    Claim {
        wait: Duration::from_secs(20),
        ..claim(number)
    }
}

//! The whole interface over a Valkey server.

use crate::support::EngineHarness;

async fn make() -> EngineHarness {
    EngineHarness::valkey(|_| ()).await
}

ff_fabric_suite::fabric_suite!(make);

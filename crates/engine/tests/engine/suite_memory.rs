//! The whole interface over a store in memory.

use crate::support::EngineHarness;

async fn make() -> EngineHarness {
    EngineHarness::memory(|_| ())
}

ff_fabric_suite::fabric_suite!(make);

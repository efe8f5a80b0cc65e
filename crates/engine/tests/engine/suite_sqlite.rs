//! The whole interface over a store in a file.

use crate::support::EngineHarness;

async fn make() -> EngineHarness {
    EngineHarness::sqlite(|_| ())
}

ff_fabric_suite::fabric_suite!(make);

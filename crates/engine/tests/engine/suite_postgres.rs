//! The whole interface over a PostgreSQL database.

use crate::support::EngineHarness;

async fn make() -> EngineHarness {
    EngineHarness::postgres(|_| ()).await
}

ff_fabric_suite::fabric_suite!(make);

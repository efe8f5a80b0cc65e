//! The whole interface as JSON, from one end to the other: every command and every answer is written and read again on its
//! way, so that a caller far away cannot tell the difference. And all of them are as their schemas say.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::caller::Caller;
use ff_core::error::Rejection;
use ff_core::fabric::{Fabric, Operation, Reply, Result, Transport};
use ff_core::time::Duration;
use ff_core::wire::Fields;
use ff_fabric_suite::Harness;

use crate::schemas;
use crate::support::EngineHarness;

/// Hands the JSON of every call to a fabric of the same process.
struct Loopback(Arc<dyn Fabric>);

#[async_trait]
impl Transport for Loopback {
    async fn send(&self, operation: &'static Operation, json: Vec<u8>) -> Result<Reply> {
        let answer = (operation.call)(&*self.0, Fields::of_json(&json)?).await;
        // What was refused for its form need not be as its schema says.
        let accepted = match &answer {
            Err(Rejection { code, .. }) => code.status() != 400,
            Ok(Reply::Json(json)) => !schemas::refuses_an_item(json),
            Ok(_) => true,
        };
        if accepted {
            schemas::taken(operation, &json);
        }
        if let Ok(Reply::Json(json)) = &answer {
            schemas::given(operation, json);
        }
        answer
    }
}

struct WireHarness(EngineHarness);

#[async_trait]
impl Harness for WireHarness {
    fn fabric(&self) -> Arc<dyn Fabric> {
        Arc::new(Loopback(self.0.fabric()))
    }

    async fn fabric_for(&self, caller: Caller) -> Arc<dyn Fabric> {
        Arc::new(Loopback(self.0.fabric_for(caller).await))
    }

    async fn advance(&self, by: Duration) {
        self.0.advance(by).await;
    }

    async fn settle(&self) {
        self.0.settle().await;
    }
}

async fn make() -> WireHarness {
    WireHarness(EngineHarness::memory(|_| ()))
}

ff_fabric_suite::fabric_suite!(make);

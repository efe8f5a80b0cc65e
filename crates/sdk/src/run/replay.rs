//! Running something again that has ended.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::steps::KeepSteps;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{RequestId, StepKey};
use uuid::Uuid;

use super::Run;
use crate::client::Client;
use crate::error::Result;

/// A replay on its way: await it to send it.
#[must_use = "nothing is replayed until it is awaited"]
pub struct Replay {
    client: Client,
    id: ExecutionId,
    keeps: Keeps,
}

/// Which steps are kept.
enum Keeps {
    /// As the engine does: what was done, and nothing after a success.
    Usual,
    Nothing,
    Before(String),
}

impl<O> Run<O> {
    /// Runs it again after it has ended. Steps that were done are kept, unless it succeeded.
    pub fn replay(&self) -> Replay {
        Replay {
            client: self.client.clone(),
            id: self.id,
            keeps: Keeps::Usual,
        }
    }
}

impl Replay {
    /// Every step runs again.
    pub fn from_scratch(mut self) -> Self {
        self.keeps = Keeps::Nothing;
        self
    }

    /// This step runs again, with everything that was recorded after it: `llm#3`.
    pub fn before(mut self, step: impl Into<String>) -> Self {
        self.keeps = Keeps::Before(step.into());
        self
    }

    async fn send(self) -> Result<Replayed> {
        let command = ReplayExecution {
            request_id: Some(RequestId::parse(Uuid::now_v7().to_string())?),
            steps: match self.keeps {
                Keeps::Usual => None,
                Keeps::Nothing => Some(KeepSteps::None),
                Keeps::Before(step) => Some(KeepSteps::Before(StepKey::parse(step)?)),
            },
        };
        Ok(self.client.replay_execution(On::new(self.id, command)).await?)
    }
}

impl IntoFuture for Replay {
    type Output = Result<Replayed>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

//! What the handler of an execution has recorded.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::command::steps::{ReadSteps as Request, StepView};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::payload::Payload;
use serde::de::DeserializeOwned;

use super::Run;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::json;

/// A recorded step. What it left is there if that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name, when it was recorded, and how far it has come.
    pub view: StepView,
}

impl Step {
    /// What it left; nothing, and what was not asked for with [`ReadSteps::with_outputs`], is `null`.
    pub fn output<T: DeserializeOwned>(&self) -> Result<T> {
        let nothing = Payload::default();
        let output = self.view.output.as_ref().unwrap_or(&nothing);
        json::read(output).map_err(|problem| Error::Unreadable {
            what: format!("the output of step {}", self.view.key),
            problem,
        })
    }
}

/// Asks for the steps of an execution. Await it.
#[must_use = "nothing is read until it is awaited"]
pub struct ReadSteps {
    client: Client,
    id: ExecutionId,
    outputs: bool,
}

impl<O> Run<O> {
    /// What its handler has recorded, in the order of recording.
    pub fn steps(&self) -> ReadSteps {
        ReadSteps {
            client: self.client.clone(),
            id: self.id,
            outputs: false,
        }
    }
}

impl ReadSteps {
    /// What the steps left comes along.
    pub const fn with_outputs(mut self) -> Self {
        self.outputs = true;
        self
    }

    async fn all(self) -> Result<Vec<Step>> {
        let (mut steps, mut from_seq) = (Vec::new(), None);
        loop {
            let request = Request {
                from_seq,
                limit: Some(PAGE_MAX),
                outputs: self.outputs,
                forgotten: false,
            };
            let page = self.client.read_steps(On::new(self.id, request)).await?;
            for view in page.items {
                steps.push(self.open(view).await?);
            }
            match page.next {
                Some(next) => from_seq = Some(next),
                None => return Ok(steps),
            }
        }
    }

    async fn open(&self, mut view: StepView) -> Result<Step> {
        if let Some(output) = view.output.take() {
            let what = format!("the output of step {}", view.key);
            view.output = Some(self.client.unseal(&what, output).await?);
        }
        Ok(Step { view })
    }
}

impl IntoFuture for ReadSteps {
    type Output = Result<Vec<Step>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.all())
    }
}

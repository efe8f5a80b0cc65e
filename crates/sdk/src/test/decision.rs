//! Decisions of people that a test names.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::caller::Caller;
use ff_core::command::signal::Delivered;
use ff_core::name::Identity;
use ff_core::record::Actor;
use ff_engine::Engine;
use serde::Serialize;

use super::TestEngine;
use crate::client::Client;
use crate::error::Result;
use crate::run::{Decision, Run};

/// A person's decision in a test: await it to send it.
#[must_use = "a decision does nothing until it is awaited"]
pub struct TestDecision {
    engine: Engine,
    /// The client whose codec the note goes through.
    client: Client,
    decision: Decision,
    by: Option<String>,
}

impl TestEngine {
    /// A person's yes.
    pub fn approve<O>(&self, run: &Run<O>, name: &str) -> TestDecision {
        self.decided(run.client(), run.approve(name))
    }

    /// A person's no.
    pub fn reject<O>(&self, run: &Run<O>, name: &str) -> TestDecision {
        self.decided(run.client(), run.reject(name))
    }

    fn decided(&self, client: &Client, decision: Decision) -> TestDecision {
        TestDecision {
            engine: self.engine().clone(),
            client: client.clone(),
            decision,
            by: None,
        }
    }
}

impl TestDecision {
    /// Who decides, as if a key vouched for it; nobody in particular unless said.
    pub fn by(mut self, who: impl Into<String>) -> Self {
        self.by = Some(who.into());
        self
    }

    /// What the person adds: the handler is handed it.
    pub fn note<N: Serialize + ?Sized>(mut self, note: &N) -> Self {
        self.decision = self.decision.note(note);
        self
    }

    async fn send(self) -> Result<Delivered> {
        let Some(who) = self.by else {
            return self.decision.await;
        };
        let caller = Caller {
            actor: Actor::Client(Identity::parse(who)?),
            ..Caller::local()
        };
        self.decision
            .through(self.client.at(self.engine.acting_as(caller)))
            .await
    }
}

impl IntoFuture for TestDecision {
    type Output = Result<Delivered>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

//! A person's yes or no.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::command::signal::{Decide, Delivered};
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::name::IdempotencyKey;
use ff_core::payload::Payload;
use serde::Serialize;

use super::{Run, waitpoint};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::json;

/// A person's decision: await it to send it. Who decides is whom the client's key belongs to.
#[must_use = "a decision does nothing until it is awaited"]
pub struct Decision {
    client: Client,
    id: ExecutionId,
    name: String,
    verdict: Verdict,
    note: Option<Result<Payload>>,
    key: Option<String>,
}

enum Verdict {
    Approve,
    Reject,
}

impl<O> Run<O> {
    /// A person's yes to what it waits for under this name, as the handler called it: `review`, or `review#1` where there are
    /// several.
    pub fn approve(&self, name: impl Into<String>) -> Decision {
        self.decide(name.into(), Verdict::Approve)
    }

    /// A person's no.
    pub fn reject(&self, name: impl Into<String>) -> Decision {
        self.decide(name.into(), Verdict::Reject)
    }

    fn decide(&self, name: String, verdict: Verdict) -> Decision {
        Decision {
            client: self.client.clone(),
            id: self.id,
            name,
            verdict,
            note: None,
            key: None,
        }
    }
}

impl Decision {
    /// What the person adds: the handler is handed it.
    pub fn note<N: Serialize + ?Sized>(mut self, note: &N) -> Self {
        self.note = Some(json::write(note).map_err(|error| Error::Unwritable {
            what: format!("the note to {:?}", self.name),
            reason: error.to_string(),
        }));
        self
    }

    /// Makes repeated decisions one.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same, by way of another client.
    #[cfg(feature = "test")]
    pub(crate) fn through(self, client: Client) -> Self {
        Self { client, ..self }
    }

    async fn send(self) -> Result<Delivered> {
        let payload = match self.note {
            Some(note) => self.client.seal("the note", note?).await?,
            None => Payload::default(),
        };
        let command = Decide {
            waitpoint_id: waitpoint::named(&self.client, self.id, &self.name).await?,
            payload,
            idempotency_key: self.key.map(IdempotencyKey::parse).transpose()?,
        };
        let command = On::new(self.id, command);
        Ok(match self.verdict {
            Verdict::Approve => self.client.fabric().approve(command).await?,
            Verdict::Reject => self.client.fabric().reject(command).await?,
        })
    }
}

impl IntoFuture for Decision {
    type Output = Result<Delivered>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

//! A person's yes or no.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use ff_core::command::signal::{Decide, Delivered};
use ff_core::command::waitpoint::OpenWaitpoint;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, WaitpointId};
use ff_core::name::IdempotencyKey;
use ff_core::payload::Payload;
use serde::Serialize;

use super::Run;
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

    async fn send(self) -> Result<Delivered> {
        let payload = match self.note {
            Some(note) => self.client.seal("the note", note?).await?,
            None => Payload::default(),
        };
        let waitpoints = self.client.list_pending_waitpoints(self.id).await?;
        let command = Decide {
            waitpoint_id: find(self.id, &self.name, &waitpoints)?,
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

/// The waitpoint that a person means.
fn find(id: ExecutionId, name: &str, open: &[OpenWaitpoint]) -> Result<WaitpointId> {
    let exact = open.iter().find(|waitpoint| waitpoint.waitpoint_key.as_str() == name);
    let mut meant: Vec<_> = match exact {
        Some(exact) => vec![exact],
        None => open
            .iter()
            .filter(|waitpoint| means(name, waitpoint.waitpoint_key.as_str()))
            .collect(),
    };
    if let (Some(found), true) = (meant.pop(), meant.is_empty()) {
        return Ok(found.waitpoint_id);
    }
    let names: Vec<_> = open
        .iter()
        .map(|waitpoint| format!("{:?}", waitpoint.waitpoint_key.as_str()))
        .collect();
    let open = match names.is_empty() {
        true => "nothing".to_owned(),
        false => names.join(", "),
    };
    let what = match meant.is_empty() {
        true => "waits for nothing named",
        false => "waits for several things named",
    };
    let detail = format!("execution {id} {what} {name:?}; it waits for {open}");
    Err(Code::WaitpointNotFound.because(detail).into())
}

/// Whether somebody who says `name` may mean the waitpoint of this key: `scope/name#0` is called `name`, too.
fn means(name: &str, key: &str) -> bool {
    let local = key.rsplit('/').next().unwrap_or(key);
    local == name
        || local
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['#', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_meant_by_the_name_the_handler_called_it() {
        for key in ["review", "review#0", "review[a]", "order-7/review#0"] {
            assert!(means("review", key), "{key}");
        }
        for key in ["reviews", "reviews#0", "review/other#0", "a-review#0"] {
            assert!(!means("review", key), "{key}");
        }
    }
}

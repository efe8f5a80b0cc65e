//! A context without an engine, for unit tests of handlers.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use ff_core::error::Code;
use ff_core::fabric::{Operation, Reply, Result, Transport};
use ff_core::name::{ExecutionKind, LaneId, Namespace, StepKey};
use ff_core::payload::Payload;
use ff_core::record::{AttemptKind, Tags};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Ctx, Run};
use crate::client::Client;
use crate::codec::Json;
use crate::handler::{Facts, TaskInfo};
use crate::json;
use crate::task_error::TaskError;

/// The execution of every context without an engine.
const ID: &str = "fp:0:00000000-0000-7000-8000-000000000000";

impl Ctx {
    /// A context without an engine: steps run plainly, sleeps are over at once, waits are answered by [`Ctx::with`].
    ///
    /// ```
    /// # use ff_sdk::{Ctx, TaskError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), TaskError> {
    /// let ctx = Ctx::detached();
    /// assert_eq!(ctx.step("add", |_| async { Ok(1 + 2) }).await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Never: what it is made of is checked by a test.
    pub fn detached() -> Self {
        let info = TaskInfo::new(Facts {
            id: ID.parse().expect("a valid id"),
            namespace: Namespace::default_namespace(),
            lane: LaneId::default_lane(),
            kind: ExecutionKind::parse("detached").expect("a valid kind"),
            tags: Tags::new(),
            flow_id: None,
            attempt_index: 0,
            attempt_kind: AttemptKind::Initial,
            deadline_at: None,
            tier: None,
        });
        Self::new(Run::new(info, Client::local(Nowhere), Arc::new(Json)))
    }

    /// What the wait, or whatever else only an engine can answer, with this key comes to: `review#0`. Only a context without an
    /// engine looks at it.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(self, key: &str, value: &T) -> Self {
        if let Ok(payload) = json::write(value) {
            self.run
                .prepared
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key.to_owned(), payload);
        }
        self
    }

    /// Whether there is no engine behind it.
    pub(super) fn is_detached(&self) -> bool {
        self.run.lease.is_none()
    }

    /// What was prepared for a key.
    pub(super) fn prepared<T: DeserializeOwned>(&self, key: &StepKey) -> std::result::Result<T, TaskError> {
        let prepared = self.run.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let payload: Option<&Payload> = prepared.get(key.as_str());
        let Some(payload) = payload else {
            return Err(TaskError::permanent(format!(
                "there is no engine to answer {key}: say what it comes to with Ctx::detached().with({:?}, &value)",
                key.as_str()
            )));
        };
        json::read(payload).map_err(|problem| TaskError::permanent(format!("what was prepared for {key} {problem}")))
    }
}

/// A fabric that is not there.
struct Nowhere;

#[async_trait]
impl Transport for Nowhere {
    async fn send(&self, operation: &'static Operation, _: Vec<u8>) -> Result<Reply> {
        Err(Code::Unavailable.because(format!("a detached Ctx has no engine to call {} on", operation.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn steps_run_plainly_and_give_what_could_be_read_back() {
        let ctx = Ctx::detached();
        let value = ctx
            .step("pair", |s| async move { Ok((s.key(), 2.5_f32)) })
            .await
            .unwrap();
        assert!(value.0.ends_with("/pair#0"), "{value:?}");
        let error = ctx
            .step("bad", |_| async { Err::<(), _>(TaskError::permanent("no")) })
            .await
            .unwrap_err();
        assert_eq!(error.to_string(), "no");
        ctx.emit("token", "x").await.unwrap();
        ctx.progress(50, "half").await.unwrap();
    }

    #[tokio::test]
    async fn what_only_an_engine_knows_is_said_before() {
        let ctx = Ctx::detached().with("a#0", &7);
        let key = |text| StepKey::parse(text).unwrap();
        assert_eq!(ctx.prepared::<u8>(&key("a#0")).unwrap(), 7);
        let error = ctx.prepared::<u8>(&key("b#0")).unwrap_err().to_string();
        assert!(error.contains(r#"with("b#0""#), "{error}");
    }
}

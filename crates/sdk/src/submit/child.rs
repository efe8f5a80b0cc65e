//! A submission as a child of the execution whose handler makes it.

use ff_core::command::spawn::Child;
use ff_core::name::StepKey;

use super::Draft;
use crate::client::Client;
use crate::error::{Error, Result};

impl Draft {
    /// What is sent to spawn it under a step.
    pub(crate) async fn child(&self, client: &Client, step: StepKey) -> Result<Child> {
        let mut problems = Vec::new();
        if self.said.execution_id.is_some() {
            problems.push("a child is given its id by the engine: leave out execution_id".to_owned());
        }
        if self.key.is_some() {
            problems.push("a child is known by its step: leave out idempotency_key".to_owned());
        }
        if !problems.is_empty() {
            let what = format!("child {step}");
            return Err(Error::Invalid { what, problems });
        }
        let member = self.member(client).await?;
        Ok(Child {
            step,
            lane_id: member.lane_id,
            execution_kind: member.execution_kind,
            input: member.input,
            priority: member.priority,
            creator_identity: member.creator_identity,
            tags: member.tags,
            policy: member.policy,
            delay_until: member.delay_until,
            execution_deadline_at: member.execution_deadline_at,
        })
    }
}

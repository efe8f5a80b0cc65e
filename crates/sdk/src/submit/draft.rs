//! A submission whose task is written: what is left takes time, and nothing of the task's type.

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, IdempotencyKey, LaneId};
use ff_core::payload::Payload;
use uuid::Uuid;

use super::{Said, Submission, checked};
use crate::client::{Client, timestamp};
use crate::error::{Error, Result};
use crate::json;
use crate::options::TaskOptions;
use crate::task::Task;

/// A task in its JSON form, with what was said about it: of no type any more, and not checked yet.
#[derive(Clone)]
pub(crate) struct Written {
    kind: &'static str,
    input: Result<Payload, String>,
    pub(crate) options: TaskOptions,
    said: Said,
}

/// What will be sent, but for what the codec and the store's clock add.
pub(crate) struct Draft {
    kind: ExecutionKind,
    input: Payload,
    options: TaskOptions,
    pub(super) said: Said,
    pub(super) key: Option<IdempotencyKey>,
}

impl Written {
    pub(crate) fn of<T: Task>(submission: Submission<T>) -> Self {
        Self {
            kind: T::KIND,
            input: json::write(&submission.task).map_err(|error| error.to_string()),
            options: submission.options,
            said: submission.said,
        }
    }

    /// Refuses whatever was said that cannot be, all of it at once.
    pub(crate) fn check(self) -> Result<Draft, Vec<String>> {
        let Self {
            kind,
            input,
            mut options,
            said,
        } = self;
        let mut problems = std::mem::take(&mut options.problems);
        let mut note = |problem| problems.push(problem);
        let kind = ExecutionKind::parse(kind)
            .map_err(|rejection| note(rejection.detail))
            .ok();
        let input = input
            .map_err(|reason| note(format!("it cannot be written as JSON: {reason}")))
            .ok();
        let key = said.key.as_deref().and_then(|key| checked(key).map_err(&mut note).ok());
        if said.delay.is_some() && said.delay_until.is_some() {
            note("delay and delay_until exclude each other: say one of them".to_owned());
        }
        match (kind, input) {
            (Some(kind), Some(input)) if problems.is_empty() => Ok(Draft {
                kind,
                input,
                options,
                said,
                key,
            }),
            _ => Err(problems),
        }
    }
}

impl Draft {
    /// Writes the task, and refuses whatever was said that cannot be.
    pub(crate) fn of<T: Task>(submission: Submission<T>) -> Result<Self> {
        let invalid = |problems| Error::Invalid {
            what: format!("task {}", T::KIND),
            problems,
        };
        Written::of(submission).check().map_err(invalid)
    }

    /// What is sent, with the id by which a repeated call meets itself.
    pub(crate) async fn command(&self, client: &Client) -> Result<CreateExecution> {
        let mut command = self.member(client).await?;
        if self.said.execution_id.is_none() && self.key.is_none() {
            command.execution_uuid = Some(Uuid::now_v7());
        }
        Ok(command)
    }

    /// The same for a member of a flow, whose id follows from the flow's unless it was given one.
    pub(crate) async fn member(&self, client: &Client) -> Result<CreateExecution> {
        let what = format!("the input of task {}", self.kind);
        let input = client.seal(&what, self.input.clone()).await?;
        let delay_until = match (self.said.delay, self.said.delay_until) {
            (Some(delay), _) => Some(client.moment_after(delay).await?),
            (None, until) => until.map(timestamp),
        };
        Ok(CreateExecution {
            execution_id: self.said.execution_id,
            namespace: client.own_namespace().clone(),
            lane_id: self.options.lane.clone().unwrap_or_else(LaneId::default_lane),
            priority: self.options.priority.unwrap_or_default(),
            idempotency_key: self.key.clone(),
            tags: self.options.tags.clone(),
            policy: self.options.policy.clone(),
            delay_until,
            execution_deadline_at: self.said.deadline_at.map(timestamp),
            ..CreateExecution::new(self.kind.clone(), input)
        })
    }

    /// The execution there is now, unless the key belongs to something else.
    pub(crate) fn accept(&self, created: Created) -> Result<ExecutionId> {
        match (created, &self.key) {
            (
                Created::Duplicate {
                    execution_id,
                    content_differs: true,
                },
                Some(key),
            ) if !self.said.accept_other_content => Err(Error::ContentDiffers {
                key: key.to_string(),
                execution_id,
            }),
            _ => Ok(created.execution_id()),
        }
    }

    /// About how many bytes it takes in a call.
    pub(super) fn size(&self) -> usize {
        // As base64, which is what bytes that are no JSON travel as, and with room for what is said besides.
        self.input.len() * 4 / 3 + 4_096
    }
}

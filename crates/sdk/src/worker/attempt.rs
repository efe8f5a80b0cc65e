//! One task, from its claim until it is let go.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use ff_core::command::claim::{Finish, FinishedOutcome, Task};
use ff_core::command::flow::WaitedChildren;
use ff_core::command::operator::CancelExecution;
use ff_core::command::steps::{ProgressNote, TaskJournal};
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::Rejection;
use ff_core::fabric::types::GetResult;
use ff_core::fabric::{Fabric, On};
use ff_core::payload::Payload;
use futures::FutureExt;
use tracing::Instrument;

use super::drive::{Drove, drive, message};
use super::finish::{Way, way};
use super::journal;
use super::layer::Next;
use super::lease::{GoneOnDrop, Lease, is_lost};
use super::registry::Registered;
use super::shared::{Shared, UnknownKind};
use crate::client::Client;
use crate::codec::CodecError;
use crate::ctx::{Ctx, Journal, Run};
use crate::duration::millis;
use crate::handler::{Given, TaskInfo};
use crate::inputs::NamedInputs;
use crate::task_error::TaskError;

/// How long a task of an unknown kind is put off.
const UNKNOWN_PAUSE: Duration = Duration::from_secs(15);

/// Runs a task until it is let go, or lost.
pub(super) async fn run(shared: Arc<Shared>, task: Task, lease: Lease) {
    let _gone = GoneOnDrop(lease.clone());
    let info = TaskInfo::of(&task);
    let span = tracing::info_span!(
        "task",
        execution_id = %info.id(),
        kind = info.kind(),
        attempt = info.attempt(),
        lane = info.lane(),
        instance = %shared.identity.instance,
        traceparent = info.tags().get(ff_core::trace::TRACE_TAG),
    );
    let client = shared.client.holding(lease.holder());
    let attempt = Attempt {
        shared,
        client,
        info,
        lease,
    };
    attempt.run_or_fail(task).instrument(span).await;
}

struct Attempt {
    shared: Arc<Shared>,
    /// Shows the lease.
    client: Client,
    info: TaskInfo,
    lease: Lease,
}

/// What became of letting a task go.
enum LetGo {
    Gone,
    /// What it waits for is there: the handler runs again at once.
    GoesOn,
    /// The same, where it waits for its children.
    GoesOnWithChildren,
}

impl Attempt {
    /// Runs it. Where a layer or a codec panics, the task fails as where its handler does: given back, it would run for ever.
    async fn run_or_fail(&self, task: Task) {
        if let Err(panic) = AssertUnwindSafe(self.run(task)).catch_unwind().await {
            self.let_go(Way::fail(TaskError::panicked(message(&*panic)))).await;
        }
    }

    async fn run(&self, mut task: Task) {
        let Some(handler) = self.shared.handlers.get(self.info.kind()) else {
            return self.refuse_unknown_kind().await;
        };
        let admitted = handler.limit.as_ref().map(|limit| limit.admit(self.info.id()));
        let _permit = match admitted.transpose() {
            Ok(permit) => permit,
            Err(pause) => return self.put_off(pause).await,
        };
        let brought = task.journal.take();
        match self.prepare(handler, task).await {
            Ok(prepared) => self.run_handler(handler, prepared, brought).await,
            Err(error) => {
                self.let_go(Way::fail(error)).await;
            }
        }
    }

    async fn run_handler(
        &self,
        handler: &Registered,
        (input, inputs): (Payload, NamedInputs),
        brought: Option<TaskJournal>,
    ) {
        let mut read = journal::complete(brought, &self.client, &self.lease).await;
        let mut children_held = false;
        loop {
            let journal = match read {
                Ok(steps) => Journal::new(steps),
                Err(refusal) if is_lost(refusal.code) => return,
                Err(refusal) => {
                    let told = format!("what was done before cannot be read: {refusal}");
                    self.let_go(Way::fail(TaskError::transient(told))).await;
                    return;
                }
            };
            let ctx = self.ctx(journal, children_held);
            let given = Given {
                task: self.info.clone(),
                input: input.clone(),
                inputs: inputs.clone(),
                states: Arc::clone(&self.shared.states),
                ctx: ctx.clone(),
            };
            let next = Next::new(Arc::clone(&self.shared.layers), Arc::clone(&handler.run), given);
            let drove = drive(next.run(&self.info), &ctx, &self.lease).await;
            if let Drove::Ended(Ok(_)) = &drove {
                ctx.tell_unused();
            }
            children_held = match self.end(drove).await {
                LetGo::Gone => return,
                LetGo::GoesOn => false,
                LetGo::GoesOnWithChildren => true,
            };
            // What it waited for stands in the journal now.
            read = journal::read_from(None, &self.client, &self.lease).await;
        }
    }

    fn ctx(&self, journal: Journal, children_held: bool) -> Ctx {
        Ctx::new(Run {
            sleeps_in_place: !self.shared.clock.is_moved(),
            clock: self.shared.clock.clone(),
            probe: self.shared.probe.clone(),
            journal,
            children_held,
            lease: Some(self.lease.clone()),
            ..Run::new(self.info.clone(), self.client.clone(), Arc::clone(&self.shared.codec))
        })
    }

    /// What the handler works on, through the codec.
    async fn prepare(&self, handler: &Registered, task: Task) -> Result<(Payload, NamedInputs), TaskError> {
        let input = self.open("the input", task.input).await?;
        let mut inputs = Vec::new();
        if handler.needs.inputs {
            for (name, stored) in task.inputs {
                inputs.push((name.to_string(), self.open("an input", stored).await?));
            }
            for omitted in task.inputs_omitted {
                let read = On::new(omitted.execution_id, GetResult::default());
                let stored = self.client.get_result(read).await?;
                inputs.push((omitted.name.to_string(), self.open("an input", stored).await?));
            }
        }
        Ok((input, NamedInputs::new(inputs)))
    }

    async fn open(&self, what: &str, stored: Payload) -> Result<Payload, TaskError> {
        match stored.is_empty() {
            true => Ok(stored),
            false => self
                .shared
                .codec
                .decode(stored)
                .await
                .map_err(|error| codec_failed(what, &error)),
        }
    }

    /// Lets the task go as the run of its handler says.
    async fn end(&self, drove: Drove) -> LetGo {
        match way(drove, &self.shared).await {
            Way::Nothing => LetGo::Gone,
            Way::Cancel(reason) => {
                self.cancel(reason).await;
                LetGo::Gone
            }
            way @ Way::Finish(_) => self.let_go(way).await,
        }
    }

    async fn let_go(&self, way: Way) -> LetGo {
        let Way::Finish(finish) = way else { return LetGo::Gone };
        let is_failure = matches!(*finish, Finish::Fail(_));
        match self.lease.finish(*finish).await {
            Ok(FinishedOutcome::Suspended(SuspendedTask::AlreadySatisfied { .. })) => LetGo::GoesOn,
            Ok(FinishedOutcome::WaitedChildren(WaitedChildren::AlreadySatisfied)) => LetGo::GoesOnWithChildren,
            Ok(_) => LetGo::Gone,
            Err(refusal) if is_lost(refusal.code) || is_failure => {
                tracing::warn!(%refusal, "what came of the task could not be told");
                LetGo::Gone
            }
            Err(refusal) => self.fail_for(&refusal).await,
        }
    }

    /// What a handler wants is refused, and would be again: the task fails, instead of running for ever.
    async fn fail_for(&self, refusal: &Rejection) -> LetGo {
        let told = format!("what the handler came to was refused: {refusal}");
        let Way::Finish(fail) = Way::fail(TaskError::permanent(told)) else {
            return LetGo::Gone;
        };
        if let Err(refusal) = self.lease.finish(*fail).await {
            tracing::warn!(%refusal, "the failure of the task could not be told");
        }
        LetGo::Gone
    }

    async fn cancel(&self, reason: String) {
        let cancel = CancelExecution {
            reason,
            fence: Some(self.lease.fence),
        };
        if let Err(refusal) = self.client.cancel_execution(On::new(self.info.id(), cancel)).await {
            tracing::warn!(%refusal, "the task could not be cancelled");
        }
    }

    async fn put_off(&self, pause: Duration) {
        let until = self.shared.clock.now() + millis(pause);
        self.let_go(Way::delay(until, None)).await;
    }

    async fn refuse_unknown_kind(&self) {
        let (instance, kind) = (&self.shared.identity.instance, self.info.kind());
        let told = format!("worker {instance} has no handler for kind {kind}");
        match self.shared.unknown_kind {
            UnknownKind::Fail => {
                self.let_go(Way::fail(TaskError::permanent(told))).await;
            }
            UnknownKind::Delay => {
                tracing::warn!("{told}: the task is put off");
                self.lease.progress(ProgressNote {
                    pct: None,
                    message: Some(told),
                });
                self.put_off(UNKNOWN_PAUSE).await;
            }
        }
    }
}

/// A codec's failure as one of the task.
pub(crate) fn codec_failed(what: &str, error: &CodecError) -> TaskError {
    let told = format!("{what}: {error}");
    match error.is_transient() {
        true => TaskError::transient(told),
        false => TaskError::permanent(told),
    }
}

//! append_frame: the store checks the lease, the execution is not written.

use std::time::Duration;

use ff_backend::Error;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Keep, NewFrame};
use ff_core::command::stream::{AppendFrame, AppendedFrame, AttemptRef};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use ff_core::frame::{FrameId, FrameMode};
use ff_core::id::ExecutionId;
use ff_core::machine::{Draft, Step, lease, stream};
use ff_core::name::RequestId;
use ff_core::record::{Execution, Fence};

use crate::engine::Engine;
use crate::fault::refusal;
use crate::mint;

/// Times the store may fail, or its reply be lost, before the caller is told.
const FAILURES_MAX: u32 = 3;
/// Times the summary may move on between reading and writing it before the caller is told.
const SUMMARY_CONFLICTS_MAX: u32 = 24;
/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_millis(50);

impl Engine {
    /// Appends a frame. Every frame has a key, so that the store recognises one whose reply was lost.
    pub(super) async fn stream_frame(&self, id: ExecutionId, command: AppendFrame) -> Result<AppendedFrame> {
        stream::check_frame(&command.payload)?;
        let fence = *lease::require_fence(command.fence.as_ref())?;
        let execution = self.streaming(id, &fence).await?;
        let key = match command.request_id {
            Some(request_id) => request_id,
            None => RequestId::parse(mint::secret(self.host()).simple().to_string())?,
        };
        let mode = command.mode;
        let frame = NewFrame {
            frame_type: command.frame_type,
            payload: command.payload,
            correlation_id: command.correlation_id,
            mode: Keep::Durable,
            key: Some(key),
        };
        let append = Append::to(&execution, fence, frame);
        let appended = match mode {
            FrameMode::Durable => self.append_kept(append, Keep::Durable).await,
            FrameMode::BestEffort { ttl } => self.append_kept(append, Keep::BestEffort { ttl }).await,
            FrameMode::Summary => self.append_summary(append).await,
        }?;
        self.shared.streams.wake(&attempt_of(&execution));
        Ok(AppendedFrame {
            frame_id: appended.frame_id,
            frame_count: appended.count,
        })
    }

    /// The execution a frame goes to. The first frame under a lease marks it as used: otherwise a lease that only streams
    /// would go back as one nobody took.
    ///
    /// A fence that is not live is not refused here: the store tells a stream that ended from an owner that lost its lease.
    async fn streaming(&self, id: ExecutionId, fence: &Fence) -> Result<Execution> {
        let held = self.shared.leases.get(id).map(|held| held.execution);
        let usable =
            |execution: &Execution| self.caller.sees(&execution.definition.namespace) && is_confirmed(execution, fence);
        if let Some(execution) = held.filter(usable) {
            return Ok(execution);
        }
        self.change_held(id, |execution, context| {
            let draft = match lease::confirm(execution, Some(fence), context) {
                Ok(step) if !step.draft.writes.is_empty() => step.draft,
                Ok(_) | Err(_) => Draft::default(),
            };
            let after = draft.execution(id).unwrap_or(execution).clone();
            Ok(Step { outcome: after, draft })
        })
        .await
    }

    /// Merges the patch into the summary as it stands, until nobody was faster.
    async fn append_summary(&self, append: Append) -> Result<Appended> {
        for _ in 0..SUMMARY_CONFLICTS_MAX {
            let summary = self.read_summary_of(&append).await?;
            let (document, revision) = match &summary {
                Some((document, revision)) => (Some(&document[..]), *revision),
                None => (None, 0),
            };
            let document = stream::merge_summary(document, &append.frame.payload)?.into();
            match self
                .try_append(append.clone(), Keep::Summary { document, revision })
                .await
            {
                Err(AppendError::SummaryConflict { .. }) => {}
                answer => return answer.map_err(refused),
            }
        }
        Err(Code::Contention.because("too many others change the same summary; try again"))
    }

    async fn append_kept(&self, append: Append, keep: Keep) -> Result<Appended> {
        self.try_append(append, keep).await.map_err(refused)
    }

    /// Appends, again with the same key when the store failed or its reply was lost.
    async fn try_append(&self, mut append: Append, keep: Keep) -> std::result::Result<Appended, AppendError> {
        append.frame.mode = keep;
        let mut failures = 0;
        loop {
            match self.store().append(append.clone()).await {
                Err(AppendError::Store(Error::Unavailable(_) | Error::Unknown(_))) if failures < FAILURES_MAX => {
                    failures += 1;
                    self.pause_before_append(failures).await;
                }
                answer => return answer,
            }
        }
    }

    async fn pause_before_append(&self, failures: u32) {
        let longest = u64::try_from(PAUSE_MAX.as_micros()).unwrap_or(u64::MAX) / u64::from(FAILURES_MAX);
        let jitter = mint::dice(self.host()) % (longest * u64::from(failures) + 1);
        self.host().sleep(Duration::from_micros(jitter)).await;
    }

    async fn read_summary_of(&self, append: &Append) -> Result<Option<(bytes::Bytes, u64)>> {
        // No frame lies there: only the summary is wanted.
        let nowhere = FrameRange {
            execution_id: append.execution_id,
            attempt_index: append.attempt_index,
            from: FrameId::END,
            to: FrameId::END,
            limit: 1,
        };
        Ok(self.store().read(nowhere).await?.summary)
    }
}

/// Whether the lease of `fence` was live when the record was last seen, and somebody has used it.
fn is_confirmed(execution: &Execution, fence: &Fence) -> bool {
    let (Some(lease), Some(attempt)) = (execution.lease(), &execution.attempt) else {
        return false;
    };
    lease.confirmed && lease.fence(attempt.id) == *fence
}

fn attempt_of(execution: &Execution) -> AttemptRef {
    AttemptRef {
        execution_id: execution.id,
        attempt_index: execution.attempt.as_ref().map_or(0, |attempt| attempt.index),
    }
}

fn refused(error: AppendError) -> Rejection {
    match error {
        AppendError::StaleOwner => {
            Code::StaleOwnerCannotAppend.because("the lease is not the live one of this execution, or has expired")
        }
        AppendError::Closed => Code::StreamClosed.because("the attempt has ended, and its output with it"),
        AppendError::SummaryConflict { .. } => {
            Code::Contention.because("the summary was changed by another; try again")
        }
        AppendError::Store(error) => refusal(&error),
    }
}

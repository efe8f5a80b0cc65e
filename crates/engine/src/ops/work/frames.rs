//! append_frame: the store checks the lease, the execution is not written.

use std::time::Duration;

use ff_backend::Error;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Keep, NewFrame};
use ff_backend::tries::Tries;
use ff_core::command::stream::{AppendFrame, AppendedFrame, AttemptRef};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{On, Result};
use ff_core::frame::{FrameId, FrameMode};
use ff_core::id::ExecutionId;
use ff_core::machine::{Decided, Draft, lease, stream};
use ff_core::name::RequestId;
use ff_core::record::{Execution, Fence};

use crate::engine::Engine;
use crate::fault::refusal;
use crate::mint;

/// Times the store may fail, or its reply be lost, before the caller is told.
const FAILURES_MAX: u32 = 3;
/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_millis(50);

/// Appends a frame. Every frame has a key, so that the store recognises one whose reply was lost.
pub(crate) async fn append_frame(engine: &Engine, command: On<ExecutionId, AppendFrame>) -> Result<AppendedFrame> {
    let On { id, command } = command;
    stream::check_frame(&command.payload)?;
    let fence = *lease::require_fence(command.fence.as_ref())?;
    let execution = streaming(engine, id, &fence).await?;
    let key = match command.request_id {
        Some(request_id) => request_id,
        None => RequestId::parse(mint::secret(engine.host()).simple().to_string())?,
    };
    let mode = command.mode;
    let frame = NewFrame {
        frame_type: command.frame_type,
        payload: command.payload,
        correlation_id: command.correlation_id,
        mode: Keep::Durable,
        key: Some(key),
    };
    let bytes = frame.payload.len();
    let append = Append::to(&execution, fence, frame);
    let appended = match mode {
        FrameMode::Durable => append_kept(engine, append, Keep::Durable).await,
        FrameMode::BestEffort { ttl } => append_kept(engine, append, Keep::BestEffort { ttl }).await,
        FrameMode::Summary => append_summary(engine, append).await,
    }?;
    engine.shared.metrics.appended(&execution.definition.namespace, bytes);
    engine.shared.streams.wake(&attempt_of(&execution));
    Ok(AppendedFrame {
        frame_id: appended.frame_id,
        frame_count: appended.count,
    })
}

/// The execution a frame goes to. The first frame under a lease marks it as used: otherwise a lease that only streams
/// would go back as one nobody took.
///
/// A fence that is not live is not refused here: the store tells a stream that ended from an owner that lost its lease.
async fn streaming(engine: &Engine, id: ExecutionId, fence: &Fence) -> Result<Execution> {
    let held = engine.shared.leases.get(id).map(|held| held.execution);
    let usable =
        |execution: &Execution| engine.caller.sees(&execution.definition.namespace) && is_confirmed(execution, fence);
    if let Some(execution) = held.filter(usable) {
        return Ok(execution);
    }
    engine
        .change_held(id, |execution, context| {
            let draft = match lease::confirm(execution, Some(fence), context) {
                Ok(decided) if !decided.draft.writes.is_empty() => decided.draft,
                Ok(_) | Err(_) => Draft::default(),
            };
            let after = draft.execution(id).unwrap_or(execution).clone();
            Ok(Decided { outcome: after, draft })
        })
        .await
}

/// Merges the patch into the summary as it stands, until nobody was faster.
async fn append_summary(engine: &Engine, append: Append) -> Result<Appended> {
    let mut tries = Tries::default();
    loop {
        let summary = read_summary_of(engine, &append).await?;
        let (document, revision) = match &summary {
            Some((document, revision)) => (Some(&document[..]), *revision),
            None => (None, 0),
        };
        let document = stream::merge_summary(document, &append.frame.payload)?.into();
        match try_append(engine, append.clone(), Keep::Summary { document, revision }).await {
            Err(AppendError::SummaryConflict { .. }) => {}
            answer => return answer.map_err(refused),
        }
        tries.again(engine.store()).await?;
    }
}

async fn append_kept(engine: &Engine, append: Append, keep: Keep) -> Result<Appended> {
    try_append(engine, append, keep).await.map_err(refused)
}

/// Appends, again with the same key when the store failed or its reply was lost.
async fn try_append(engine: &Engine, mut append: Append, keep: Keep) -> std::result::Result<Appended, AppendError> {
    append.frame.mode = keep;
    let mut failures = 0;
    loop {
        match engine.store().append(append.clone()).await {
            Err(AppendError::Store(Error::Unavailable(_) | Error::Unknown(_))) if failures < FAILURES_MAX => {
                failures += 1;
                pause_before_append(engine, failures).await;
            }
            answer => return answer,
        }
    }
}

async fn pause_before_append(engine: &Engine, failures: u32) {
    let longest = u64::try_from(PAUSE_MAX.as_micros()).unwrap_or(u64::MAX) / u64::from(FAILURES_MAX);
    let jitter = mint::dice(engine.host()) % (longest * u64::from(failures) + 1);
    engine.host().sleep(Duration::from_micros(jitter)).await;
}

async fn read_summary_of(engine: &Engine, append: &Append) -> Result<Option<(bytes::Bytes, u64)>> {
    // No frame lies there: only the summary is wanted.
    let nowhere = FrameRange {
        execution_id: append.execution_id,
        attempt_index: append.attempt_index,
        from: FrameId::END,
        to: FrameId::END,
        limit: 1,
    };
    Ok(engine.store().read(nowhere).await?.summary)
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

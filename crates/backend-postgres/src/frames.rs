//! Output of attempts: frames, summaries and how streams end.

use ff_backend::Result;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep};
use ff_backend::hint::Hint;
use ff_core::frame::{Frame, FrameId};
use ff_core::name::{ContentType, FrameType};
use ff_core::payload::Payload;
use ff_core::time::Timestamp;

use crate::call::call;
use crate::error::corrupt;
use crate::hints;
use crate::rows::{FrameOutcome, FramePut, answered};
use crate::shared::{Shared, count, duration, moment, number};

/// Frames in one call at most.
const CALL_MAX: usize = 64;

answered! {
    /// A frame that was read.
    FoundFrame as "found_frame" {
        millis: i64, sequence: i64, frame_type: String, correlation_id: Option<Vec<u8>>, content_type: String,
        bytes: Vec<u8>,
    }
}

type Reply = std::result::Result<Appended, AppendError>;

impl Shared {
    /// Appends frames, each for itself.
    pub(crate) async fn append(&self, batch: Vec<Append>) -> Vec<Reply> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(CALL_MAX) {
            match self.append_part(part).await {
                Ok(part) => answers.extend(part),
                Err(error) => answers.extend(part.iter().map(|_| Err(AppendError::Store(error.clone())))),
            }
        }
        answers
    }

    async fn append_part(&self, appends: &[Append]) -> Result<Vec<Reply>> {
        let frames: Vec<FramePut> = appends.iter().map(frame_put).collect();
        let (now, answer) = self.ask(call!(writing append(frames: &frames))).await?;
        let outcomes: Vec<FrameOutcome> = answer.get("outcomes")?;
        let mut grown = Vec::new();
        let replies = appends.iter().zip(&outcomes).map(|(append, outcome)| {
            if outcome.what == "appended" {
                grown.push(Hint::Stream {
                    execution_id: append.execution_id,
                    attempt_index: append.attempt_index,
                });
            }
            reply(outcome, now)
        });
        let replies = replies.collect();
        hints::tell(self, grown);
        Ok(replies)
    }

    /// Reads frames, the summary and the end of a stream.
    pub(crate) async fn read(&self, range: FrameRange) -> Result<Frames> {
        let id = range.execution_id;
        let bound = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        let (now, answer) = self
            .ask(call!(reading frames(
                own_partition: &number(id.partition()),
                own_uuid: &id.uuid(),
                own_attempt: &range.attempt_index.cast_signed(),
                from_millis: &bound(range.from.millis),
                from_sequence: &bound(range.from.sequence),
                to_millis: &bound(range.to.millis),
                to_sequence: &bound(range.to.sequence),
                at_most: &count(range.limit),
            )))
            .await?;
        let found: Vec<FoundFrame> = answer.get("answer")?;
        let closed_at: Option<i64> = answer.get("closed_at")?;
        let reason: Option<String> = answer.get("closed_reason")?;
        let reason = reason
            .map(|word| serde_json::from_value(word.into()))
            .transpose()
            .map_err(corrupt)?;
        let summary: Option<Vec<u8>> = answer.get("summary")?;
        let revision: Option<i64> = answer.get("summary_revision")?;
        Ok(Frames {
            now,
            frames: found.into_iter().map(frame).collect::<Result<_>>()?,
            closed: closed_at.map(moment).zip(reason),
            summary: summary.map(Into::into).zip(revision.map(i64::cast_unsigned)),
        })
    }
}

fn frame_put(append: &Append) -> FramePut {
    let frame = &append.frame;
    let (ttl_ms, summary) = match &frame.mode {
        Keep::Durable => (None, None),
        Keep::BestEffort { ttl } => (Some(duration(*ttl)), None),
        Keep::Summary { document, revision } => (None, Some((document.to_vec(), revision.cast_signed()))),
    };
    let (summary, summary_revision) = summary.unzip();
    FramePut {
        partition: number(append.execution_id.partition()),
        uuid: append.execution_id.uuid(),
        attempt_index: append.attempt_index.cast_signed(),
        lease_epoch: append.fence.lease_epoch.cast_signed(),
        lease_id: append.fence.lease_id.expose(),
        attempt_id: append.fence.attempt_id.uuid(),
        frame_type: frame.frame_type.to_string(),
        correlation_id: frame.correlation_id.clone().map(String::into_bytes),
        content_type: frame.payload.content_type.as_str().to_owned(),
        bytes: frame.payload.bytes.to_vec(),
        key: frame.key.as_ref().map(ToString::to_string),
        ttl_ms,
        summary,
        summary_revision,
        keep_frames: i64::from(append.keep_frames),
        keep_for_ms: append.keep_for.map(duration),
    }
}

fn reply(outcome: &FrameOutcome, now: Timestamp) -> Reply {
    let place = || {
        let (millis, sequence) = outcome.millis.zip(outcome.sequence)?;
        Some(FrameId {
            millis: millis.cast_unsigned(),
            sequence: sequence.cast_unsigned(),
        })
    };
    match outcome.what.as_str() {
        "stale" => Err(AppendError::StaleOwner),
        "closed" => Err(AppendError::Closed),
        "summary" => Err(AppendError::SummaryConflict {
            revision: outcome.revision.unwrap_or_default().cast_unsigned(),
        }),
        what => Ok(Appended {
            frame_id: place().ok_or_else(|| corrupt("a frame without a place"))?,
            count: outcome.frames.unwrap_or_default().cast_unsigned(),
            now,
            repeated: what == "repeated",
        }),
    }
}

fn frame(found: FoundFrame) -> Result<Frame> {
    Ok(Frame {
        id: FrameId {
            millis: found.millis.cast_unsigned(),
            sequence: found.sequence.cast_unsigned(),
        },
        frame_type: FrameType::parse(found.frame_type).map_err(corrupt)?,
        correlation_id: found
            .correlation_id
            .map(String::from_utf8)
            .transpose()
            .map_err(corrupt)?,
        payload: Payload {
            bytes: found.bytes.into(),
            content_type: ContentType::parse(found.content_type).map_err(corrupt)?,
        },
    })
}

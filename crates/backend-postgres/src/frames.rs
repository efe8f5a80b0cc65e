//! Output of attempts: frames, summaries and how streams end.

use ff_backend::Result;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep};
use ff_backend::hint::Hint;
use ff_core::frame::{Frame, FrameId};
use ff_core::name::{ContentType, FrameType};
use ff_core::payload::Payload;
use ff_core::time::Timestamp;
use postgres_types::FromSql;

use crate::call::call;
use crate::error::corrupt;
use crate::hints;
use crate::rows::{FrameOutcome, FramePut};
use crate::shared::{Shared, duration, moment, number};

/// Frames in one call at most.
const CALL_MAX: usize = 64;

/// A frame that was read.
#[derive(Debug, FromSql)]
#[postgres(name = "found_frame")]
struct FoundFrame {
    millis: i64,
    sequence: i64,
    frame_type: String,
    correlation_id: Option<Vec<u8>>,
    content_type: String,
    bytes: Vec<u8>,
}

type Answer = std::result::Result<Appended, AppendError>;

impl Shared {
    /// Appends frames, each for itself.
    pub(crate) async fn append(&self, batch: Vec<Append>) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(batch.len());
        for part in batch.chunks(CALL_MAX) {
            match self.append_part(part).await {
                Ok(part) => answers.extend(part),
                Err(error) => answers.extend(part.iter().map(|_| Err(AppendError::Store(error.clone())))),
            }
        }
        answers
    }

    async fn append_part(&self, appends: &[Append]) -> Result<Vec<Answer>> {
        let (caller, frames): (_, Vec<FramePut>) = (self.caller(), appends.iter().map(frame_put).collect());
        let row = self
            .connections
            .row(call!(writing append(caller: &caller, frames: &frames)))
            .await?;
        let now = self.was_told(row.try_get("now").map_err(corrupt)?);
        let outcomes: Vec<FrameOutcome> = row.try_get("outcomes").map_err(corrupt)?;
        let mut grown = Vec::new();
        let answers = appends.iter().zip(&outcomes).map(|(append, outcome)| {
            if outcome.what == "appended" {
                grown.push(Hint::Stream {
                    execution_id: append.execution_id,
                    attempt_index: append.attempt_index,
                });
            }
            answer(outcome, now)
        });
        let answers = answers.collect();
        hints::tell(self, grown);
        Ok(answers)
    }

    /// Reads frames, the summary and the end of a stream.
    pub(crate) async fn read(&self, range: FrameRange) -> Result<Frames> {
        let caller = self.caller();
        let id = range.execution_id;
        let bound = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        let row = self
            .connections
            .row(call!(reading frames(
                caller: &caller,
                own_partition: &number(id.partition()),
                own_uuid: &id.uuid(),
                own_attempt: &range.attempt_index.cast_signed(),
                from_millis: &bound(range.from.millis),
                from_sequence: &bound(range.from.sequence),
                to_millis: &bound(range.to.millis),
                to_sequence: &bound(range.to.sequence),
                at_most: &i64::try_from(range.limit).unwrap_or(i64::MAX),
            )))
            .await?;
        let column = |error: tokio_postgres::Error| corrupt(error);
        let found: Vec<FoundFrame> = row.try_get("answer").map_err(column)?;
        let closed_at: Option<i64> = row.try_get("closed_at").map_err(column)?;
        let reason: Option<String> = row.try_get("closed_reason").map_err(column)?;
        let reason = reason
            .map(|word| serde_json::from_value(word.into()))
            .transpose()
            .map_err(corrupt)?;
        let summary: Option<Vec<u8>> = row.try_get("summary").map_err(column)?;
        let revision: Option<i64> = row.try_get("summary_revision").map_err(column)?;
        Ok(Frames {
            now: self.was_told(row.try_get("now").map_err(column)?),
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

fn answer(outcome: &FrameOutcome, now: Timestamp) -> Answer {
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

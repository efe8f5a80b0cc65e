//! Output of attempts: a stream of frames each, and a hash about it.

use ff_backend::Result;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep};
use ff_core::frame::{Frame, FrameId};
use ff_core::machine::decided::ClosedReason;
use ff_core::name::FrameType;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use redis::Value;

use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::load::payload;
use crate::pack::{Pack, count};
use crate::reply::{bytes, exactly, list, number, optional_number, text, values};
use crate::shared::Shared;

/// Frames in one call at most: the server does nothing else meanwhile.
const CALL_MAX: usize = 64;

type Answer = std::result::Result<Appended, AppendError>;

impl Shared {
    /// Appends frames, each for itself.
    pub(crate) async fn append(&self, batch: Vec<Append>) -> Vec<Answer> {
        let asked = batch
            .into_iter()
            .map(|append| (append.execution_id.partition(), append));
        let answers = self.in_groups(asked, CALL_MAX, |group| self.append_group(group)).await;
        answers.into_iter().map(|answer| answer?).collect()
    }

    async fn append_group(&self, group: Vec<(Partition, Append)>) -> Result<Vec<Answer>> {
        let mut ask = self.ask(1);
        ask.each(group.iter(), |ask, (_, append)| pack_append(ask, append));
        let reply = self.call(Function::APPEND, group[0].0, ask).await?;
        let answers = reply.answer.into_iter();
        Ok(answers.map(|answer| appended(answer, reply.now)).collect())
    }

    /// Reads frames, the summary and the end of a stream.
    pub(crate) async fn read(&self, range: FrameRange) -> Result<Frames> {
        let partition = range.execution_id.partition();
        let mut ask = self.ask(5);
        ask.text(prefix(partition))
            .text(format!("{}:{}", range.execution_id.uuid(), range.attempt_index));
        ask.text(range.from.to_string()).text(range.to.to_string());
        ask.number(count(range.limit.min(u32::MAX as usize)));
        let reply = self.call(Function::FRAMES, partition, ask).await?;
        let [frames, summary, revision, closed_at, closed_reason] = exactly(reply.answer)?;
        let summary = match revision {
            Value::Nil => None,
            revision => Some((bytes(summary)?, number(&revision)?)),
        };
        Ok(Frames {
            now: reply.now,
            frames: list(frames)?.into_iter().map(frame).collect::<Result<_>>()?,
            closed: closed(&closed_at, &closed_reason)?,
            summary,
        })
    }
}

fn pack_append(ask: &mut Pack, append: &Append) {
    let (fence, frame) = (&append.fence, &append.frame);
    ask.list(13).text(prefix(append.execution_id.partition()));
    ask.text(append.execution_id.uuid().to_string())
        .text(append.attempt_index.to_string());
    ask.text(fence.lease_epoch.to_string())
        .text(fence.lease_id.expose().to_string())
        .text(fence.attempt_id.to_string());
    ask.number(append.keep_frames);
    ask.maybe(append.keep_for.map(|span| count(span.as_millis())));
    ask.optional(frame.key.as_ref().map(|key| key.as_str()));
    match &frame.mode {
        Keep::Durable => ask.nothing().nothing().nothing(),
        Keep::BestEffort { ttl } => ask.number(count(ttl.as_millis())).nothing().nothing(),
        Keep::Summary { document, revision } => ask.nothing().text(document).text(revision.to_string()),
    };
    let fields = [
        ("type", Some(frame.frame_type.as_str().as_bytes())),
        ("payload", Some(frame.payload.bytes.as_ref())),
        ("content_type", Some(frame.payload.content_type.as_str().as_bytes())),
        ("correlation", frame.correlation_id.as_ref().map(|id| id.as_bytes())),
        ("key", frame.key.as_ref().map(|key| key.as_str().as_bytes())),
    ];
    let present: Vec<(&str, &[u8])> = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
    ask.list(2 * present.len());
    for (name, value) in present {
        ask.text(name).text(value);
    }
}

fn appended(answer: Value, now: Timestamp) -> Answer {
    let answer = list(answer)?;
    let part = |at: usize| answer.get(at).ok_or_else(|| corrupt("an answer is too short"));
    match text(part(0)?)? {
        outcome @ ("ok" | "repeated") => Ok(Appended {
            frame_id: frame_id(part(1)?)?,
            count: number(part(2)?)?,
            now,
            repeated: outcome == "repeated",
        }),
        "stale" => Err(AppendError::StaleOwner),
        "closed" => Err(AppendError::Closed),
        "conflict" => Err(AppendError::SummaryConflict {
            revision: number(part(1)?)?,
        }),
        other => Err(corrupt(format!("an append was answered {other:?}")).into()),
    }
}

fn frame_id(value: &Value) -> Result<FrameId> {
    text(value)?.parse().map_err(corrupt)
}

/// A frame of its entry in the stream.
fn frame(entry: Value) -> Result<Frame> {
    let [id, fields] = values(entry)?;
    let id = frame_id(&id)?;
    let (mut frame_type, mut content, mut content_type, mut correlation_id) = (None, None, None, None);
    let mut fields = list(fields)?.into_iter();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        match text(&name)? {
            "type" => frame_type = Some(FrameType::parse(text(&value)?).map_err(corrupt)?),
            "payload" => content = Some(value),
            "content_type" => content_type = Some(value),
            "correlation" => correlation_id = Some(text(&value)?.to_owned()),
            _ => {}
        }
    }
    let (Some(frame_type), Some(content), Some(content_type)) = (frame_type, content, content_type) else {
        return Err(corrupt(format!("frame {id} lacks a field")));
    };
    Ok(Frame {
        id,
        frame_type,
        payload: payload(content, &content_type)?,
        correlation_id,
    })
}

fn closed(at: &Value, reason: &Value) -> Result<Option<(Timestamp, ClosedReason)>> {
    let Some(at) = optional_number(at)? else {
        return Ok(None);
    };
    let reason = serde_json::from_value(text(reason)?.into()).map_err(corrupt)?;
    Ok(Some((Timestamp::from_millis(at), reason)))
}

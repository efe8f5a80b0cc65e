//! Output that is kept, recognised or read wrong.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use ff_backend::frames::{Append, AppendError, Appended, FrameRange, Frames, Keep};
use ff_backend::layer::Layer;
use ff_backend::{Backend, Result};
use ff_core::frame::FrameId;
use ff_core::id::ExecutionId;
use ff_core::name::RequestId;

use crate::liar::lies;

lies! {
    // Under each key the stream that was last appended to, and what was answered.
    Mutex<BTreeMap<RequestId, (Stream, Appended)>>;
    /// Best-effort frames stay.
    BestEffortStays,
    /// Old frames stay.
    FrameAgeIgnored,
    /// Streams keep every frame.
    FrameTrimIgnored,
    /// Frames lose what they were tied to.
    FrameCorrelationLost,
    /// Frames are read backwards.
    FrameOrderLost,
    /// Ranges begin after their beginning.
    ReadFromExclusive,
    /// Any number of frames is read.
    ReadIgnoresLimit,
    /// Whoever appends hears that the frame was appended.
    FrameFenceIgnored,
    /// Frames lose the key they are recognised by.
    FrameKeysIgnored,
    /// Frames are recognised by their key whatever their stream.
    FrameKeysMeet,
    /// A repeated frame is answered whoever repeats it.
    FrameKeyBeforeFence,
    /// Nobody is told that a frame was there already.
    FrameRepetitionHidden,
    /// Summaries are frames like others.
    SummaryIgnored,
    /// A summary is overwritten whatever it was merged into.
    SummaryLastWriterWins,
    /// A repeated frame is judged by the summary as it is now.
    SummaryJudgedBeforeKey,
}

type Stream = (ExecutionId, u32);
type Answer = std::result::Result<Appended, AppendError>;

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn append(&self, batch: Vec<Append>) -> Vec<Answer> {
        let mut answers = Vec::new();
        for append in batch {
            answers.push(self.append_one(append).await);
        }
        answers
    }

    async fn read(&self, mut range: FrameRange) -> Result<Frames> {
        match self.lie {
            Lie::ReadFromExclusive => range.from = range.from.after(),
            Lie::ReadIgnoresLimit => range.limit = usize::MAX,
            _ => {}
        }
        let mut frames = self.inner().read(range).await?;
        if self.lie == Lie::FrameOrderLost {
            frames.frames.reverse();
        }
        Ok(frames)
    }
}

impl Liar {
    async fn append_one(&self, mut append: Append) -> Answer {
        self.distort(&mut append);
        let stream = (append.execution_id, append.attempt_index);
        let known = append.frame.key.as_ref().and_then(|key| self.known(key));
        match known {
            Some((other, appended)) if self.lie == Lie::FrameKeysMeet && other != stream => return Ok(appended),
            _ => {}
        }
        let answer = self.honest_append(append.clone()).await;
        if let (Some(key), Ok(appended)) = (&append.frame.key, &answer) {
            self.seen
                .lock()
                .expect("no panic")
                .insert(key.clone(), (stream, *appended));
        }
        match (self.lie, answer) {
            (Lie::FrameKeyBeforeFence, Err(refusal)) => known.map(|(_, appended)| appended).ok_or(refusal),
            (Lie::FrameFenceIgnored, Err(AppendError::StaleOwner | AppendError::Closed)) => Ok(self.pretended()),
            (Lie::FrameRepetitionHidden, Ok(appended)) => Ok(Appended {
                repeated: false,
                ..appended
            }),
            (Lie::SummaryLastWriterWins, Err(AppendError::SummaryConflict { revision })) => {
                self.honest_append(merged_into(append, revision)).await
            }
            (Lie::SummaryJudgedBeforeKey, Ok(appended)) if appended.repeated => {
                self.judge_summary(&append).await.map(|()| appended)
            }
            (_, answer) => answer,
        }
    }

    fn distort(&self, append: &mut Append) {
        match (self.lie, &append.frame.mode) {
            (Lie::BestEffortStays, Keep::BestEffort { .. }) | (Lie::SummaryIgnored, Keep::Summary { .. }) => {
                append.frame.mode = Keep::Durable;
            }
            (Lie::FrameAgeIgnored, _) => append.keep_for = None,
            (Lie::FrameTrimIgnored, _) => append.keep_frames = u32::MAX,
            (Lie::FrameCorrelationLost, _) => append.frame.correlation_id = None,
            (Lie::FrameKeysIgnored, _) => append.frame.key = None,
            _ => {}
        }
    }

    fn known(&self, key: &RequestId) -> Option<(Stream, Appended)> {
        self.seen.lock().expect("no panic").get(key).copied()
    }

    async fn honest_append(&self, append: Append) -> Answer {
        self.inner().append(vec![append]).await.remove(0)
    }

    /// What whoever appends to an empty stream would hear.
    fn pretended(&self) -> Appended {
        let now = self.honest.memory.now();
        let frame_id = FrameId {
            millis: now.as_millis(),
            sequence: 0,
        };
        Appended {
            frame_id,
            count: 1,
            now,
            repeated: false,
        }
    }

    /// Refuses a summary that was merged into another revision than there is.
    async fn judge_summary(&self, append: &Append) -> std::result::Result<(), AppendError> {
        let stream = FrameRange {
            execution_id: append.execution_id,
            attempt_index: append.attempt_index,
            from: FrameId::START,
            to: FrameId::END,
            limit: 1,
        };
        let revision = self
            .inner()
            .read(stream)
            .await?
            .summary
            .map_or(0, |(_, revision)| revision);
        match append.frame.mode {
            Keep::Summary { revision: expected, .. } if expected != revision => {
                Err(AppendError::SummaryConflict { revision })
            }
            _ => Ok(()),
        }
    }
}

fn merged_into(mut append: Append, found: u64) -> Append {
    if let Keep::Summary { revision, .. } = &mut append.frame.mode {
        *revision = found;
    }
    append
}

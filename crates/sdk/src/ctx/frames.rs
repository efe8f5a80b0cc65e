//! What a handler puts out while it runs.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use ff_core::command::steps::ProgressNote;
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::frame::FrameMode;
use ff_core::limits::TEXT_BYTES_MAX;
use ff_core::name::{FrameType, RequestId};
use ff_core::payload::Payload;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Ctx;
use super::gate::Pause;
use super::step_run::current;
use crate::json;
use crate::task_error::{TaskError, cut};
use crate::worker::{codec_failed, is_lost};

/// The type of frames that change the summary.
const SUMMARY: &str = "summary";

/// Puts out frames of one type, in order. They are gathered for 20 ms or until there are 16 KiB of them, and sent together; a
/// handler that is faster than the engine waits. Everything is sent before what comes of its step, or its task, or with it.
pub struct FrameWriter {
    ctx: Ctx,
    frame_type: Result<FrameType, String>,
    /// Inside a step: its key and try, so that a reader can tell what a later try replaces.
    correlation_id: Option<String>,
    unsent: VecDeque<Arrival>,
}

type Arrival = oneshot::Receiver<ff_core::fabric::Result<AppendedFrame>>;

impl Ctx {
    /// A writer of frames of this type, for whoever watches the execution.
    pub fn frames(&self, frame_type: &str) -> FrameWriter {
        FrameWriter {
            ctx: self.clone(),
            frame_type: FrameType::parse(frame_type).map_err(|refusal| refusal.to_string()),
            correlation_id: current().map(|step| format!("{}/{}", step.key, step.number_of_try)),
            unsent: VecDeque::new(),
        }
    }

    /// Puts out one frame. Outside of steps it stands once in an attempt, however often the handler comes by.
    pub async fn emit<T: Serialize + ?Sized>(&self, frame_type: &str, value: &T) -> Result<(), TaskError> {
        let mut writer = self.frames(frame_type);
        let written = writer.written(value);
        let request_id = match &writer.correlation_id {
            Some(_) => None,
            None => {
                let number = self.run.emitted.fetch_add(1, Ordering::Relaxed);
                RequestId::parse(format!("emit#{number}")).ok()
            }
        };
        writer
            .send(self.sealed(written?).await?, request_id, FrameMode::Durable)
            .await?;
        writer.flush().await
    }

    /// Changes the summary of this attempt by a JSON merge patch: what is `null` goes, the rest is merged. It stays readable: no
    /// codec touches it.
    pub async fn summary<T: Serialize + ?Sized>(&self, patch: &T) -> Result<(), TaskError> {
        let mut writer = self.frames(SUMMARY);
        let written = writer.written(patch);
        writer.send(written?, None, FrameMode::Summary).await?;
        writer.flush().await
    }

    /// Says how far the work is: percent, and a sentence. It is told with the next step that is recorded, or a second later; of
    /// several the last one counts.
    pub async fn progress(&self, pct: u8, message: impl Into<String>) -> Result<(), TaskError> {
        self.may_go_on().await?;
        if let Some(lease) = &self.run.lease {
            lease.progress(ProgressNote {
                pct: Some(pct.min(100)),
                message: Some(cut(message.into(), TEXT_BYTES_MAX)),
            });
        }
        Ok(())
    }

    /// Through the codec.
    pub(super) async fn sealed(&self, payload: Payload) -> Result<Payload, TaskError> {
        self.run
            .codec
            .encode(payload)
            .await
            .map_err(|error| codec_failed("a frame", &error))
    }
}

impl FrameWriter {
    /// Puts out a value. It may be on its way when this returns; a refusal is told by a later call.
    pub async fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), TaskError> {
        let written = self.written(value);
        let payload = self.ctx.sealed(written?).await?;
        self.send(payload, None, FrameMode::Durable).await
    }

    /// Sends what is gathered, and waits until everything has arrived.
    pub async fn flush(&mut self) -> Result<(), TaskError> {
        if let Some(lease) = &self.ctx.run.lease {
            lease.flush();
        }
        while let Some(arrival) = self.unsent.front_mut() {
            let arrived = arrival.await.ok();
            self.unsent.pop_front();
            self.heard(arrived).await?;
        }
        Ok(())
    }

    fn written<T: Serialize + ?Sized>(&self, value: &T) -> Result<Payload, TaskError> {
        json::write(value).map_err(|error| TaskError::permanent(format!("a frame has no JSON form: {error}")))
    }

    async fn send(
        &mut self,
        payload: Payload,
        request_id: Option<RequestId>,
        mode: FrameMode,
    ) -> Result<(), TaskError> {
        self.ctx.may_go_on().await?;
        let frame_type = self.frame_type.clone().map_err(TaskError::permanent)?;
        let Some(lease) = &self.ctx.run.lease else {
            return Ok(());
        };
        let fresh = || RequestId::parse(uuid::Uuid::new_v4().to_string()).ok();
        let append = lease.append(AppendFrame {
            fence: None,
            frame_type,
            payload,
            mode,
            correlation_id: self.correlation_id.clone(),
            // Its own, so that a repeated call appends it once, with whatever it is sent together.
            request_id: request_id.or_else(fresh),
        });
        self.unsent.push_back(append.await);
        self.hear_what_arrived().await
    }

    /// Learns what became of frames, without waiting for those that are on their way.
    async fn hear_what_arrived(&mut self) -> Result<(), TaskError> {
        while let Some(arrival) = self.unsent.front_mut() {
            let arrived = match arrival.try_recv() {
                Ok(arrived) => Some(arrived),
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Closed) => None,
            };
            self.unsent.pop_front();
            self.heard(arrived).await?;
        }
        Ok(())
    }

    /// What became of a frame; nothing: its lease is gone.
    async fn heard(&self, arrived: Option<ff_core::fabric::Result<AppendedFrame>>) -> Result<(), TaskError> {
        match arrived {
            Some(Ok(_)) => Ok(()),
            Some(Err(refusal)) if !is_lost(refusal.code) => {
                Err(TaskError::permanent(format!("a frame was refused: {refusal}")))
            }
            Some(Err(_)) | None => self.ctx.pause_with(None, Pause::Abandon).await,
        }
    }
}

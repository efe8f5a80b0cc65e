//! `ff tail`.

use ff_core::frame::Frame;
use ff_core::payload::Payload;
use ff_sdk::run::RunFrame;
use ff_sdk::{Client, Task};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::say;
use crate::verbs::output::{Ink, clean};
use crate::verbs::session::{Common, Session};
use crate::verbs::which::OneExecution;

/// Follow what an execution puts out until it ends
///
/// The frames of all its attempts, from the first one on.
#[derive(clap::Args)]
pub(crate) struct Tail {
    #[command(flatten)]
    execution: OneExecution,
    /// Only frames of this type
    #[arg(long = "type", value_name = "TYPE")]
    frame_type: Option<String>,
    /// The bytes alone, without line ends between frames
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    common: Common,
}

/// A frame as the interface has it, with the attempt it belongs to.
#[derive(Serialize)]
struct FrameOfAttempt {
    attempt_index: u32,
    #[serde(rename = "..frame")]
    frame: Frame,
}

/// An execution of any kind.
#[derive(Serialize, Deserialize)]
struct Anything;

impl Task for Anything {
    const KIND: &'static str = "anything";
    type Output = Value;
    type Inputs = ();
}

impl Tail {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let run = Client::over(session.fabric.clone()).run::<Anything>(id);
        let mut frames = run.frames();
        if let Some(frame_type) = &self.frame_type {
            frames = frames.of_type(frame_type);
        }
        let (mut frames, mut attempt) = (frames.await?, None);
        while let Some(frame) = frames.next().await {
            let frame = frame?;
            if !self.raw
                && attempt
                    .replace(frame.attempt)
                    .is_some_and(|before| before != frame.attempt)
            {
                say::aside(format_args!("attempt {}:", frame.attempt));
            }
            self.print(&session, frame)?;
        }
        if !self.raw {
            say::aside(format_args!("It has ended: {}.", run.state().await?));
        }
        Ok(())
    }

    fn print(&self, session: &Session, frame: RunFrame) -> anyhow::Result<()> {
        if self.raw {
            return session.out.bytes(&frame.payload.bytes);
        }
        if !session.out.is_table() {
            return session.out.json(&FrameOfAttempt::from(frame));
        }
        let kind = session.out.paint.paint(Ink::Faint, frame.frame_type.as_str());
        session.out.text(&format!("{kind}  {}\n", shown(&frame.payload)))
    }
}

impl From<RunFrame> for FrameOfAttempt {
    fn from(frame: RunFrame) -> Self {
        Self {
            attempt_index: frame.attempt,
            frame: Frame {
                id: frame.id,
                frame_type: frame.frame_type,
                payload: frame.payload,
                correlation_id: frame.correlation_id,
            },
        }
    }
}

/// A payload on one line: a text without its quotes, everything else as it is.
pub(super) fn shown(payload: &Payload) -> String {
    if let Ok(text) = serde_json::from_slice::<String>(&payload.bytes) {
        return clean(&text);
    }
    match std::str::from_utf8(&payload.bytes) {
        Ok(text) => clean(text),
        Err(_) => format!("({} bytes of {})", payload.len(), payload.content_type),
    }
}

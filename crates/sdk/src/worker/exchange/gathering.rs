//! What a task says that waits for company: it goes with the next call, or with one of its own when it has waited long enough.

use std::collections::VecDeque;
use std::time::Duration;

use ff_core::command::steps::ProgressNote;
use ff_core::command::stream::AppendedFrame;
use tokio::time::Instant;

use super::super::output::{GATHER_BYTES, GATHER_TIME, Unsent};
use super::held::Saying;

/// How long a note of progress waits for a step that takes it along.
const PROGRESS_TIME: Duration = Duration::from_secs(1);

/// Until when something waits. Once that was noticed it is no moment to wait for any more.
#[derive(Default)]
pub(super) enum Wait {
    #[default]
    Nothing,
    Until(Instant),
    Over,
}

impl Wait {
    /// Waits until `moment`, unless it waited before.
    const fn begin(&mut self, moment: Instant) {
        if let Self::Nothing = self {
            *self = Self::Until(moment);
        }
    }

    /// Whether it is over now and was not when this was asked before.
    pub(super) fn has_come(&mut self, now: Instant) -> bool {
        let has_come = matches!(self, Self::Until(moment) if *moment <= now);
        if has_come {
            *self = Self::Over;
        }
        has_come
    }

    /// Whether it was long enough.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// When it will have been long enough.
    pub(super) const fn moment(&self) -> Option<Instant> {
        match self {
            Self::Until(moment) => Some(*moment),
            Self::Nothing | Self::Over => None,
        }
    }
}

/// Frames in the order in which they were put out.
#[derive(Default)]
pub(super) struct Output {
    frames: VecDeque<Saying<Unsent, AppendedFrame>>,
    bytes: usize,
    pub(super) wait: Wait,
}

impl Output {
    pub(super) fn push(&mut self, frame: Saying<Unsent, AppendedFrame>, now: Instant) {
        self.bytes += frame.0.size();
        self.frames.push_back(frame);
        self.wait.begin(now + GATHER_TIME);
        if self.bytes >= GATHER_BYTES {
            self.hurry();
        }
    }

    /// It waits for no more.
    pub(super) fn hurry(&mut self) {
        if !self.frames.is_empty() {
            self.wait = Wait::Over;
        }
    }

    /// Takes the first one, if it is to be taken at its size.
    pub(super) fn pop_if(&mut self, fits: impl FnOnce(usize) -> bool) -> Option<Saying<Unsent, AppendedFrame>> {
        let size = self.frames.front()?.0.size();
        if !fits(size) {
            return None;
        }
        self.bytes -= size;
        let frame = self.frames.pop_front();
        if self.frames.is_empty() {
            self.wait = Wait::Nothing;
        }
        frame
    }

    /// The one that was taken last is to be tried again.
    pub(super) fn put_back(&mut self, frame: Saying<Unsent, AppendedFrame>) {
        self.bytes += frame.0.size();
        self.frames.push_front(frame);
        self.hurry();
    }

    pub(super) fn take_all(&mut self) -> VecDeque<Saying<Unsent, AppendedFrame>> {
        std::mem::take(self).frames
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// How far the work is, as it was said last.
#[derive(Default)]
pub(super) struct Progress {
    note: Option<ProgressNote>,
    pub(super) wait: Wait,
}

impl Progress {
    pub(super) fn set(&mut self, note: ProgressNote, now: Instant) {
        self.note = Some(note);
        self.wait.begin(now + PROGRESS_TIME);
    }

    pub(super) fn take(&mut self) -> Option<ProgressNote> {
        std::mem::take(self).note
    }

    /// It could not be told: it is to be tried again, unless something newer was said.
    pub(super) fn put_back(&mut self, note: Option<ProgressNote>) {
        if self.note.is_none() && note.is_some() {
            *self = Self { note, wait: Wait::Over };
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.note.is_none()
    }
}

#[cfg(test)]
mod tests {
    use ff_core::command::stream::AppendFrame;
    use ff_core::frame::FrameMode;
    use ff_core::name::FrameType;
    use ff_core::payload::Payload;
    use tokio::sync::oneshot;

    use super::super::super::output::OutputRoom;
    use super::*;

    async fn pushed(output: &mut Output, room: &OutputRoom, bytes: usize, now: Instant) {
        let frame = AppendFrame {
            fence: None,
            frame_type: FrameType::parse("token").unwrap(),
            payload: Payload::binary(vec![b'x'; bytes]),
            mode: FrameMode::Durable,
            correlation_id: None,
            request_id: None,
        };
        output.push((room.enter(frame).await, oneshot::channel().0), now);
    }

    #[tokio::test]
    async fn output_waits_20_ms_from_the_first_frame_or_until_there_are_16_kib() {
        let (mut output, room, start) = (Output::default(), OutputRoom::new(), Instant::now());
        let after = |ms| start + Duration::from_millis(ms);
        pushed(&mut output, &room, 10, start).await;
        pushed(&mut output, &room, 10, after(15)).await;
        assert_eq!(output.wait.moment(), Some(after(20)));
        assert!(!output.wait.has_come(after(19)));
        assert!(output.wait.has_come(after(20)));
        assert!(
            output.wait.is_over() && !output.wait.has_come(after(21)),
            "it is noticed once"
        );
        while output.pop_if(|_| true).is_some() {}
        pushed(&mut output, &room, 10, after(30)).await;
        assert!(!output.wait.is_over(), "the next ones wait for themselves");
        pushed(&mut output, &room, GATHER_BYTES, after(31)).await;
        assert!(output.wait.is_over());
    }

    #[tokio::test]
    async fn a_handler_waits_for_room_and_small_frames_take_some_too() {
        let (mut output, room, now) = (Output::default(), OutputRoom::new(), Instant::now());
        let mut fitting = 0;
        while let Some(()) = futures::FutureExt::now_or_never(pushed(&mut output, &room, 0, now)) {
            fitting += 1;
            assert!(fitting < 10_000, "there is an end to it");
        }
        output.pop_if(|_| true);
        pushed(&mut output, &room, 0, now).await;
        output.take_all();
        pushed(&mut output, &room, 10 * GATHER_BYTES, now).await;
    }

    #[tokio::test]
    async fn the_latest_progress_is_told_a_second_after_the_first() {
        let (mut progress, start) = (Progress::default(), Instant::now());
        let note = |pct| ProgressNote {
            pct: Some(pct),
            message: None,
        };
        progress.set(note(1), start);
        progress.set(note(2), start + PROGRESS_TIME / 2);
        assert!(progress.wait.has_come(start + PROGRESS_TIME));
        let told = progress.take();
        assert_eq!(told, Some(note(2)));
        progress.set(note(3), start + PROGRESS_TIME);
        progress.put_back(told);
        assert_eq!(progress.take(), Some(note(3)), "what is newer stays");
    }
}

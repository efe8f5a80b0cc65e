//! Output on its way from handlers to the engine: gathered for a moment, and never more than there is room for.

use std::sync::Arc;
use std::time::Duration;

use ff_core::command::stream::AppendFrame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long output waits for more of it.
pub(super) const GATHER_TIME: Duration = Duration::from_millis(20);
/// Output that is as much as this waits for no more.
pub(super) const GATHER_BYTES: usize = 16 * 1024;
/// So much of a task's output is gathered or on its way at most: as much again can gather while some is on its way.
const ROOM_BYTES: usize = 2 * GATHER_BYTES;
/// What a frame takes besides its bytes, so that there is an end to small ones, too.
const FRAME_BYTES: usize = 64;

/// The room for the output of a task. A handler that is faster than the engine waits for it.
#[derive(Clone)]
pub(crate) struct OutputRoom(Arc<Semaphore>);

/// A frame that has not arrived, in the room it takes.
pub(crate) struct Unsent {
    pub(super) frame: AppendFrame,
    _room: Option<OwnedSemaphorePermit>,
}

impl OutputRoom {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM_BYTES)))
    }

    /// Waits for room, in the order of asking.
    pub(super) async fn enter(&self, frame: AppendFrame) -> Unsent {
        // One that is larger than all of it goes alone.
        let bytes = size(&frame).min(ROOM_BYTES);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.0).acquire_many_owned(bytes).await;
        // The room is never closed; where it were, nobody would have to wait.
        Unsent {
            frame,
            _room: room.ok(),
        }
    }
}

impl Unsent {
    pub(super) fn size(&self) -> usize {
        size(&self.frame)
    }
}

fn size(frame: &AppendFrame) -> usize {
    frame.payload.len() + FRAME_BYTES
}

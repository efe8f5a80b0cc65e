//! Reading the output of attempts.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::stream::{AttemptRef, ReadStream, StreamPage, TailStream};
use crate::payload::Payload;

/// Reading the output of attempts.
#[async_trait]
pub trait Streams: Send + Sync {
    /// Frames of a range.
    async fn read_stream(&self, request: On<AttemptRef, ReadStream>) -> Result<StreamPage>;

    /// Frames after a place, parking until there are some or the stream ends.
    async fn tail_stream(&self, request: On<AttemptRef, TailStream>) -> Result<StreamPage>;

    /// The summary document; `None` when no summary frame was appended.
    async fn read_summary(&self, attempt: AttemptRef) -> Result<Option<Payload>>;
}

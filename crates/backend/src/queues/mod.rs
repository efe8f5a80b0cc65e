//! What a backend knows of its queues besides what stands in them.

mod counts;
mod filled;

pub use counts::QueueCounts;
pub use filled::{FilledQueues, Moment, SOURCES_MAX, Source};

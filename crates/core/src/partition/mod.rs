//! Partitions: everything that one transaction may touch together.

mod counts;
mod crc16;
mod tag;

pub use counts::{CountsMismatch, PARTITIONS_MAX, PartitionCounts};
pub use crc16::crc16;
pub use tag::{Family, Partition};

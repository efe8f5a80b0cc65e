//! How far a reader has come in the feed of every partition, in few bytes: every event carries it.
//!
//! The latest moment stands first, then how long before it the reader began. Then, for each partition that was read, three
//! numbers: how many partitions lie between it and the one before, how long before the latest moment its position is, and the
//! position's number within its millisecond.
//! A number is written in groups of seven bits, the lowest first; all but its last byte have the highest bit set.

use std::collections::BTreeMap;

use ff_backend::query::{FeedPosition, FeedStart};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

/// Where a reader stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Positions {
    /// When it read its first page: what was dropped since from a feed it has seen nothing of, it missed.
    began: Timestamp,
    /// The last line seen of each partition, by its index.
    seen: BTreeMap<u16, FeedPosition>,
}

impl Positions {
    /// Those of a reader whose first page was read at this moment.
    pub(super) const fn beginning(began: Timestamp) -> Self {
        Self {
            began,
            seen: BTreeMap::new(),
        }
    }

    /// Where to go on in the feed of a partition.
    pub(super) fn start_of(&self, partition: Partition) -> FeedStart {
        let seen = self.seen.get(&partition.index);
        seen.map_or(FeedStart::Since(self.began), |position| FeedStart::After(*position))
    }

    /// A line was seen.
    pub(super) fn pass(&mut self, partition: Partition, position: FeedPosition) {
        self.seen.insert(partition.index, position);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let began = self.began.as_millis();
        let seen = self.seen.values().map(|position| position.millis);
        let latest = seen.fold(began, u64::max);
        let mut bytes = Vec::new();
        write(&mut bytes, latest);
        write(&mut bytes, latest - began);
        let mut next_index = 0;
        for (index, position) in &self.seen {
            write(&mut bytes, u64::from(*index) - next_index);
            write(&mut bytes, latest - position.millis);
            write(&mut bytes, position.sequence);
            next_index = u64::from(*index) + 1;
        }
        bytes
    }

    /// `None` when they say something else.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let latest = read(bytes)?;
        let began = Timestamp::from_millis(latest.checked_sub(read(bytes)?)?);
        let (mut seen, mut next_index) = (BTreeMap::new(), 0_u64);
        while !bytes.is_empty() {
            let index = next_index.checked_add(read(bytes)?)?;
            let position = FeedPosition {
                millis: latest.checked_sub(read(bytes)?)?,
                sequence: read(bytes)?,
            };
            seen.insert(u16::try_from(index).ok()?, position);
            next_index = index + 1;
        }
        Some(Self { began, seen })
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}

fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(seen: &[(u16, u64, u64)]) -> Positions {
        let mut positions = Positions::beginning(Timestamp::from_millis(1_780_000_000_000));
        for (index, millis, sequence) in seen {
            let position = FeedPosition {
                millis: *millis,
                sequence: *sequence,
            };
            positions.pass(Partition::flow(*index), position);
        }
        positions
    }

    #[test]
    fn positions_come_back_as_they_were() {
        let now = 1_790_000_000_000;
        for seen in [
            positions(&[]),
            positions(&[(0, 0, 0)]),
            positions(&[(3, now, 127), (4, now - 1, 128), (255, 5, u64::MAX)]),
            positions(&[(16_383, u64::MAX, 0)]),
        ] {
            assert_eq!(Positions::from_bytes(&seen.to_bytes()), Some(seen));
        }
    }

    #[test]
    fn a_reader_of_256_busy_partitions_carries_less_than_two_kibibytes() {
        let now = 1_790_000_000_000_u64;
        let seen: Vec<_> = (0..256)
            .map(|index| (index, now - u64::from(index) * 5_000, 3))
            .collect();
        let bytes = positions(&seen).to_bytes().len();
        assert!(bytes < 2_048, "{bytes}");
    }

    #[test]
    fn what_says_something_else_is_no_position() {
        for bad in [
            &b""[..],
            b"\x80",
            b"\x01",
            b"\x01\x02",
            b"\x01\x00\x00",
            b"\x01\x00\x00\x02\x00",
            &[0xff; 11],
        ] {
            assert_eq!(Positions::from_bytes(bad), None, "{bad:?}");
        }
    }
}

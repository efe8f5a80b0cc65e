//! How far a reader has come in the feed of every partition, in few bytes: every event carries it.
//!
//! First comes its place among the lines the process remembers: a 1, of which memory, and the number of the next line; or a 0.
//! Then the moment of its beginning, a 1 if the reader wants nothing of before or else a 0, and the greatest major number of a
//! position. Then, for each partition that was read, three numbers: how many partitions lie between it and the one before, by how
//! much its major number is less than the greatest, and its minor number.
//! A number is written in groups of seven bits, the lowest first; all but its last byte have the highest bit set.

use std::collections::BTreeMap;

use ff_backend::query::{FeedLine, FeedPosition, FeedStart};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

/// Where a reader stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Positions {
    /// Among the lines this process remembers; what it had not seen of them stands after this place.
    pub(super) place: Option<Place>,
    beginning: Beginning,
    /// The last line seen of each partition, by its index.
    seen: BTreeMap<u16, FeedPosition>,
}

/// Which lines of a feed it has seen nothing of a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// All that were kept when it read its first page: what was dropped since, it missed.
    Since(Timestamp),
    /// Those of this moment and later.
    From(Timestamp),
}

/// A place among the lines one process remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which memory: every process has its own, and forgets it when nobody reads.
    pub(super) memory: u64,
    /// The number of the next line.
    pub(super) next: u64,
}

impl Positions {
    /// Those of a reader who wants everything, and whose first page was read at this moment.
    pub(super) const fn since(began: Timestamp) -> Self {
        Self::beginning(Beginning::Since(began))
    }

    /// Those of a reader who wants what happened from this moment on.
    pub(super) const fn from(at: Timestamp) -> Self {
        Self::beginning(Beginning::From(at))
    }

    const fn beginning(beginning: Beginning) -> Self {
        Self {
            place: None,
            beginning,
            seen: BTreeMap::new(),
        }
    }

    /// The same at another place.
    pub(super) fn at(&self, place: Option<Place>) -> Self {
        Self { place, ..self.clone() }
    }

    /// Where to go on in the feed of a partition.
    pub(super) fn start_of(&self, partition: Partition) -> FeedStart {
        match (self.seen.get(&partition.index), self.beginning) {
            (Some(position), _) => FeedStart::After(*position),
            (None, Beginning::Since(began)) => FeedStart::Since(began),
            (None, Beginning::From(at)) => FeedStart::From(at),
        }
    }

    /// Whether a line is still to be seen.
    pub(super) fn lack(&self, (partition, position, line): &FeedLine) -> bool {
        match (self.seen.get(&partition.index), self.beginning) {
            (Some(seen), _) => position > seen,
            (None, Beginning::Since(_)) => true,
            (None, Beginning::From(at)) => line.at >= at,
        }
    }

    /// A line was seen.
    pub(super) fn pass(&mut self, partition: Partition, position: FeedPosition) {
        self.seen.insert(partition.index, position);
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (is_from, began) = match self.beginning {
            Beginning::Since(began) => (0, began.as_millis()),
            Beginning::From(at) => (1, at.as_millis()),
        };
        let seen = self.seen.values().map(|position| position.major);
        let greatest = seen.max().unwrap_or(0);
        let mut bytes = Vec::new();
        match self.place {
            None => write(&mut bytes, 0),
            Some(place) => {
                write(&mut bytes, 1);
                write(&mut bytes, place.memory);
                write(&mut bytes, place.next);
            }
        }
        write(&mut bytes, began);
        write(&mut bytes, is_from);
        write(&mut bytes, greatest);
        let mut next_index = 0;
        for (index, position) in &self.seen {
            write(&mut bytes, u64::from(*index) - next_index);
            write(&mut bytes, greatest - position.major);
            write(&mut bytes, position.minor);
            next_index = u64::from(*index) + 1;
        }
        bytes
    }

    /// `None` when they say something else.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let bytes = &mut bytes;
        let place = match read(bytes)? {
            0 => None,
            1 => Some(Place {
                memory: read(bytes)?,
                next: read(bytes)?,
            }),
            _ => return None,
        };
        let began = Timestamp::from_millis(read(bytes)?);
        let is_from = read(bytes)?;
        let greatest = read(bytes)?;
        let beginning = match is_from {
            0 => Beginning::Since(began),
            1 => Beginning::From(began),
            _ => return None,
        };
        let (mut seen, mut next_index) = (BTreeMap::new(), 0_u64);
        while !bytes.is_empty() {
            let index = next_index.checked_add(read(bytes)?)?;
            let position = FeedPosition {
                major: greatest.checked_sub(read(bytes)?)?,
                minor: read(bytes)?,
            };
            seen.insert(u16::try_from(index).ok()?, position);
            next_index = index + 1;
        }
        Some(Self { place, beginning, seen })
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
        let mut positions = Positions::since(Timestamp::from_millis(1_780_000_000_000));
        for (index, major, minor) in seen {
            let position = FeedPosition {
                major: *major,
                minor: *minor,
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
            Positions::from(Timestamp::from_millis(now)),
            Positions {
                place: Some(Place {
                    memory: u64::MAX,
                    next: 7,
                }),
                ..positions(&[(1, now, 1)])
            },
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
            b"\x02\x01\x00\x00",
            b"\x01\x00",
            b"\x00\x01",
            b"\x00\x01\x02\x00",
            b"\x00\x01\x00",
            b"\x00\x01\x00\x00\x00",
            b"\x00\x01\x00\x00\x00\x02\x00",
            &[0xff; 11],
        ] {
            assert_eq!(Positions::from_bytes(bad), None, "{bad:?}");
        }
    }
}

//! Fresh ids: time-ordered where order helps, pure luck where a guess would hurt.

use std::sync::{Mutex, PoisonError};

use ff_backend::transaction::Tag;
use ff_core::time::Timestamp;
use uuid::{Builder, Uuid};

use crate::host::Host;

/// Bits of a time-ordered id that count inside a millisecond. They begin anywhere in the lower half, so that two processes
/// do not begin at the same place and none runs out.
const COUNT_BITS: u32 = 26;

/// Time-ordered ids (version 7) of one process: each is greater than all before it, also inside a millisecond and when the
/// store's time is known a little less well than a moment ago.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    last: Mutex<Last>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    millis: u64,
    count: u32,
}

impl Ordered {
    /// The next id.
    pub(crate) fn next(&self, host: &dyn Host, now: Timestamp) -> Uuid {
        let luck = host.random();
        let Last { millis, count } = self.step(now.as_millis(), luck);
        let mut tail = [0; 10];
        // Version and variant are written over the upper four bits of the first byte and the upper two of the third.
        let count = (u64::from(count) >> 14) << 16 | u64::from(count) & 0x3fff;
        tail[..4].copy_from_slice(&count.to_be_bytes()[4..]);
        tail[4..].copy_from_slice(&luck.to_be_bytes()[..6]);
        Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
    }

    fn step(&self, now: u64, luck: u128) -> Last {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let [.., a, b, c, d] = luck.to_be_bytes();
        let begin = u32::from_be_bytes([a, b, c, d]) >> (33 - COUNT_BITS);
        *last = match now.max(last.millis) {
            millis if millis > last.millis => Last { millis, count: begin },
            _ if last.count + 1 < 1 << COUNT_BITS => Last {
                count: last.count + 1,
                ..*last
            },
            millis => Last {
                millis: millis + 1,
                count: begin,
            },
        };
        *last
    }
}

/// An id nobody can guess (version 4).
pub(crate) fn secret(host: &dyn Host) -> Uuid {
    Builder::from_random_bytes(host.random().to_be_bytes()).into_uuid()
}

/// 256 bits nobody can guess.
pub(crate) fn secret_bytes(host: &dyn Host) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&host.random().to_be_bytes());
    bytes[16..].copy_from_slice(&host.random().to_be_bytes());
    bytes
}

/// The name of a transaction.
pub(crate) fn tag(host: &dyn Host) -> Tag {
    Tag(dice(host))
}

/// Luck for jitter.
pub(crate) fn dice(host: &dyn Host) -> u64 {
    let bytes = host.random().to_be_bytes();
    let mut half = [0; 8];
    half.copy_from_slice(&bytes[..8]);
    // Stores that keep numbers as signed 64 bits or as doubles must give it back as it was.
    u64::from_be_bytes(half) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::virtual_host::VirtualHost;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn ids_of_one_millisecond_keep_the_order_they_were_made_in() {
        let (host, ids) = (VirtualHost::new(1), Ordered::default());
        let made: Vec<Uuid> = (0..100_000).map(|_| ids.next(&host, NOW)).collect();
        assert!(made.is_sorted_by(|one, next| one < next));
        for id in made {
            let millis = id.get_timestamp().map(|time| time.to_unix());
            assert_eq!(millis, Some((NOW.as_millis() / 1_000, 0)));
            assert_eq!((id.get_version_num(), id.get_variant()), (7, uuid::Variant::RFC4122));
        }
    }

    #[test]
    fn ids_keep_their_order_when_time_passes_goes_back_or_has_no_room_left() {
        let (host, ids) = (VirtualHost::new(2), Ordered::default());
        let mut last = ids.next(&host, NOW);
        let mut later = |millis: u64| {
            let next = ids.next(&host, Timestamp::from_millis(NOW.as_millis() + millis));
            assert!(next > last, "{next} came after {last}");
            last = next;
        };
        [1, 1, 5, 0, 3, 6].into_iter().for_each(&mut later);
        ids.last.lock().unwrap().count = (1 << COUNT_BITS) - 1;
        [6, 6, 7, 8].into_iter().for_each(&mut later);
    }

    #[test]
    fn the_same_luck_makes_the_same_ids_and_other_luck_others() {
        let made = |seed| {
            let (host, ids) = (VirtualHost::new(seed), Ordered::default());
            [(); 3].map(|()| ids.next(&host, NOW))
        };
        assert_eq!(made(1), made(1));
        assert!(made(1).iter().all(|id| !made(2).contains(id)));
    }
}

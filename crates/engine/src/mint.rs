//! Fresh ids: time-ordered where order helps, pure luck where a guess would hurt.

use ff_backend::transaction::Tag;
use ff_core::time::Timestamp;
use uuid::{Builder, Uuid};

use crate::host::Host;

/// A time-ordered id (version 7).
pub(crate) fn ordered(host: &dyn Host, now: Timestamp) -> Uuid {
    let luck = host.random().to_be_bytes();
    let mut tail = [0; 10];
    tail.copy_from_slice(&luck[..10]);
    Builder::from_unix_timestamp_millis(now.as_millis(), &tail).into_uuid()
}

/// An id nobody can guess (version 4).
pub(crate) fn secret(host: &dyn Host) -> Uuid {
    Builder::from_random_bytes(host.random().to_be_bytes()).into_uuid()
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

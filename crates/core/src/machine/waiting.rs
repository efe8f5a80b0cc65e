//! Where work waits for an account: marks that are made before it waits, and forgotten when a release found nothing there.

use crate::ledger::{AccountKey, Amend, Expected, Meter, Move, Moved};
use crate::partition::Partition;

/// Work is about to wait in these partitions; `true`: some of it needs no place. The marks stand with the generation of that
/// moment.
pub fn mark(account: AccountKey, partitions: impl IntoIterator<Item = (Partition, bool)>) -> Amend {
    let marks = |(partition, placeless): (Partition, bool)| {
        let placeless = placeless.then_some(Meter::PlacelessMark(partition));
        [Meter::Mark(partition)].into_iter().chain(placeless)
    };
    let stands = |meter| Moved {
        meter,
        by: Move::Reach(Meter::Generation),
    };
    Amend {
        moves: partitions.into_iter().flat_map(marks).map(stands).collect(),
        ..Amend::new(account, Expected::Any)
    }
}

/// The release that began with generation `round` left nothing in these partitions; `true`: nothing that needs no place, but
/// other work. A mark made since then stays.
pub fn forget(account: AccountKey, round: u64, partitions: impl IntoIterator<Item = (Partition, bool)>) -> Amend {
    let marks = |(partition, placeless_only): (Partition, bool)| {
        let all = (!placeless_only).then_some(Meter::Mark(partition));
        all.into_iter().chain([Meter::PlacelessMark(partition)])
    };
    let goes = |meter| Moved {
        meter,
        by: Move::ClearBelow(round.cast_signed()),
    };
    Amend {
        moves: partitions.into_iter().flat_map(marks).map(goes).collect(),
        ..Amend::new(account, Expected::Any)
    }
}

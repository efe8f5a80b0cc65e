//! What holds whatever happens. Every write to the store is looked at as it lands, and the whole store now and then.
//!
//! | file | what holds |
//! |---|---|
//! | `leases` | one live lease, epochs that only grow, a grant consumed once; a lease nobody used takes no time from its attempt |
//! | `fences` | a write by an old lease never lands; what a holder was told is what happened |
//! | `endings` | an ended execution has nothing left but its retention; it comes back only by replay |
//! | `gates` | no member is claimed behind a gate that does not let it pass |
//! | `dependencies` | no child starts before its dependencies hold |
//! | `counters` | the counters of flows and groups equal a recount |
//! | `slots` | quota slots belong to live grants and leases, or are on their way back |
//! | `steps/` | an acknowledged step stays, under one place and one name, and is what readers and tasks are given |
//! | `usage` | a budget has spent what it counted, steps' costs too; nothing leaves an outbox undelivered |
//! | `receipts` | every accepted usage report counts, and once, however often and in whatever way it was sent |
//! | `requests` | a repeated request ends only the lease or the suspension it ended first |
//! | `feeds` | a reader of events who is not refused misses nothing |
//! | `losses` | what was accepted is there, whole graphs with their edges; what was completed stays completed; what ever ran is not deleted with a flow nobody opened |
//! | `indexes` | a record is in the index its facts say |
//! | `watch` | what changes nothing is not committed |
//! | `liveness` | when the faults stop, everything that can end does end |

mod counters;
mod dependencies;
mod endings;
mod feeds;
mod fences;
mod gates;
mod indexes;
mod leases;
mod liveness;
mod losses;
mod mirror;
mod receipts;
mod requests;
mod slots;
mod step_watch;
mod steps;
mod usage;
mod watch;

pub use feeds::Reading;
pub use fences::Act;
pub use losses::GraphPromise;
pub use receipts::{RECEIPTS, SentReport};
pub use requests::reason_of;
pub use steps::{Looking, SentSteps};
pub use watch::{Mark, Watch};

use std::fmt;

/// Something that must hold did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What must hold.
    pub invariant: &'static str,
    /// What was seen instead.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}", self.invariant, self.detail)
    }
}

/// Whether something holds.
pub(crate) type Holds = Result<(), Violation>;

/// Refuses when `condition` does not hold.
pub(crate) fn hold(condition: bool, invariant: &'static str, detail: impl FnOnce() -> String) -> Holds {
    if condition {
        return Ok(());
    }
    let detail = detail();
    Err(Violation { invariant, detail })
}

//! Small shared state of the store, remembered for at most two seconds: lanes, signing keys, keys of callers, workers, and which budgets and
//! quota policies there are.

pub(crate) mod access_keys;
pub(crate) mod keys;
pub(crate) mod lanes;
pub(crate) mod limits;
mod names;
pub(crate) mod views;
pub(crate) mod workers;

pub(crate) use access_keys::AccessKeys;
pub(crate) use keys::Keys;
pub(crate) use lanes::Lanes;
pub(crate) use limits::{Limits, generation_of};
pub(crate) use workers::{Roster, WorkerSeen, check_claimant, worker_seen, write_seen_workers};

use std::time::Duration;

/// How long anything here is believed.
pub(crate) const BELIEVED_FOR: Duration = Duration::from_secs(2);

#[derive(Default)]
pub(crate) struct Directory {
    pub(crate) lanes: Lanes,
    pub(crate) keys: Keys,
    pub(crate) access_keys: AccessKeys,
    pub(crate) limits: Limits,
    pub(crate) roster: Roster,
}

impl Directory {
    /// A setting changed: whatever was remembered of it is read again.
    pub(crate) fn setting_changed(&self, key: &str) {
        self.lanes.forget(key);
        self.keys.forget(key);
        self.access_keys.forget(key);
        self.roster.forget(key);
    }

    /// Anything may have changed.
    pub(crate) fn forget_all(&self) {
        self.lanes.forget_all();
        self.keys.forget_all();
        self.access_keys.forget_all();
        self.roster.forget_all();
        self.limits.forget_all();
    }
}

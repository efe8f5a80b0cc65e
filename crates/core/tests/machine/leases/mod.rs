//! Leases in numbers: how long they run, what ends them, what each end leaves behind.

mod attempts;
mod bounds;
mod duration;
mod grants;
mod reclaim_grants;
mod repeats;
mod requests;
mod slots;
mod spawn;
mod steps;
mod stop;
mod usage;
mod work;

use ff_core::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

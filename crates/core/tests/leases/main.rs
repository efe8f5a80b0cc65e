//! Leases in numbers: how long they run, what ends them, what each end leaves behind.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod attempts;
mod bounds;
mod duration;
mod grants;
mod reclaim_grants;
mod repeats;
mod requests;
#[path = "../running/mod.rs"]
mod running;
mod slots;
mod spawn;
mod stop;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "this target needs only part of the builders")]
mod support;
mod usage;
mod work;

use ff_core::time::Duration;

const MILLISECOND: Duration = Duration::from_millis(1);

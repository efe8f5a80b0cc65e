//! Deterministic simulation of FlowFabric.
//!
//! Engines, their pumps, workers and clients run in one thread under a virtual clock, on the store in memory, driven by a
//! seed. Faults strike at every call to the store. Whatever happens, the invariants hold after every step; and when the
//! faults stop, everything that can end does end. A seed always gives the same run, so a failure can be looked at again:
//!
//! ```text
//! just sim                  # new seeds until stopped
//! just sim-seeds 5000 1000  # some seeds, and what each one broke
//! just sim-seed 123         # one seed, with everything that happened
//! ```
//!
//! | where | what |
//! |---|---|
//! | [`executor`] | tasks, processes that can be killed, virtual time |
//! | [`store`] | the store in layers: observed, sabotaged on purpose, faulty |
//! | [`world`] | replicas, workers, clients, and what they do |
//! | [`invariants`] | what must hold |

pub mod coverage;
pub mod executor;
pub mod invariants;
pub mod luck;
pub mod run;
pub mod stage;
pub mod store;
pub mod tally;
pub mod trace;
pub mod world;

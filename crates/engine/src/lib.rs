//! FlowFabric's engine: every operation, the scheduler and the pump, over any [`ff_backend::Backend`].
//!
//! An operation is *load → machine → commit* and nothing else: every rule stands in [`ff_core::machine`]. What is here is
//! waiting, retrying and looping.
//!
//! | where | what |
//! |---|---|
//! | `fabric` | the door to each operation, made from the table |
//! | `ops/` | the operations, a module per noun |
//! | `scheduler/` | handing out: claims, admission, grants, exchange |
//! | `pump/` | what time does, a file per duty |
//! | `tries`, `landed` | the loop under every operation, and what follows a commit |
//! | `store/` | the backend with batches and a clock |
//! | `holdings`, `turns`, `attention` | leases this process has seen, one at a time per record, what to look at soon |
//! | `directory/` | small shared state: lanes, keys, workers |
//! | `picture` | decisions that take more than one read |
//! | `bells`, `paging` | waiting for one thing; cursors as callers carry them |
//! | `lifecycle` | what runs in the background, and its end |
//! | `host` | time, luck and background tasks, which a simulation replaces |

mod attention;
mod bells;
mod clock;
mod config;
mod directory;
mod engine;
mod fabric;
mod fault;
mod holdings;
mod host;
mod landed;
mod lifecycle;
mod mint;
mod ops;
mod paging;
mod picture;
mod pump;
mod scheduler;
mod store;
mod tries;
mod turns;
mod virtual_host;

pub use config::Config;
pub use engine::Engine;
pub use host::{Host, TokioHost};
pub use pump::{Duty, Poisoned};
pub use virtual_host::VirtualHost;

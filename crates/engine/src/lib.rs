//! FlowFabric's engine: every operation, the scheduler and the pump, over any [`ff_backend::Backend`].
//!
//! An operation is *load → machine → commit* and nothing else: every rule stands in [`ff_core::machine`]. What is here is
//! waiting, retrying and looping.
//!
//! | where | what |
//! |---|---|
//! | `fabric` | the door to each operation, made from the table |
//! | `audit` | lines about privileged acts |
//! | `holder` | what a lease allows beyond the role of its holder |
//! | `ops/` | the operations, a module per noun |
//! | `scheduler/` | handing out: claims, admission, grants, exchange |
//! | `pump/` | what time does, a file per duty |
//! | `transact`, `locked`, `after_commit` | the loop under every operation, its reads, and what follows a commit |
//! | `store/` | the backend with batches and a clock |
//! | `lease_cache`, `flow_cache`, `record_locks`, `due_soon` | leases this process has seen, flows it has created, one operation at a time per record, what to look at soon |
//! | `directory/` | small shared state: lanes, keys, workers |
//! | `snapshots` | decisions that take more than one read |
//! | `waiters`, `ends`, `paging` | waiting for one thing, and for its end; cursors as callers carry them |
//! | `metrics/` | what is counted, and how it is scraped |
//! | `lifecycle` | what runs in the background, and its end |
//! | `host` | time, luck and background tasks, which a simulation replaces |
//! | `virtual_host`, `virtual_time` | time that somebody moves |

mod after_commit;
mod audit;
mod clock;
mod config;
mod directory;
mod due_soon;
mod ends;
mod engine;
mod fabric;
mod fault;
mod flow_cache;
mod holder;
mod host;
mod journal;
mod lease_cache;
mod lifecycle;
mod lists;
mod locked;
mod lost_hints;
pub mod metrics;
mod mint;
mod ops;
mod overview;
mod paging;
mod pump;
mod record_locks;
mod scheduler;
mod series;
mod snapshots;
mod stops;
mod store;
mod transact;
mod virtual_host;
mod virtual_time;
mod waiters;

pub use config::Config;
pub use engine::Engine;
pub use host::{Host, TokioHost};
pub use ops::keys::Credential;
pub use pump::{Duty, Poisoned};
pub use virtual_host::VirtualHost;
pub use virtual_time::{Restless, VirtualTime};

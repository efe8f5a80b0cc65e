//! Servers for tests start, fail, follow each other, are shared, and end with who started them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod alone;
mod child;
mod killed;
mod shared;
mod standby;

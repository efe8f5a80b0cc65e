//! Servers for tests start, are cut off, and end with who started them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod cluster;
mod killed;
mod proxy;
mod standalone;

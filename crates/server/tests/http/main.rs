//! What HTTP adds to the operations, over an engine in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod bad_input;
mod bad_paths;
mod callbacks;
mod dashboard;
mod errors;
mod every_route;
mod foreign;
mod idempotency;
mod info;
mod nested;
mod overview;
mod roles;
mod scene;
mod sign_in;
mod streams;
mod submit;

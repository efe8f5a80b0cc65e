//! The SDK against engines in this process, near and behind a server.
#![expect(clippy::unwrap_used, reason = "tests say what must be there")]

mod blocked;
mod client;
mod client_away;
mod client_codec;
mod compiler;
mod costs;
mod derive;
mod derive_refused;
mod events;
mod examples;
mod flow;
mod flow_worked;
mod guide;
mod handler;
mod handler_refused;
mod limits;
mod output;
mod run;
mod run_decision;
mod scene;
mod shaky;
mod signal;
mod spawned;
mod steps;
mod submit;
mod surface;
mod tested;
mod traced;
mod troubled;
mod waits;
mod worker;
mod working;
mod written;

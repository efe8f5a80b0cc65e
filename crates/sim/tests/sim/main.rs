//! The simulation: its parts, what it notices, and a thousand worlds of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod executor;
mod layers;
mod sabotage;
mod simulation;

//! What time does, and what it costs.

mod limits;
mod outbox;
mod recount;
mod support;
mod timers;
mod turns;

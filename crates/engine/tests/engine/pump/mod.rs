//! What time does, and what it costs.

mod background;
mod limits;
mod outbox;
mod recount;
mod support;
mod timers;

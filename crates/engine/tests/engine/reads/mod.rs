//! What readers, signal senders and worker processes see, over the reference backend under virtual time.

mod attempts;
mod events;
mod explain;
mod lanes;
mod lists;
mod overview;
mod problems;
mod signals;
mod stage;
mod streams;
mod views;
mod waits;
mod workers;

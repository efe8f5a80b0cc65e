//! Flows: from the graph to the last member's end, and what interruptions do to it.

mod at_once;
mod cancel;
mod chunks;
mod deletion;
mod failover;
mod faults;
mod graph;
mod groups;
mod namespaces;
mod pages;
mod replay;
mod shaky;
mod staging;
mod world;

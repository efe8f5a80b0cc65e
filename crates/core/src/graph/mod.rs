//! Graphs in layers, and what of them is alike: how a flow of any size is shown.
//!
//! | where | what |
//! |---|---|
//! | `layers` | the layer of each node: one after the last of those it waits for |
//! | `refine` | which nodes play the same part |
//! | `fold` | classes of nodes, few enough to be drawn, and the links between them |

mod fold;
mod layers;
mod refine;
#[cfg(test)]
mod tests;

pub use fold::{Class, Folded, fold};
pub use layers::layers;

//! Edge groups: all inbound edges of one child, joined by its policy and decided from counters.
//!
//! An upstream that ends writes its edges, moves the counters of each child's group and nudges the child; it does not write
//! the child. So many upstreams end at once without conflicting. The child is then decided from its counters under its own
//! version. Counters read a moment too early are harmless: an upstream's end only ever moves edges from unresolved to
//! resolved, which can make a verdict final but never wrong. Everything else that moves the counters (a new edge, a
//! reopened one) writes the child, and so conflicts with a verdict computed before it. Whoever makes a child wait nudges
//! it, so that an end that came between reading the counters and waiting is seen.

mod counts;
mod evaluate;
mod policy;
mod resolve;
mod siblings;

pub use counts::{Counts, Verdict, verdict};
pub use evaluate::{DEPENDENCY_IMPOSSIBLE, Evaluated, evaluate, evaluate_at_once};
pub use policy::set_policy;
pub use resolve::{resolve_at_once, resolve_edges};
pub use siblings::{Sibling, cancel_siblings, needs};

pub(crate) use evaluate::{decide, give_up, want_siblings_cancelled};
pub(crate) use policy::{check_policy, no_edges};
pub(crate) use resolve::move_edge;

//! Handing out: who gets which execution, and whether it may run now.
//!
//! A claim sits down at the *desk* of everybody who wants the same. A desk serves its line in *rounds*, one at a time; a round
//! is one claim *cycle*: reserve, admission, lease. When a round finds nothing the desk is dry and the line waits for its bell,
//! without asking the store.
//!
//! | file | what |
//! |---|---|
//! | `claims` | the operations of [`ff_core::fabric::Claims`], each in a file of its own |
//! | `claim`, `exchange` | tasks; the one call of a remote worker's loop |
//! | `grant`, `redeem`, `reclaim` | grants, step by step, for workers that want it so and for operators |
//! | `desks`, `desk`, `ask`, `bell` | who waits for what, and what wakes them |
//! | `round`, `table` | one round of a desk, and how it is dealt out |
//! | `cycle` | reserve, admission and lease until there is enough |
//! | `candidate`, `admission`, `block` | what was reserved; budgets and quota; what they refuse |
//! | `causes` | budgets and quotas known to be closed |
//! | `task`, `inputs`, `resumed` | a leased execution with all a worker needs to run it |

mod admission;
mod ask;
mod bell;
mod block;
mod candidate;
mod causes;
mod claim;
pub(crate) mod claims;
mod cycle;
mod desk;
mod desks;
mod exchange;
mod grant;
mod inputs;
mod reclaim;
mod redeem;
mod resumed;
mod round;
mod table;
mod task;
#[cfg(test)]
mod tests;

pub(crate) use causes::Causes;
pub(crate) use desks::Desks;

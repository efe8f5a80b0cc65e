//! Handing out: who gets which execution, and whether it may run now.
//!
//! Claims that want the same share a *claim queue*. It is served in *rounds*; a round is one claim *cycle* for a batch of
//! claims: reserve, admission, lease. When a round finds nothing, the queue waits to be woken, without asking the store.
//!
//! | file | what |
//! |---|---|
//! | `claims` | the operations, each in a file of its own |
//! | `claim`, `exchange` | `claim`; the one call of a remote worker's loop |
//! | `grant`, `redeem`, `reclaim` | `claim_for_worker`, `claim_from_grant`, `issue_reclaim_grant`: grants, step by step |
//! | `claim_queues`, `claim_queue`, `waiting_claim`, `wake_up` | who waits for what, and what wakes them |
//! | `serving`, `batch` | the loop that serves a queue, and what each claim of a round gets |
//! | `cycle` | reserve, admission and lease until there is enough |
//! | `candidate`, `admission`, `block` | what was reserved; budgets and quota; what they refuse |
//! | `causes`, `refusals` | budgets and quotas known to be closed; what quotas refused lately |
//! | `task`, `inputs`, `resumed` | a leased execution with all a worker needs to run it |

mod admission;
mod batch;
mod block;
mod candidate;
mod causes;
mod claim;
mod claim_queue;
mod claim_queues;
pub(crate) mod claims;
mod cycle;
mod exchange;
mod grant;
mod inputs;
mod reclaim;
mod redeem;
mod refusals;
mod resumed;
mod serving;
mod task;
#[cfg(test)]
mod tests;
mod waiting_claim;
mod wake_up;

pub(crate) use causes::Causes;
pub(crate) use claim_queues::ClaimQueues;
pub(crate) use refusals::Refusals;

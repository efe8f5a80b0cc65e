//! What is tried.
//!
//! | where | what |
//! |---|---|
//! | `tasks` | inputs, results, failures, tiers |
//! | `steps` | what is recorded is not done again; frames, charges, children |
//! | `waits` | sleeps, signals, people, callbacks |
//! | `leases` | renewals, stops, lost leases |
//! | `trouble` | kills, lost answers, refusals, drains, budgets that are used up |

mod leases;
mod steps;
mod tasks;
mod trouble;
mod waits;

use futures::future::LocalBoxFuture;

use super::stand::Stand;

/// One thing that is tried.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// What holds where it passes.
    pub(super) promise: &'static str,
    /// What to do where it does not.
    pub(super) advice: &'static str,
    pub(super) run: fn(&Stand) -> LocalBoxFuture<'_, anyhow::Result<()>>,
}

/// Writes the table of checks.
macro_rules! checks {
    ($($name:literal, $promise:literal, $advice:literal => $run:path;)+) => {
        /// Everything that is tried, in this order.
        pub(super) static CHECKS: &[Check] = &[$(Check {
            name: $name,
            promise: $promise,
            advice: $advice,
            run: |stand| Box::pin($run(stand)),
        },)+];
    };
}

checks! {
    "echo", "what is submitted is read and given back",
        "The handler `echo` completes with its input." => tasks::echo;
    "bytes", "any bytes come and go as they are",
        "Read `input_base64`, and answer with `result_base64`: bytes are no text." => tasks::bytes;
    "fail", "a failed attempt is followed by another, which knows its number",
        "Finish with `fail` and category `transient`; `attempt_index` of the task counts." => tasks::fail;
    "permanent", "what no retry can mend is not retried",
        "Finish with `fail` and category `permanent`." => tasks::permanent;
    "tiers", "each retry uses the next model of the list",
        "The task brings `tier` with provider and model: hand it to the handler." => tasks::tiers;
    "unknown-kind", "a kind that the worker does not know comes back later",
        "Finish it with `delay`, 15 s: a newer worker may know it." => tasks::unknown_kind;
    "steps", "steps run once, in order, and are recorded",
        "Record each step under `name#n` when its body is done." => steps::in_order;
    "parallel", "steps of one burst are numbered by the order of their calls",
        "Take the number when the call is made, not when its body runs." => steps::parallel;
    "keyed", "a step can be named by what it is about",
        "The key of such a step is `name[key]`." => steps::keyed;
    "frames", "what is put out arrives once, in order",
        "Send frames in order, each with a `request_id` of its own." => steps::frames;
    "charge", "what a step costs is charged with its record",
        "Put `usage` into the step that is recorded." => steps::charge;
    "spawn", "children are started once, and their results waited for",
        "Start them with `POST …/lease/spawn`, then finish with `wait_children`." => steps::spawn;
    "sleep", "a long sleep takes no worker",
        "Finish with `delay` and `step`; short sleeps too, where `clock` is `virtual`." => waits::sleep;
    "wait", "a signal ends a wait, and so does its timeout",
        "Finish with `suspend` and `step`, and read the signals of that step." => waits::wait;
    "approval", "a person decides, and the handler goes on after what it did",
        "Suspend with reason `waiting_for_approval` and the signals `approved` and `rejected`." => waits::approval;
    "callback", "an address is handed out before anybody waits at it",
        "Make the waitpoint first, hand out its `callback_path`, then suspend at it." => waits::callback;
    "renewals", "a lease is renewed while its handler runs",
        "Renew when a third of the time left has passed, whatever handlers are doing." => leases::renewals;
    "stop", "a handler whose execution is cancelled is told to stop",
        "Keep an exchange parked, and obey `stops` and `stop_requested`." => leases::stop;
    "revoked", "a handler that lost its lease stops, and the task is run again",
        "After `lease_revoked` or `stale_lease` stop the handler and write nothing more." => leases::revoked;
    "503", "calls that are refused for the moment are sent again",
        "Send the same bytes again after `\"retryable\": true`, with pauses." => trouble::refused;
    "lost-replies", "calls whose answers are lost are sent again, and count once",
        "Send the same bytes again when a connection breaks." => trouble::lost_replies;
    "kill", "after kill -9 another process goes on at the next step",
        "Answer steps from `journal`, and run the handler from its first line." => trouble::killed;
    "lost-lease", "work that was taken away goes on where it was",
        "Stop at once, and take the task again when it is handed out." => trouble::lease_lost;
    "drain", "told to end, a worker gives back what it does and leaves",
        "On SIGTERM want nothing, release at the next step, and `DELETE` the registration." => trouble::drain;
    "budget", "a budget that is used up stops the next paid step, and no recorded one",
        "When a recorded step says `closed`, release if it `parks`; else fail with category `budget`." => trouble::budget;
}

//! Every metric of the engine.

use super::metric::{Kind, Metric};

macro_rules! metrics {
    ($($constant:ident: $kind:ident $name:literal [$($label:literal),*], $help:literal, $question:literal;)+) => {
        $(
            #[doc = $help]
            pub(super) static $constant: Metric = Metric {
                name: $name,
                kind: Kind::$kind,
                labels: &[$($label),*],
                help: $help,
                question: $question,
            };
        )+

        /// Every metric of the engine, in the order they are scraped.
        pub static METRICS: &[&Metric] = &[$(&$constant,)+];
    };
}

// What belongs to a namespace comes first: a key of one namespace sees that part, for its own.
metrics! {
    EXECUTIONS: Gauge "ff_executions" ["namespace", "lane", "state"],
        "Executions by lane and state, of those the store still keeps",
        "How much waits, runs, is suspended or held back, and where?";
    OLDEST_ELIGIBLE: Gauge "ff_oldest_eligible_age_seconds" ["namespace", "lane"],
        "Age of the oldest execution that waits for a worker",
        "Are there enough workers for this lane?";
    BLOCKING: Gauge "ff_blocking_causes" ["namespace", "cause"],
        "Budgets and quota policies that hold work back",
        "Is rate_limited work waiting for money (budget) or for its turn (quota)?";
    BUDGETS_OVER: Gauge "ff_budgets_over_limit" ["namespace", "limit"],
        "Budgets above a soft limit, or at or above a hard one",
        "Whose money is running out, or has?";
    PROBLEMS: Gauge "ff_problems" ["namespace", "kind"],
        "What list_problems lists: rows set aside because they cannot be read, follow-ups that keep failing, causes that do not exist",
        "Must a person look at something?";
    SUBMITTED: Counter "ff_submitted_total" ["namespace"],
        "Executions created",
        "How much comes in?";
    CLAIM_LATENCY: Histogram "ff_claim_latency_seconds" ["namespace"],
        "From the last change that made or left an execution eligible to handing it to a worker",
        "How long does work wait for a worker?";
    ATTEMPTS: Counter "ff_attempts_total" ["namespace", "outcome"],
        "Attempts that ended, by how",
        "Does the work succeed?";
    RETRIES: Counter "ff_retries_total" ["namespace"],
        "Failed attempts that are followed by another",
        "How much is done twice?";
    LEASE_EXPIRIES: Counter "ff_lease_expiries_total" ["namespace"],
        "Leases that ended because nobody renewed them",
        "Do workers die, hang or lose their connection?";
    SIGNALS: Counter "ff_signals_accepted_total" ["namespace"],
        "Signals accepted",
        "Does what work waits for arrive?";
    STREAM_BYTES: Counter "ff_stream_bytes_total" ["namespace"],
        "Bytes of frames appended",
        "Who writes how much output?";
    STORE_UP: Gauge "ff_store_up" [],
        "1 if the store could be read for this page, 0 if not: then what stands in the store is left out",
        "Is the store there?";
    STORE_READ: Gauge "ff_store_read_seconds" [],
        "How long reading what stands in the store took. It is read at most every 5 s, and for at most a twentieth of the time",
        "What do scrapes cost?";
    BACKEND_CALLS: Histogram "ff_backend_call_seconds" ["call"],
        "Calls to the store",
        "Is the store slow?";
    BACKEND_FAILURES: Counter "ff_backend_failures_total" ["call", "kind"],
        "Answers of the store that say that it failed: unavailable, unknown (the reply was lost) or corrupt",
        "Does the store fail?";
    CONFLICTS: Counter "ff_commit_conflicts_total" ["reason"],
        "Commits the store refused: somebody was faster (conflict), their time was over (too_late), it lost writes (other_generation), or a lane has too many requirements (too_many_queues)",
        "Do callers get in each other's way?";
    PUMP_LAG: Histogram "ff_pump_lag_seconds" [],
        "How long something had been due when the pump took it up",
        "Do timers, reclaims and follow-ups come in time?";
    PUMP_DUTIES: Counter "ff_pump_duties_total" ["duty", "outcome"],
        "What the pump did: done, later (not ready yet) or failed",
        "What does the engine do by itself, and what does it fail at?";
    PUMP_PUSHED_BACK: Gauge "ff_pump_pushed_back" [],
        "Items the pump failed at and tries again later",
        "Is something stuck?";
    REPAIRED: Counter "ff_repaired_total" [],
        "Index entries and counters the audit found wrong and wrote anew",
        "Did the store lose or damage something?";
}

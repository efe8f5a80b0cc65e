//! What somebody at a terminal does after a refusal. Where the interface's own advice fits a terminal, it is not said again.

use ff_core::error::Code;

/// What to do after this code.
pub(super) const fn after(code: Code) -> &'static str {
    match code {
        Code::InvalidInput => "Correct it and try again; --help says what is taken.",
        Code::InvalidId => "Copy the id as it was printed; a name or the last eight digits of the id will do, too.",
        Code::Unauthenticated => {
            "Put a key of this server into FF_KEY. An administrator makes one with `ff key create NAME --role operator`."
        }
        Code::Forbidden => {
            "Use a key whose role allows this, in FF_KEY. A key of one namespace wants its name: --namespace NAME, or FF_NAMESPACE."
        }
        Code::ExecutionNotFound => {
            "`ff list` shows the newest executions. What has ended is deleted after 24 h, unless it was submitted with --keep."
        }
        Code::FlowNotFound => "`ff flow list` shows the newest flows.",
        Code::StepNotFound => "`ff steps ID` lists the steps there are.",
        Code::WaitpointNotFound => "`ff get ID` shows what it waits at.",
        Code::BudgetNotFound => "`ff budget list` shows the budgets of the namespace; `ff budget create` makes one.",
        Code::QuotaPolicyNotFound => "`ff quota list` shows the quotas of the namespace; `ff quota create` makes one.",
        Code::LaneNotFound => "`ff lanes` shows the lanes there are; they appear with their first use.",
        Code::WorkerNotFound => "`ff workers` shows the live ones.",
        Code::ResultNotAvailable => "`ff get ID` says where it stands; `ff wait ID` waits for its end.",
        Code::ExecutionNotTerminal => "Wait for its end with `ff wait ID`, or end it with `ff cancel ID`.",
        Code::ExecutionNotActive => {
            "`ff get ID` says where it stands. What has ended is opened again with `ff replay ID`."
        }
        Code::ExecutionNotSuspended | Code::TargetNotSignalable => {
            "`ff explain ID` says what it waits for, `ff approvals` what waits for a person."
        }
        Code::WaitpointClosed => "Nothing needs to be done: `ff history ID` shows what ended the wait.",
        Code::LaneNotAccepting => "`ff lanes` shows its state; `ff lane resume LANE` makes it accept again.",
        Code::MaxReplaysExhausted => {
            "Submit it anew with `ff submit`; more replays are allowed with max_replay_count in --policy."
        }
        Code::CursorExpired => "Begin later: --from now, or --from oldest for the oldest that is kept.",
        Code::Unavailable | Code::ShuttingDown | Code::Timeout => {
            "Try again in a moment. `ff doctor` looks at server and store."
        }
        other => other.help().remedy,
    }
}

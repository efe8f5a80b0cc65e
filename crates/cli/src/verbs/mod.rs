//! The verbs of `ff`: each thin over one or two operations, at a server or on a store.
//!
//! | where | what |
//! |---|---|
//! | `session` | what every verb has, and the arguments for it |
//! | `id`, `which`, `when`, `input`, `tag` | what people write on a command line |
//! | `why`, `happened` | states and events in a person's words |
//! | `output` | tables, colours, JSON |
//! | `paging`, `patience`, `progress` | long lists, long waits, long work |
//! | `executions`, `waiting`, `flow`, `operate`, `top`, `keep`, `doctor`, `tools` | the verbs |
//! | `graph` | drawing flows |
//! | `help` | the verbs in `ff --help` |

mod doctor;
mod executions;
mod flow;
mod graph;
mod happened;
pub(crate) mod help;
pub(crate) mod id;
mod input;
mod keep;
mod operate;
pub(crate) mod output;
mod paging;
mod patience;
mod progress;
mod session;
mod tag;
mod tools;
mod top;
mod waiting;
pub(crate) mod when;
mod which;
mod why;

pub(crate) use output::clean;

/// Makes the list of verbs, and what runs each.
macro_rules! verbs {
    ($($(#[$attribute:meta])? $name:ident($verb:ty),)+; now $($tool:ident($tool_verb:ty),)+) => {
        #[derive(clap::Subcommand)]
        pub(crate) enum Verb {
            $($(#[$attribute])? $name(Box<$verb>),)+
            $($tool($tool_verb),)+
        }

        /// Does what was asked.
        pub(crate) async fn run(verb: Verb) -> anyhow::Result<()> {
            match verb {
                $(Verb::$name(verb) => verb.run().await,)+
                $(Verb::$tool(verb) => verb.run(),)+
            }
        }
    };
}

verbs! {
    Submit(executions::Submit),
    List(executions::List),
    #[command(alias = "show")]
    Get(executions::Get),
    Wait(executions::Wait),
    Result(executions::GetResult),
    Tail(executions::Tail),
    History(executions::History),
    Steps(executions::Steps),
    Explain(executions::Explain),
    Cancel(executions::Cancel),
    Replay(executions::Replay),
    Priority(executions::Priority),
    Hold(executions::Hold),
    Unhold(executions::Unhold),
    Approvals(waiting::Approvals),
    Approve(waiting::Approve),
    Reject(waiting::Reject),
    Signal(waiting::Signal),
    Flow(flow::Flow),
    Top(top::Top),
    Events(operate::Events),
    Lanes(operate::Lanes),
    Lane(operate::Lane),
    Workers(operate::Workers),
    Budget(operate::Budget),
    Quota(operate::Quota),
    RotateSecret(operate::RotateSecret),
    Doctor(doctor::Doctor),
    Backup(keep::Backup),
    Restore(keep::Restore),;
    now
    Schema(tools::Schema),
    Completions(tools::Completions),
    Man(tools::Man),
}

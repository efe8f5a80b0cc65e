//! `ff conformance`: what every SDK must do, tried on a worker that is written with it. docs/reference/conformance.md says what the worker has to
//! know.
//!
//! | where | what |
//! |---|---|
//! | `checks/` | what is tried, a file per subject |
//! | `stand` | an engine whose time stands still, a server, and the worker under test |
//! | `faults` | what the server does wrong on purpose |
//! | `ledger` | what the bodies of steps did, as they say themselves |
//! | `report` | what is said of each check |

mod checks;
mod faults;
mod ledger;
mod report;
mod stand;

use self::checks::{CHECKS, Check};
use self::report::Report;
use self::stand::Stand;
use crate::failure::{Class, Failure};
use crate::say;

/// Check a worker against what every SDK must do.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The command that is the worker: it serves the lane `default` of the server in FF_URL, and knows the kinds that
    /// docs/reference/conformance.md lists
    #[arg(long, value_name = "COMMAND", required_unless_present = "list")]
    worker: Option<String>,
    /// Only this check; may be given several times
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// List the checks instead
    #[arg(long)]
    list: bool,
}

/// Tries everything, and says what was found.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let asked = asked_for(&arguments.only)?;
    let Some(worker) = arguments.worker.filter(|_| !arguments.list) else {
        asked
            .iter()
            .for_each(|check| say::line(format_args!("{:<16}  {}", check.name, check.promise)));
        return Ok(());
    };
    let mut report = Report::begin();
    for check in asked {
        // Each on an engine of its own: what one leaves behind is nobody else's trouble.
        let stand = Stand::start(&worker).await?;
        let found = (check.run)(&stand).await;
        report.tell(check, found, &stand);
        stand.end().await;
    }
    report.end()
}

fn asked_for(only: &[String]) -> anyhow::Result<Vec<&'static Check>> {
    let find = |name: &String| {
        let unknown = || Failure::new(Class::NotFound, format!("there is no check {name:?}"));
        let found = CHECKS.iter().find(|check| check.name == name);
        found.ok_or_else(|| unknown().advise("ff conformance --list shows those there are.").into())
    };
    match only {
        [] => Ok(CHECKS.iter().collect()),
        only => only.iter().map(find).collect(),
    }
}

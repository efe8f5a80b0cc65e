//! `ff doctor`.

mod checks;
mod clock;
mod permissions;
mod pump;

use serde::Serialize;

use crate::failure::{Class, Failure};
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::session::Common;

/// Look for what is wrong, and say what to do about it
#[derive(clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    common: Common,
}

/// What came of one look.
#[derive(Serialize)]
struct Finding {
    what: &'static str,
    verdict: Verdict,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Good,
    /// It works, but somebody should look.
    Doubtful,
    Bad,
}

impl Finding {
    fn good(what: &'static str, detail: impl Into<String>) -> Self {
        Self::new(what, Verdict::Good, detail.into(), None)
    }

    fn doubtful(what: &'static str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(what, Verdict::Doubtful, detail.into(), Some(advice.into()))
    }

    fn bad(what: &'static str, detail: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(what, Verdict::Bad, detail.into(), Some(advice.into()))
    }

    const fn new(what: &'static str, verdict: Verdict, detail: String, advice: Option<String>) -> Self {
        Self {
            what,
            verdict,
            detail,
            advice,
        }
    }
}

impl Doctor {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let out = self.common.out();
        let findings = checks::all(&self.common).await;
        out.list(&findings, || table(&findings), "")?;
        let advice = findings
            .iter()
            .filter_map(|finding| Some((finding.what, finding.advice.as_ref()?)));
        if out.is_table() {
            for (what, advice) in advice {
                out.text(&format!("\n{what}: {advice}\n"))?;
            }
        }
        let bad = findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Bad)
            .count();
        match bad {
            0 => Ok(()),
            1 => Err(Failure::new(Class::Other, "one thing is wrong").into()),
            bad => Err(Failure::new(Class::Other, format!("{bad} things are wrong")).into()),
        }
    }
}

fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new([Column::new("WHAT"), Column::new("IS"), Column::new("DETAIL").cut()]);
    for finding in findings {
        let (verdict, ink) = match finding.verdict {
            Verdict::Good => ("fine", Ink::Good),
            Verdict::Doubtful => ("doubtful", Ink::Warning),
            Verdict::Bad => ("wrong", Ink::Bad),
        };
        table.row([
            finding.what.into(),
            Cell::new(ink, verdict),
            finding.detail.as_str().into(),
        ]);
    }
    table
}

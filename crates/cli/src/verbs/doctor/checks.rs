//! What is looked at, one after the other, as far as one gets.

use ff_core::command::page::PageRequest;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Fabric;
use ff_core::view::{ListExecutions, ListProblems};

use super::{Finding, clock, permissions, pump};
use crate::at::{About, Opened, Place};
use crate::failure;
use crate::verbs::session::Common;

/// Everything that was found.
pub(super) async fn all(common: &Common) -> Vec<Finding> {
    let mut findings = Vec::new();
    match common.at.config() {
        Ok(config) => {
            findings.push(Finding::good(
                "configuration",
                "what `ff serve` would use here can be read",
            ));
            findings.extend(permissions::of_config(&config));
        }
        Err(error) => {
            let advice = "Correct the file; `ff serve --help` lists every setting, `ff schema config` describes them.";
            findings.push(Finding::bad("configuration", format!("{error:#}"), advice));
        }
    }
    let place = match common.at.place() {
        Ok(place) => place,
        // Told above.
        Err(_) => return findings,
    };
    let what = match place {
        Place::Server(_) => "server",
        Place::Store(_) => "store",
    };
    match place.open().await {
        Ok(opened) => findings.extend(of_fabric(what, &opened).await),
        Err(error) => {
            let usual = || "Start it with `ff dev` or `ff serve`, or name another with --url or --store.".to_owned();
            let advice = failure::advice(&error).unwrap_or_else(usual);
            findings.push(Finding::bad(what, format!("{error:#}"), advice));
        }
    }
    findings
}

async fn of_fabric(what: &'static str, opened: &Opened) -> Vec<Finding> {
    let fabric = &*opened.fabric;
    let mut findings = vec![about(what, &opened.about)];
    findings.push(clock::compare(opened));
    findings.push(role(fabric).await);
    findings.extend(pump::look(fabric, opened.now).await);
    findings.extend(problems(fabric).await);
    findings
}

fn about(what: &'static str, about: &About) -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    match about {
        About::Store(about) => Finding::good(what, about.clone()),
        About::Server(info) if info.version == own => {
            Finding::good(what, format!("FlowFabric {}, interface {}", info.version, info.api))
        }
        About::Server(info) => {
            let detail = format!("FlowFabric {}, interface {}; this ff is {own}", info.version, info.api);
            Finding::doubtful(what, detail, "Upgrade the older of the two: some verbs may be refused.")
        }
    }
}

/// What the key allows, found out by trying.
async fn role(fabric: &dyn Fabric) -> Finding {
    let reads = fabric.list_executions(ListExecutions::default()).await.map(drop);
    let operates = fabric.list_problems(ListProblems {}).await.map(drop);
    let administers = fabric.list_keys(PageRequest::default()).await.map(drop);
    let may = |tried: &Result<(), Rejection>| tried.is_ok();
    match (may(&reads), may(&operates), may(&administers)) {
        (_, _, true) => Finding::good("permissions", "everything is allowed"),
        (_, true, false) => Finding::good("permissions", "everything but keys and secrets is allowed"),
        (true, false, false) => Finding::doubtful(
            "permissions",
            "reading is allowed, operating is not",
            "Problems and partitions are shown to an operator's key only: put one into FF_KEY to see them.",
        ),
        (false, false, false) => {
            let detail = reads.err().map_or_else(String::new, |refused| refused.detail);
            Finding::bad(
                "permissions",
                detail,
                "Put a key into FF_KEY: `ff key create NAME --role operator` makes one.",
            )
        }
    }
}

async fn problems(fabric: &dyn Fabric) -> Vec<Finding> {
    let problems = match fabric.list_problems(ListProblems {}).await {
        Ok(problems) => problems,
        // Told above.
        Err(refused) if matches!(refused.code, Code::Forbidden | Code::Unauthenticated) => return Vec::new(),
        Err(refused) => return vec![Finding::bad("problems", refused.detail, refused.code.help().remedy)],
    };
    if problems.is_empty() {
        return vec![Finding::good("problems", "none are known")];
    }
    let shown = problems.into_iter().map(|problem| {
        Finding::bad(
            "problem",
            format!("{}: {}", problem.subject, problem.detail),
            problem.advice.into_owned(),
        )
    });
    shown.collect()
}

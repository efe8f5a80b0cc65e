//! `ff get`.

use ff_core::name::Namespace;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::{ExecutionView, SuspensionView};

use crate::verbs::output::{Details, Ink, state_ink};
use crate::verbs::session::Common;
use crate::verbs::which::OneExecution;
use crate::verbs::{id, tag, when, why};

/// Show everything about an execution but its bytes
#[derive(clap::Args)]
pub(crate) struct Get {
    #[command(flatten)]
    execution: OneExecution,
    #[command(flatten)]
    common: Common,
}

impl Get {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.execution.open(&self.common).await?;
        let view = session.fabric.get_execution(id).await?;
        session.out.one(&view, || details(&view, session.now))
    }
}

fn details(view: &ExecutionView, now: Timestamp) -> Details {
    let mut details = Details::default();
    details.painted(Ink::Strong, "id", view.execution_id.to_string());
    details.maybe("name", view.tags.get(id::NAME));
    details.add("kind", view.execution_kind.as_str());
    let is_usual = view.namespace == Namespace::default_namespace();
    details.maybe("namespace", (!is_usual).then_some(view.namespace.as_str()));
    details.add("lane", view.lane_id.as_str());
    let state = view.state.public_state;
    details.painted(state_ink(state), "state", state.as_str());
    details.maybe("because", why::because(&view.state, now));
    details.maybe(
        "failed",
        view.failure
            .as_ref()
            .map(|failure| format!("{} ({})", failure.reason, failure.category)),
    );
    details.maybe("reason", view.reason.as_ref());
    details.maybe("tags", tag::shown(&view.tags));
    details.maybe("priority", (view.priority > 0).then(|| view.priority.to_string()));
    times(view, now, &mut details);
    run(view, now, &mut details);
    if let Some(suspension) = &view.suspension {
        waits(suspension, now, &mut details);
    }
    details.maybe("flow", view.flow_id.map(|flow| flow.to_string()));
    details.maybe(
        "creator",
        view.creator_identity.as_ref().map(|creator| creator.as_str()),
    );
    let next = why::next(view.execution_id, &view.state);
    let is_empty = view.state.public_state == PublicState::Completed && view.result_bytes.is_none();
    details.maybe("next", next.filter(|_| !is_empty));
    details
}

fn times(view: &ExecutionView, now: Timestamp, details: &mut Details) {
    let shown = |at: Option<Timestamp>| at.map(|at| when::moment_from_now(at, now));
    details.maybe("created", shown(Some(view.created_at)));
    details.maybe("started", shown(view.started_at));
    details.maybe("ended", shown(view.completed_at));
    details.maybe("not before", shown(view.delay_until));
    details.maybe("deadline", shown(view.deadline_at));
}

fn run(view: &ExecutionView, now: Timestamp, details: &mut Details) {
    let counts = [
        (view.counts.retries, "retry", "retries"),
        (view.counts.reclaims, "reclaim", "reclaims"),
        (view.counts.replays, "replay", "replays"),
        (view.counts.signals, "signal", "signals"),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }));
    let counts: Vec<_> = counts.collect();
    let attempts = match counts.is_empty() {
        true => view.attempt_count.to_string(),
        false => format!("{} ({})", view.attempt_count, counts.join(", ")),
    };
    details.add("attempts", attempts);
    if let Some(worker) = &view.worker_instance {
        let until = view
            .lease_expires_at
            .map(|at| format!(", leased until {}", when::moment_from_now(at, now)));
        details.add("worker", format!("{worker}{}", until.unwrap_or_default()));
    }
    if let Some(grant) = &view.grant {
        let until = when::moment_from_now(grant.expires_at, now);
        details.add("promised", format!("to {} until {until}", grant.worker));
    }
    if let Some(progress) = &view.progress {
        let pct = progress.pct.map(|pct| format!("{pct} %"));
        let said = [pct, progress.message.clone()];
        details.add("progress", said.into_iter().flatten().collect::<Vec<_>>().join(" "));
    }
    for step in &view.doing {
        details.add(
            "doing",
            format!("{} for {}", step.step, when::span(now.since(step.started_at))),
        );
    }
    let usage = view.usage.iter().map(|(dimension, used)| format!("{used} {dimension}"));
    let usage: Vec<_> = usage.collect();
    details.maybe("used", (!usage.is_empty()).then(|| usage.join(", ")));
    details.maybe("result", view.result_bytes.map(|bytes| format!("{bytes} bytes")));
}

fn waits(suspension: &SuspensionView, now: Timestamp, details: &mut Details) {
    details.add("waits since", when::moment_from_now(suspension.since, now));
    let timeout = suspension.timeout_at.map(|at| when::moment_from_now(at, now));
    details.maybe("until", timeout);
    let keys: Vec<_> = suspension
        .waitpoints
        .iter()
        .map(|waitpoint| waitpoint.key.as_str())
        .collect();
    details.add("waits at", keys.join(", "));
}

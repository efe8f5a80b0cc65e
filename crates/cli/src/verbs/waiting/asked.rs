//! What people are asked, which is not in the list of what waits for them: names stand among the tags, questions where the handler
//! shows what it does.

use std::collections::HashMap;

use ff_core::command::signal::Approval;
use ff_core::command::stream::AttemptRef;
use ff_core::id::ExecutionId;
use ff_core::limits::LISTED_IDS_MAX;
use ff_core::view::{ExecutionView, ListExecutions};
use futures::{StreamExt, stream};
use serde_json::Value;

use crate::verbs::session::Session;
use crate::verbs::{id, output};

/// Summaries that are asked for at once.
const AT_ONCE: usize = 8;
/// Where a summary holds the questions, each under the key of its waitpoint.
const QUESTIONS: &str = "approvals";

/// What is known of something that waits for a person.
pub(super) struct Asked {
    pub(super) name: Option<String>,
    pub(super) question: String,
}

/// What is known of each.
pub(super) async fn read(session: &Session, approvals: &[Approval]) -> anyhow::Result<HashMap<ExecutionId, Asked>> {
    let mut views = Vec::new();
    for some in approvals.chunks(LISTED_IDS_MAX) {
        let list = ListExecutions {
            id: some.iter().map(|approval| approval.execution_id).collect(),
            ..ListExecutions::default()
        };
        views.append(&mut session.fabric.list_executions(list).await?.items);
    }
    let asked = stream::iter(&views).map(async |view| {
        let asked = Asked {
            name: view.tags.get(id::NAME).cloned(),
            question: question(session, view).await.unwrap_or_default(),
        };
        (view.execution_id, asked)
    });
    Ok(asked.buffer_unordered(AT_ONCE).collect().await)
}

/// The question its handler asks. A reader's key does not see it, and other workers may show none.
async fn question(session: &Session, view: &ExecutionView) -> Option<String> {
    let attempt = AttemptRef {
        execution_id: view.execution_id,
        attempt_index: view.attempt_index?,
    };
    let summary = session.fabric.read_summary(attempt).await.ok()??;
    let summary: Value = serde_json::from_slice(&summary.bytes).ok()?;
    let waitpoints = &view.suspension.as_ref()?.waitpoints;
    let asked = waitpoints
        .iter()
        .filter_map(|waitpoint| summary[QUESTIONS].get(waitpoint.key.as_str()));
    let asked: Vec<_> = asked.map(text).collect();
    Some(asked.join("; "))
}

fn text(question: &Value) -> String {
    match question {
        Value::String(text) => output::clean(text),
        other => other.to_string(),
    }
}

//! `ff flow submit`.

use std::collections::HashMap;

use ff_core::command::flow::{FlowGraph, GraphCreated};
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::limits::ASSEMBLING_MAX;
use ff_core::machine::flow::FlowState;
use ff_core::view::FlowView;
use uuid::Uuid;

use super::file;
use super::parts::{Part, Room, cut};
use crate::failure::{Class, Failure};
use crate::say;
use crate::verbs::patience::patiently;
use crate::verbs::progress::Progress;
use crate::verbs::session::{Common, Session};
use crate::verbs::tag::{TagArguments, name_tag};
use crate::verbs::{id, when};

/// How often a flow that is waited for is looked at.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// Submit the flow in a file, JSON or YAML, and print its id
///
/// Nothing of it runs before all of it is there.
#[derive(clap::Args)]
pub(crate) struct Submit {
    /// The file, or - for standard input; `ff schema flow` says what may stand in it
    file: String,
    /// What to call it: every verb takes this instead of its id
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    tags: TagArguments,
    /// Its id, a UUID: submitted again under the same one, it is the same flow [default: that in the file, or a new one]
    #[arg(long, value_name = "UUID")]
    id: Option<FlowId>,
    /// Wait until everything in it has ended
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    common: Common,
}

impl Submit {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let mut graph = file::read(&self.file)?;
        graph.flow.flow_id = self.id.or(graph.flow.flow_id);
        let all = graph.members.len();
        let parts = cut(&mut graph, Room::OF_A_CALL)?;
        let session = self.common.open().await?;
        let definition = &mut graph.flow.definition;
        definition
            .tags
            .extend(self.tags.tags().chain(name_tag(self.name.as_deref())));
        if let Some(namespace) = &session.namespace {
            definition.namespace = namespace.clone();
        }
        let created = match <[Part; 1]>::try_from(parts) {
            Ok([whole]) => send(&session, &graph, whole, graph.open).await?,
            Err(parts) => send_all(&session, graph, parts, all).await?,
        };
        session.out.done(&created, created.flow_id)?;
        if self.wait {
            let flow = until_ended(&session, created.flow_id).await?;
            return judge(&flow);
        }
        Ok(())
    }
}

/// Sends part after part of all members, and opens the flow with the last one.
async fn send_all(session: &Session, mut graph: FlowGraph, parts: Vec<Part>, all: usize) -> Result<GraphCreated> {
    // Named here, so that a repeated call meets itself.
    let flow_id = *graph
        .flow
        .flow_id
        .get_or_insert_with(|| FlowId::from_uuid(Uuid::now_v7()));
    let (mut left, mut sent) = (parts.len(), Sent::default());
    let mut progress = Progress::of("submitting");
    for mut part in parts {
        progress.at(sent.0.len() as u64, all as u64);
        sent.name_upstreams(&mut part);
        left -= 1;
        let is_open = graph.open && left == 0;
        match patiently(async || send(session, &graph, part.clone(), is_open).await).await {
            Ok(created) => sent.note(&part, &created.execution_ids),
            Err(refusal) => {
                drop(progress);
                tell_how_to_go_on(flow_id, sent.0.len(), all);
                return Err(refusal);
            }
        }
    }
    Ok(GraphCreated {
        flow_id,
        execution_ids: sent.into_ids(),
    })
}

fn tell_how_to_go_on(flow_id: FlowId, sent: usize, all: usize) {
    if sent > 0 {
        say::aside(format_args!(
            "{sent} of {all} members are there, and none of them runs. Give the same command with --id {flow_id} to go on; left \
             as it is, the flow is deleted after {}.",
            when::span(ASSEMBLING_MAX)
        ));
    }
}

/// Sends one part.
async fn send(session: &Session, graph: &FlowGraph, part: Part, open: bool) -> Result<GraphCreated> {
    let mut members = part.members;
    for member in &mut members {
        member.submission.namespace = graph.flow.definition.namespace.clone();
    }
    let graph = FlowGraph {
        flow: graph.flow.clone(),
        members,
        edges: part.edges,
        open,
    };
    session.fabric.create_flow_graph(graph).await
}

/// The members that are there, by key: where each stands in the file, and its id.
#[derive(Default)]
struct Sent(HashMap<String, (usize, ExecutionId)>);

impl Sent {
    fn note(&mut self, part: &Part, ids: &[ExecutionId]) {
        for ((member, position), id) in part.members.iter().zip(&part.positions).zip(ids) {
            self.0.insert(member.key.clone(), (*position, *id));
        }
    }

    /// Members of earlier parts go by their ids: one may have been given an id that does not follow from its key.
    fn name_upstreams(&self, part: &mut Part) {
        for edge in &mut part.edges {
            if let Some((_, id)) = self.0.get(&edge.upstream) {
                edge.upstream = id.to_string();
            }
        }
    }

    /// Their ids as they stand in the file.
    fn into_ids(self) -> Vec<ExecutionId> {
        let mut ids: Vec<_> = self.0.into_values().collect();
        ids.sort_unstable_by_key(|(position, _)| *position);
        ids.into_iter().map(|(_, id)| id).collect()
    }
}

async fn until_ended(session: &Session, id: FlowId) -> anyhow::Result<FlowView> {
    loop {
        let flow = patiently(async || session.fabric.get_flow(id).await).await?;
        if flow.ended_at.is_some() {
            return Ok(flow);
        }
        // Flows have no long poll: their members have.
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn judge(flow: &FlowView) -> anyhow::Result<()> {
    if flow.state == FlowState::Completed {
        say::aside("It has completed.");
        return Ok(());
    }
    let short = id::short(flow.flow_id.uuid());
    let advice = format!("`ff flow graph {short}` shows where it went wrong.");
    Err(Failure::new(Class::EndedBadly, format!("it ended {}", flow.state))
        .advise(advice)
        .into())
}

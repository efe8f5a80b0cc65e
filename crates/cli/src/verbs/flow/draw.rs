//! `ff flow graph`.

use std::collections::HashMap;

use ff_core::command::flow::FlowGraph;
use ff_core::command::page::PageRequest;
use ff_core::fabric::On;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::Edge;
use ff_core::state::PublicState;
use ff_core::view::ExecutionView;
use serde_json::json;

use super::file;
use crate::say;
use crate::verbs::graph::{self, Node};
use crate::verbs::output::{Ink, state_ink};
use crate::verbs::session::{Common, Session};
use crate::verbs::{id, paging};

/// Members and edges that are read: nobody looks at more.
const MEMBERS_MAX: usize = 2_000;
const EDGES_MAX: usize = 20_000;

/// Draw a flow: which member waits for which, and where each stands
#[derive(clap::Args)]
pub(crate) struct Graph {
    /// Which: its id, its name, or the last eight digits of its id
    #[arg(required_unless_present = "file")]
    flow: Option<String>,
    /// Draw the flow in this file instead, JSON or YAML; nothing is submitted
    #[arg(long, conflicts_with = "flow")]
    file: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Graph {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let out = self.common.out();
        if let Some(path) = &self.file {
            let graph = of_file(&file::read(path)?);
            return out.text(&graph::draw(&graph, out.width, out.paint));
        }
        let session = self.common.open().await?;
        let id = id::flow(&session, self.flow.as_deref().unwrap_or_default()).await?;
        let (members, edges) = read(&session, id).await?;
        let graph = of_flow(&members, &edges);
        if !out.is_table() {
            let layers = graph::layers(&graph).into_iter();
            let ids = |layer: Vec<usize>| layer.into_iter().map(|member| members[member].execution_id);
            let layers: Vec<Vec<_>> = layers.map(|layer| ids(layer).collect()).collect();
            return out.json(&json!({ "flow_id": id, "layers": layers, "edges": edges }));
        }
        out.text(&graph::draw(&graph, out.width, out.paint))
    }
}

async fn read(session: &Session, id: FlowId) -> anyhow::Result<(Vec<ExecutionView>, Vec<Edge>)> {
    let members = async |page: PageRequest| session.fabric.list_members(On::new(id, page)).await;
    let members = paging::list(MEMBERS_MAX, members).await?;
    if members.is_cut {
        say::aside(format_args!(
            "It has more members than these, the newest {MEMBERS_MAX}."
        ));
    }
    let edges = async |page: PageRequest| session.fabric.list_edges(On::new(id, page)).await;
    let edges = paging::list(EDGES_MAX, edges).await?;
    Ok((members.items, edges.items))
}

fn of_flow(members: &[ExecutionView], edges: &[Edge]) -> graph::Graph {
    let index: HashMap<ExecutionId, usize> = members
        .iter()
        .enumerate()
        .map(|(index, member)| (member.execution_id, index))
        .collect();
    let nodes = members.iter().map(|member| {
        let state = member.state.public_state;
        let kind = &member.execution_kind;
        let is_alone = members.iter().filter(|other| other.execution_kind == *kind).count() == 1;
        let name = match member.tags.get(id::NAME) {
            Some(name) => name.clone(),
            None if is_alone => kind.to_string(),
            // First what tells it from the others, if the rest is cut.
            None => format!("{} {kind}", id::short(member.execution_id.uuid())),
        };
        Node {
            label: format!("{} {name}", mark(state)),
            ink: state_ink(state),
        }
    });
    let between = |edge: &Edge| Some((*index.get(&edge.upstream)?, *index.get(&edge.downstream)?));
    graph::Graph {
        nodes: nodes.collect(),
        edges: edges.iter().filter_map(between).collect(),
    }
}

fn of_file(flow: &FlowGraph) -> graph::Graph {
    let index: HashMap<&str, usize> = flow
        .members
        .iter()
        .enumerate()
        .map(|(index, member)| (member.key.as_str(), index))
        .collect();
    let nodes = flow.members.iter().map(|member| Node {
        label: member.key.clone(),
        ink: Ink::Plain,
    });
    let edges = flow.edges.iter().filter_map(|edge| {
        Some((
            *index.get(edge.upstream.as_str())?,
            *index.get(edge.downstream.as_str())?,
        ))
    });
    graph::Graph {
        nodes: nodes.collect(),
        edges: edges.collect(),
    }
}

/// A state in one character, which needs no colour.
const fn mark(state: PublicState) -> char {
    match state {
        PublicState::Completed => '✓',
        PublicState::Failed | PublicState::Expired => '✗',
        PublicState::Cancelled | PublicState::Skipped => '-',
        PublicState::Active => '▶',
        PublicState::Suspended => '‖',
        PublicState::RateLimited => '!',
        PublicState::Waiting | PublicState::Resumable | PublicState::Delayed => '○',
        PublicState::WaitingChildren => '·',
    }
}

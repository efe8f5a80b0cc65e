//! What of a part is in its flow already.
//!
//! A part may be sent again, with more in it than before: what is there must be what the part says, what is missing is
//! added.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{Chunk, GraphPart, Item, Plan};
use super::write::submission_of;
use crate::command::submit::DependsOn;
use crate::error::{Code, Rejection};
use crate::id::{EdgeId, ExecutionId};
use crate::machine::edge::named_twice;
use crate::machine::submit::content_digest;
use crate::name::DataRef;
use crate::record::{Edge, Execution};

/// Executions and edges that were found because a part names them.
#[derive(Clone, Debug, Default)]
pub struct Found<'a> {
    executions: BTreeMap<ExecutionId, &'a Execution>,
    by_id: BTreeMap<EdgeId, &'a Edge>,
    by_pair: BTreeMap<(ExecutionId, ExecutionId), &'a Edge>,
    inputs: BTreeSet<(ExecutionId, &'a DataRef)>,
}

impl<'a> Found<'a> {
    /// Takes note of what was found.
    pub fn new(executions: impl IntoIterator<Item = &'a Execution>, edges: impl IntoIterator<Item = &'a Edge>) -> Self {
        let executions = executions.into_iter();
        let mut found = Self {
            executions: executions.map(|execution| (execution.id, execution)).collect(),
            ..Self::default()
        };
        for edge in edges {
            found.by_id.insert(edge.id, edge);
            found.by_pair.insert((edge.upstream, edge.downstream), edge);
            let name = edge.data_passing_ref.as_ref();
            found.inputs.extend(name.map(|name| (edge.downstream, name)));
        }
        found
    }

    /// The edge between two members, whatever its id is; or another one that has the id it would get.
    fn edge(&self, upstream: ExecutionId, downstream: ExecutionId) -> Option<&'a Edge> {
        let between = self.by_pair.get(&(upstream, downstream));
        between
            .or_else(|| self.by_id.get(&Edge::id_between(upstream, downstream)))
            .copied()
    }
}

impl Plan {
    /// The chunks that lack something, without what is there. Refuses a part that says something else than what is there.
    pub fn missing(&self, part: &GraphPart, found: &Found<'_>) -> Result<Vec<Chunk>, Rejection> {
        let missing = self.chunks.iter().map(|chunk| chunk.missing(part, found));
        let missing = missing.filter(|chunk| !chunk.as_ref().is_ok_and(Chunk::is_empty));
        missing.collect()
    }
}

impl Chunk {
    /// This chunk without what is there. Refuses one that says something else than what is there.
    pub fn missing(&self, part: &GraphPart, found: &Found<'_>) -> Result<Chunk, Rejection> {
        let items = self.items.iter().map(|item| missing_of(item, part, found));
        let items: Vec<Item> = items.collect::<Result<_, _>>()?;
        let lacks = |item: &Item| item.creates || !item.depends_on.is_empty();
        Ok(Chunk {
            items: items.into_iter().filter(lacks).collect(),
        })
    }

    /// Whether it adds nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Members that were found and gain dependencies.
    pub fn gaining(&self, found: &Found<'_>) -> BTreeSet<ExecutionId> {
        let gaining = self.items.iter().filter(|item| found.executions.contains_key(&item.id));
        gaining.map(|item| item.id).collect()
    }
}

fn missing_of(item: &Item, part: &GraphPart, found: &Found<'_>) -> Result<Item, Rejection> {
    let there = found.executions.get(&item.id);
    if let Some(execution) = there.filter(|_| item.creates) {
        check_member(execution, item, part)?;
    }
    let mut depends_on = Vec::new();
    for on in &item.depends_on {
        match found.edge(on.upstream, item.id) {
            Some(edge) => check_edge(edge, on, item, part)?,
            None => depends_on.push(on.clone()),
        }
    }
    let mut names = depends_on.iter().filter_map(|on| on.data_passing_ref.as_ref());
    if let Some(name) = names.find(|name| found.inputs.contains(&(item.id, *name))) {
        return Err(named_twice(item.id, name));
    }
    Ok(Item {
        creates: item.creates && there.is_none(),
        depends_on,
        ..item.clone()
    })
}

fn check_member(execution: &Execution, item: &Item, part: &GraphPart) -> Result<(), Rejection> {
    let key = &part.members[item.member].key;
    if execution.definition.flow != Some(part.flow_id) {
        let detail = format!("member {key:?}: execution {} exists outside of this graph", item.id);
        return Err(Code::AlreadyExists.because(detail));
    }
    if execution.definition.content_digest != content_digest(&submission_of(item, part)) {
        let detail = format!("member {key:?}: execution {} exists with other content", item.id);
        return Err(Code::AlreadyExists.because(detail));
    }
    Ok(())
}

fn check_edge(edge: &Edge, on: &DependsOn, item: &Item, part: &GraphPart) -> Result<(), Rejection> {
    let same = edge.flow_id == part.flow_id
        && (edge.upstream, edge.downstream) == (on.upstream, item.id)
        && edge.kind == on.dependency_kind
        && edge.data_passing_ref == on.data_passing_ref;
    if same {
        return Ok(());
    }
    let (key, id) = (&part.members[item.member].key, edge.id);
    let detail = format!("member {key:?}: edge {id} exists with another definition");
    Err(Code::AlreadyExists.because(detail))
}

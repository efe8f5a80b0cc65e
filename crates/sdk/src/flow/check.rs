//! What is wrong with a flow, before it is sent: all of it at once.

use std::collections::BTreeSet;

use ff_core::limits::{BATCH_ITEMS_MAX, GRAPH_EDGES_MAX};

use super::graph::{Graph, Member, Passes};
use crate::inputs::{InputName, Reads};

/// Everything that is wrong with the shape of a flow.
pub(super) fn problems(graph: &Graph) -> Vec<String> {
    let mut problems = Vec::new();
    let edges: usize = graph.members.iter().map(|member| member.edges.len()).sum();
    if graph.members.is_empty() {
        problems.push("it has no members: add a task".to_owned());
    }
    if graph.members.len() > BATCH_ITEMS_MAX {
        problems.push(format!(
            "it has {} members, more than {BATCH_ITEMS_MAX}",
            graph.members.len()
        ));
    }
    if edges > GRAPH_EDGES_MAX {
        problems.push(format!("it has {edges} dependencies, more than {GRAPH_EDGES_MAX}"));
    }
    let mut keys = BTreeSet::new();
    for (index, member) in graph.members.iter().enumerate() {
        if !keys.insert(&member.key) {
            problems.push(format!("two members are named {:?}", member.key));
        }
        problems.extend(
            of_member(index, member)
                .into_iter()
                .map(|problem| format!("{}: {problem}", member.key)),
        );
    }
    problems
}

fn of_member(index: usize, member: &Member) -> Vec<String> {
    let mut problems = member.problems.clone();
    if member.edges.iter().any(|edge| edge.upstream == index) {
        problems.push("it waits for itself".to_owned());
    }
    let given: Vec<_> = member.edges.iter().filter_map(|edge| edge.passes.as_ref()).collect();
    problems.extend(given.iter().filter_map(|passes| misfit(passes, member.reads)));
    problems.extend(twice(&given));
    let is_missing = |read: &&InputName| {
        read.reads == Reads::One
            && !given
                .iter()
                .any(|passes| matches!(passes, Passes::One(name) if name == read.name))
    };
    let missing = member.reads.iter().filter(is_missing);
    problems.extend(missing.map(|InputName { name, .. }| {
        format!("it reads an input named {name:?} that nobody hands over: .input({name:?}, &node)")
    }));
    problems
}

/// Why something that is handed over is not what the member reads.
fn misfit(passes: &Passes, reads: &[InputName]) -> Option<String> {
    let (name, is_many) = match passes {
        Passes::One(name) => (name, false),
        // The others of its like have the same misfit.
        Passes::Many(_, 1..) => return None,
        Passes::Many(name, 0) => (name, true),
    };
    match (
        reads.iter().find(|read| read.name == name).map(|read| read.reads),
        is_many,
    ) {
        (Some(Reads::Many), true) | (Some(Reads::One | Reads::Maybe), false) => None,
        (Some(Reads::Many), false) => Some(format!("the input {name:?} collects many: .collect({name:?}, &nodes)")),
        (Some(Reads::One | Reads::Maybe), true) => Some(format!("the input {name:?} is one: .input({name:?}, &node)")),
        (None, _) => Some(format!("it reads no input named {name:?}; it reads {}", listed(reads))),
    }
}

fn listed(reads: &[InputName]) -> String {
    match reads {
        [] => "none: its type has no `inputs`".to_owned(),
        reads => reads
            .iter()
            .map(|read| format!("{:?}", read.name))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Names under which two results would be handed over.
fn twice(given: &[&Passes]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let again = given
        .iter()
        .map(|passes| passes.name())
        .filter(|name| !seen.insert(name.clone()));
    again
        .map(|name| format!("two members hand their results over as {name:?}"))
        .collect()
}

//! The graph in words: each node with what it waits for, first what waits for nothing.

use super::{Graph, layers};
use crate::verbs::output::{Cell, Column, Ink, Paint, Table};

/// Names of what a node waits for; more are counted.
const NAMES_MAX: usize = 4;

/// A line for each node.
pub(super) fn list(graph: &Graph, width: Option<usize>, paint: Paint) -> String {
    let mut waits_for = vec![Vec::new(); graph.nodes.len()];
    for (from, to) in &graph.edges {
        waits_for[*to].push(*from);
    }
    let mut table = Table::new([
        Column::number("LAYER"),
        Column::new("MEMBER").cut(),
        Column::new("WAITS FOR").cut(),
    ]);
    for (layer, nodes) in layers(graph).into_iter().enumerate() {
        for node in nodes {
            let names = waits_for[node].iter().map(|other| graph.nodes[*other].label.as_str());
            let mut names: Vec<_> = names.map(str::to_owned).collect();
            let others = names.len().saturating_sub(NAMES_MAX);
            names.truncate(NAMES_MAX);
            if others > 0 {
                names.push(format!("and {others} others"));
            }
            table.row([
                layer.to_string().into(),
                Cell::new(graph.nodes[node].ink, &graph.nodes[node].label),
                Cell::new(Ink::Faint, names.join(", ")),
            ]);
        }
    }
    table.render(width, paint)
}

//! Which nodes play the same part: those of one kind in one layer whose neighbours play the same parts.

use std::collections::HashMap;
use std::hash::Hash;

use super::layers::Neighbours;

/// How often parts are told apart by the parts of neighbours.
const ROUNDS: usize = 8;

/// A part for each node, and how many parts there are. They are numbered in the order of their first nodes.
#[derive(Clone)]
pub(super) struct Parts {
    pub(super) of: Vec<usize>,
    pub(super) count: usize,
}

/// Each round tells more apart than the one before; the first goes by layer and kind alone.
pub(super) fn refine(layers: &[usize], kinds: &[usize], before: &Neighbours, after: &Neighbours) -> Vec<Parts> {
    let mut rounds = vec![parts((0..layers.len()).map(|node| (layers[node], kinds[node])))];
    while let Some(last) = rounds.last().filter(|_| rounds.len() <= ROUNDS) {
        let parts_of = |nodes: &[usize]| {
            let mut parts: Vec<usize> = nodes.iter().map(|node| last.of[*node]).collect();
            parts.sort_unstable();
            parts.dedup();
            parts
        };
        let nodes = 0..layers.len();
        let next = parts(nodes.map(|node| {
            let beside = (parts_of(before.of_node(node)), parts_of(after.of_node(node)));
            (last.of[node], beside)
        }));
        if next.count == last.count {
            break;
        }
        rounds.push(next);
    }
    rounds
}

/// Whatever has the same name is one part.
pub(super) fn parts<N: Eq + Hash>(names: impl Iterator<Item = N>) -> Parts {
    let mut known = HashMap::new();
    let mut part = |name| {
        let next = known.len();
        *known.entry(name).or_insert(next)
    };
    let of = names.map(&mut part).collect();
    Parts { of, count: known.len() }
}

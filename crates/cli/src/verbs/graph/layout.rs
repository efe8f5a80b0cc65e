//! Items in layers. An edge over several layers is carried by bends, one in each layer between: so every link is between
//! neighbours.

use super::{crossings, rows};

/// More is not drawn: nobody could read it.
const ITEMS_MAX: usize = 20_000;

/// Where everything is.
pub(super) struct Layout {
    /// The items of each layer, from top to bottom. Items below `nodes` are nodes, the others bends.
    pub(super) layers: Vec<Vec<usize>>,
    /// Links between items of neighbouring layers.
    pub(super) links: Vec<(usize, usize)>,
    /// The row of each item.
    pub(super) rows: Vec<usize>,
    nodes: usize,
}

impl Layout {
    /// Lays a graph out; `None` if there would be too much of it.
    pub(super) fn of(nodes: usize, edges: &[(usize, usize)]) -> Option<Self> {
        let mut layout = Self::unordered(nodes, edges)?;
        crossings::reduce(&mut layout.layers, &layout.links);
        layout.rows = rows::place(&layout.layers, &layout.links);
        Some(layout)
    }

    /// The node that an item is; a bend is none.
    pub(super) fn node(&self, item: usize) -> Option<usize> {
        (item < self.nodes).then_some(item)
    }

    fn unordered(nodes: usize, edges: &[(usize, usize)]) -> Option<Self> {
        let layer_of = layers(nodes, edges);
        let depth = layer_of.iter().max().map_or(0, |layer| layer + 1);
        let mut layout = Self {
            layers: vec![Vec::new(); depth],
            links: Vec::new(),
            rows: Vec::new(),
            nodes,
        };
        for (node, layer) in layer_of.iter().enumerate() {
            layout.layers[*layer].push(node);
        }
        let (mut items, mut sorted) = (nodes, edges.to_vec());
        sorted.sort_unstable();
        sorted.dedup();
        // All edges of one node share its bends.
        for of_one in sorted.chunk_by(|one, other| one.0 == other.0) {
            let from = of_one[0].0;
            let forward = of_one
                .iter()
                .map(|(_, to)| *to)
                .filter(|to| layer_of[*to] > layer_of[from]);
            let forward: Vec<_> = forward.collect();
            let furthest = forward.iter().map(|to| layer_of[*to]).max().unwrap_or(0);
            let mut carrier = from;
            for layer in layer_of[from] + 1..=furthest {
                let here = forward.iter().filter(|to| layer_of[**to] == layer);
                layout.links.extend(here.map(|to| (carrier, *to)));
                if layer < furthest {
                    layout.layers[layer].push(items);
                    layout.links.push((carrier, items));
                    carrier = items;
                    items += 1;
                }
            }
            if items > ITEMS_MAX {
                return None;
            }
        }
        Some(layout)
    }
}

/// The layer of each node: one more than the last of those it waits for. What waits for itself, over whatever way, is put
/// behind the rest.
pub(super) fn layers(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut waits_for, mut feeds) = (vec![0_usize; nodes], vec![Vec::new(); nodes]);
    for (from, to) in edges {
        waits_for[*to] += 1;
        feeds[*from].push(*to);
    }
    let mut layer_of = vec![0; nodes];
    let mut ready: Vec<usize> = (0..nodes).filter(|node| waits_for[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for next in &feeds[node] {
            layer_of[*next] = layer_of[*next].max(layer_of[node] + 1);
            waits_for[*next] -= 1;
            if waits_for[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    layer_of
}

//! Items in layers. An edge over several layers is carried by bends, one in each layer between: so every link is between
//! neighbours.

use ff_core::graph::layers;

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

//! Graphs that have a direction, laid out in layers and drawn with characters. Nothing here knows what the nodes are.
//!
//! | where | what |
//! |---|---|
//! | `layout` | items in layers, and the links between neighbouring ones |
//! | `crossings` | the order inside each layer in which few links cross |
//! | `rows` | a row for each item, near those it is linked with |
//! | `tracks` | where links run between two layers |
//! | `picture` | all of it in characters |
//! | `listing` | the same in words, where a picture would be too wide |

mod crossings;
mod layout;
mod listing;
mod picture;
mod rows;
mod tracks;

use self::layout::Layout;
use super::output::{Ink, Paint};

/// Nodes, and which waits for which.
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// From one node to another that waits for it.
    pub(crate) edges: Vec<(usize, usize)>,
}

/// What is drawn of a node.
pub(crate) struct Node {
    pub(crate) label: String,
    pub(crate) ink: Ink,
}

/// The graph from left to right if there is room for that, else in words.
pub(crate) fn draw(graph: &Graph, width: Option<usize>, paint: Paint) -> String {
    let layout = Layout::of(graph.nodes.len(), &graph.edges);
    let picture = layout.and_then(|layout| picture::draw(graph, &layout, width, paint));
    picture.unwrap_or_else(|| listing::list(graph, width, paint))
}

/// The nodes of each layer: those that wait for nothing, those that wait for these, and so on.
pub(crate) fn layers(graph: &Graph) -> Vec<Vec<usize>> {
    let mut layers = Vec::new();
    for (node, layer) in ff_core::graph::layers(graph.nodes.len(), &graph.edges)
        .into_iter()
        .enumerate()
    {
        if layers.len() <= layer {
            layers.resize(layer + 1, Vec::new());
        }
        layers[layer].push(node);
    }
    layers
}

#[cfg(test)]
mod tests;

//! Classes of nodes and the links between them.

use std::collections::BTreeMap;

use super::layers::{Neighbours, layers, pulled_layers};
use super::refine::{Parts, parts, refine};

/// A run of at least so many classes, each with one way in and one way out, becomes one.
const CHAIN_MIN: usize = 5;

/// A graph whose nodes stand in classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// By layer, then kind, then their first node.
    pub classes: Vec<Class>,
    /// The nodes by class, inside a class in their own order.
    pub nodes: Vec<usize>,
    /// From one class to another, and how many edges that stands for; from a class to itself only if it has several layers.
    pub links: Vec<(usize, usize, usize)>,
}

/// Nodes that are shown as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// What kind all its nodes are of; absent: they are of several.
    pub kind: Option<usize>,
    /// Its first layer.
    pub layer: usize,
    /// How many layers it has.
    pub layers: usize,
    /// The place of its first node.
    pub first: usize,
    /// How many nodes it has.
    pub count: usize,
}

/// Folds a graph of nodes of these kinds. Nodes of a class play the same part in it. With `most`, there are at most so many
/// classes: runs of them are put together first, then those that differ least, and at last whole layers.
pub fn fold(kinds: &[usize], edges: &[(usize, usize)], most: Option<usize>) -> Folded {
    let nodes = kinds.len();
    let after = Neighbours::of(nodes, edges.iter().copied());
    let before = Neighbours::of(nodes, edges.iter().map(|(from, to)| (*to, *from)));
    let layers = pulled_layers(&before, &after, layers(nodes, edges));
    let mut rounds = refine(&layers, kinds, &before, &after);
    let finest = rounds.pop().unwrap_or_else(|| parts(kinds.iter()));
    let parts = match most {
        None => finest,
        Some(most) => {
            let rounds = [finest].into_iter().chain(rounds.into_iter().rev());
            let joined = rounds.map(|parts| join_chains(&parts, edges));
            let mut fitting = joined.filter(|parts| parts.count <= most);
            fitting.next().unwrap_or_else(|| by_layers(&layers, most))
        }
    };
    describe(&parts, kinds, &layers, edges)
}

/// Layers that stand beside each other share a part, so that there are few enough.
fn by_layers(layers: &[usize], most: usize) -> Parts {
    let depth = layers.iter().max().map_or(0, |last| last + 1);
    let together = depth.div_ceil(most.max(1)).max(1);
    parts(layers.iter().map(|layer| layer / together))
}

/// The ways out of a part, or into it.
#[derive(Clone, Copy, PartialEq)]
enum Ways {
    None,
    One(usize),
    Many,
}

impl Ways {
    fn add(&mut self, other: usize) {
        *self = match *self {
            Ways::None => Ways::One(other),
            Ways::One(known) if known == other => Ways::One(known),
            Ways::One(_) | Ways::Many => Ways::Many,
        };
    }
}

fn join_chains(given: &Parts, edges: &[(usize, usize)]) -> Parts {
    let (mut out, mut into) = (vec![Ways::None; given.count], vec![Ways::None; given.count]);
    for (from, to) in edges {
        let (from, to) = (given.of[*from], given.of[*to]);
        out[from].add(to);
        into[to].add(from);
    }
    let mut sizes = vec![0_usize; given.count];
    given.of.iter().for_each(|part| sizes[*part] += 1);
    let next = |part: usize| match out[part] {
        Ways::One(next) if next != part && into[next] == Ways::One(part) && sizes[next] == sizes[part] => Some(next),
        _ => None,
    };
    let mut is_followed = vec![false; given.count];
    (0..given.count)
        .filter_map(next)
        .for_each(|next| is_followed[next] = true);
    let mut joined: Vec<usize> = (0..given.count).collect();
    for head in (0..given.count).filter(|part| !is_followed[*part]) {
        let run: Vec<usize> = std::iter::successors(Some(head), |part| next(*part)).collect();
        if run.len() >= CHAIN_MIN {
            run.into_iter().for_each(|part| joined[part] = head);
        }
    }
    parts(given.of.iter().map(|part| joined[*part]))
}

fn describe(parts: &Parts, kinds: &[usize], layers: &[usize], edges: &[(usize, usize)]) -> Folded {
    let mut found: Vec<(Option<Class>, usize)> = vec![(None, 0); parts.count];
    for (node, part) in parts.of.iter().enumerate() {
        let (class, first_node) = &mut found[*part];
        match class {
            None => {
                *first_node = node;
                *class = Some(Class {
                    kind: Some(kinds[node]),
                    layer: layers[node],
                    layers: 1,
                    first: 0,
                    count: 1,
                });
            }
            Some(class) => class.add(kinds[node], layers[node]),
        }
    }
    let classes = found.into_iter().enumerate();
    let mut classes: Vec<(Class, usize, usize)> = classes
        .filter_map(|(part, (class, first_node))| Some((class?, first_node, part)))
        .collect();
    classes.sort_by_key(|(class, first_node, _)| (class.layer, class.kind, *first_node));
    let mut place_of = vec![0; parts.count];
    let mut begin = 0;
    for (place, (class, _, part)) in classes.iter_mut().enumerate() {
        place_of[*part] = place;
        class.first = begin;
        begin += class.count;
    }
    let mut nodes: Vec<usize> = (0..kinds.len()).collect();
    nodes.sort_by_key(|node| place_of[parts.of[*node]]);
    let mut links: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (from, to) in edges {
        let link = (place_of[parts.of[*from]], place_of[parts.of[*to]]);
        *links.entry(link).or_default() += 1;
    }
    Folded {
        classes: classes.into_iter().map(|(class, ..)| class).collect(),
        nodes,
        links: links.into_iter().map(|((from, to), edges)| (from, to, edges)).collect(),
    }
}

impl Class {
    fn add(&mut self, kind: usize, layer: usize) {
        let last = (self.layer + self.layers - 1).max(layer);
        self.kind = self.kind.filter(|own| *own == kind);
        self.layer = self.layer.min(layer);
        self.layers = last - self.layer + 1;
        self.count += 1;
    }
}

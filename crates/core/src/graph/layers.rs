//! The layer of each node.

/// The layer of each node: one more than the last of those it waits for. What waits for itself, over whatever way, is put
/// behind the rest.
pub fn layers(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut waits_for, feeds) = (vec![0_usize; nodes], Neighbours::of(nodes, edges.iter().copied()));
    for (_, to) in edges {
        waits_for[*to] += 1;
    }
    let mut layer_of = vec![0; nodes];
    let mut ready: Vec<usize> = (0..nodes).filter(|node| waits_for[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for next in feeds.of_node(node) {
            layer_of[*next] = layer_of[*next].max(layer_of[node] + 1);
            waits_for[*next] -= 1;
            if waits_for[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    layer_of
}

/// The same, but what waits for nothing stands right before the first that waits for it.
pub(super) fn pulled_layers(before: &Neighbours, after: &Neighbours, mut layers: Vec<usize>) -> Vec<usize> {
    for node in 0..layers.len() {
        let first = after.of_node(node).iter().map(|next| layers[*next]).min();
        if let (true, Some(first)) = (before.of_node(node).is_empty(), first) {
            layers[node] = first.saturating_sub(1);
        }
    }
    layers
}

/// With which nodes each node is linked in one direction.
pub(super) struct Neighbours {
    /// Where the ones of each node begin; one more says where the last end.
    begin: Vec<usize>,
    others: Vec<usize>,
}

impl Neighbours {
    pub(super) fn of(nodes: usize, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut begin = vec![0; nodes + 1];
        for (from, _) in pairs.clone() {
            begin[from + 1] += 1;
        }
        for node in 0..nodes {
            begin[node + 1] += begin[node];
        }
        let (mut next, mut others) = (begin.clone(), vec![0; begin[nodes]]);
        for (from, to) in pairs {
            others[next[from]] = to;
            next[from] += 1;
        }
        Self { begin, others }
    }

    pub(super) fn of_node(&self, node: usize) -> &[usize] {
        &self.others[self.begin[node]..self.begin[node + 1]]
    }
}

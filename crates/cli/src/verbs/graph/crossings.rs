//! The order inside each layer: every item goes to the middle of those it is linked with in the layer beside, back and forth
//! over all layers, and the best order that was seen is kept.

/// Sweeps over all layers.
const SWEEPS: usize = 8;

/// Orders the items of each layer so that few links cross.
pub(super) fn reduce(layers: &mut Vec<Vec<usize>>, links: &[(usize, usize)]) {
    let items = layers.iter().flatten().max().map_or(0, |item| item + 1);
    let (mut before, mut after) = (vec![Vec::new(); items], vec![Vec::new(); items]);
    for (from, to) in links {
        after[*from].push(*to);
        before[*to].push(*from);
    }
    let mut fewest = (count(layers, links), layers.clone());
    for sweep in 0..SWEEPS {
        if fewest.0 == 0 {
            break;
        }
        let mut at = positions(layers);
        let forward = sweep % 2 == 0;
        for step in 1..layers.len() {
            let index = if forward { step } else { layers.len() - 1 - step };
            sort(&mut layers[index], if forward { &before } else { &after }, &mut at);
        }
        let crossings = count(layers, links);
        if crossings < fewest.0 {
            fewest = (crossings, layers.clone());
        }
    }
    *layers = fewest.1;
}

fn positions(layers: &[Vec<usize>]) -> Vec<usize> {
    let items = layers.iter().flatten().max().map_or(0, |item| item + 1);
    let mut at = vec![0; items];
    for (position, item) in layers.iter().flat_map(|layer| layer.iter().enumerate()) {
        at[*item] = position;
    }
    at
}

/// Sorts a layer by the middle of what each item is linked with; what is linked with nothing stays where it is.
#[expect(clippy::cast_precision_loss, reason = "positions are small")]
fn sort(layer: &mut [usize], linked: &[Vec<usize>], at: &mut [usize]) {
    let middle = |item: &usize| match &linked[*item][..] {
        [] => at[*item] as f64,
        others => others.iter().map(|other| at[*other]).sum::<usize>() as f64 / others.len() as f64,
    };
    let mut keyed: Vec<_> = layer.iter().map(|item| (middle(item), *item)).collect();
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (position, (_, item)) in keyed.into_iter().enumerate() {
        layer[position] = item;
        at[item] = position;
    }
}

/// How many pairs of links cross.
pub(super) fn count(layers: &[Vec<usize>], links: &[(usize, usize)]) -> usize {
    let at = positions(layers);
    let mut layer_of = vec![0; at.len()];
    for (layer, items) in layers.iter().enumerate() {
        items.iter().for_each(|item| layer_of[*item] = layer);
    }
    let mut ends: Vec<_> = links
        .iter()
        .map(|(from, to)| (layer_of[*from], at[*from], at[*to]))
        .collect();
    ends.sort_unstable();
    let between = ends.chunk_by(|one, other| one.0 == other.0);
    between
        .map(|links| inversions(links.iter().map(|(_, _, to)| *to)))
        .sum()
}

/// Pairs that stand the wrong way round, counted with a tree of sums.
fn inversions(values: impl Iterator<Item = usize> + Clone) -> usize {
    let size = values.clone().max().map_or(0, |value| value + 1);
    let (mut tree, mut seen, mut inversions) = (vec![0_usize; size + 1], 0, 0);
    for value in values {
        let (mut index, mut not_greater) = (value + 1, 0);
        while index > 0 {
            not_greater += tree[index];
            index &= index - 1;
        }
        inversions += seen - not_greater;
        seen += 1;
        let mut index = value + 1;
        while index <= size {
            tree[index] += 1;
            index += index & index.wrapping_neg();
        }
    }
    inversions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_counted() {
        assert_eq!(inversions([0, 1, 2].into_iter()), 0);
        assert_eq!(inversions([2, 1, 0].into_iter()), 3);
        assert_eq!(inversions([1, 1, 0].into_iter()), 2);
        let layers = vec![vec![0, 1], vec![2, 3]];
        assert_eq!(count(&layers, &[(0, 3), (1, 2)]), 1);
        assert_eq!(count(&layers, &[(0, 2), (0, 3), (1, 3)]), 0);
    }

    #[test]
    fn links_that_need_not_cross_do_not() {
        let mut layers = vec![vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]];
        let links = [(0, 5), (1, 4), (2, 3), (5, 7), (4, 8), (3, 6)];
        assert!(count(&layers, &links) > 0);
        reduce(&mut layers, &links);
        assert_eq!(count(&layers, &links), 0, "{layers:?}");
    }
}

//! A row for each item: as near as possible to the middle of those it is linked with, in the order of its layer.

/// Sweeps over all layers; the last one looks at what comes before.
const SWEEPS: usize = 5;

/// The row of each item. Items of one layer have rows of their own, from 0 on over all layers.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rows are small, and counted from the first one"
)]
pub(super) fn place(layers: &[Vec<usize>], links: &[(usize, usize)]) -> Vec<usize> {
    let items = layers.iter().flatten().max().map_or(0, |item| item + 1);
    let (mut before, mut after) = (vec![Vec::new(); items], vec![Vec::new(); items]);
    for (from, to) in links {
        after[*from].push(*to);
        before[*to].push(*from);
    }
    let mut rows = vec![0.0; items];
    layers.iter().for_each(|layer| stack(layer, &mut rows));
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for step in 0..layers.len() {
            let index = if forward { step } else { layers.len() - 1 - step };
            align(&layers[index], if forward { &before } else { &after }, &mut rows);
        }
    }
    let first = rows.iter().copied().fold(f64::INFINITY, f64::min);
    rows.into_iter().map(|row| (row - first) as usize).collect()
}

/// One below the other.
fn stack(layer: &[usize], rows: &mut [f64]) {
    for (position, item) in layer.iter().enumerate() {
        rows[*item] = f64::from(u32::try_from(position).unwrap_or(u32::MAX));
    }
}

/// Moves the items of a layer to the rows nearest to those they want that keep their order. Items that are in each other's way
/// form a block, which goes where it suits all of them best.
fn align(layer: &[usize], linked: &[Vec<usize>], rows: &mut [f64]) {
    struct Block {
        wanted: f64,
        items: f64,
    }
    let mut blocks: Vec<Block> = Vec::new();
    let mut position = 0.0;
    for item in layer {
        // As if each item of the layer took no room: the room is added again below.
        let mut block = Block {
            wanted: wanted(*item, linked, rows) - position,
            items: 1.0,
        };
        position += 1.0;
        while let Some(above) = blocks.pop_if(|above| above.wanted > block.wanted) {
            let items = above.items + block.items;
            block.wanted = (above.wanted * above.items + block.wanted * block.items) / items;
            block.items = items;
        }
        blocks.push(block);
    }
    let (mut items, mut position) = (layer.iter(), 0.0);
    for block in blocks {
        let mut left = block.items;
        while left > 0.0 {
            if let Some(item) = items.next() {
                rows[*item] = (block.wanted.floor()) + position;
            }
            position += 1.0;
            left -= 1.0;
        }
    }
}

/// The middle of what an item is linked with; linked with nothing, it stays.
fn wanted(item: usize, linked: &[Vec<usize>], rows: &[f64]) -> f64 {
    let others: Vec<f64> = linked[item].iter().map(|other| rows[*other]).collect();
    match others.len() {
        0 => rows[item],
        count => others.iter().sum::<f64>() / f64::from(u32::try_from(count).unwrap_or(u32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_straight_and_a_joint_is_in_the_middle() {
        assert_eq!(place(&[vec![0], vec![1], vec![2]], &[(0, 1), (1, 2)]), [0, 0, 0]);
        let rows = place(&[vec![0, 1, 2], vec![3], vec![4]], &[(0, 3), (1, 3), (2, 3), (3, 4)]);
        assert_eq!(rows, [0, 1, 2, 1, 1]);
    }

    #[test]
    fn items_of_a_layer_never_share_a_row() {
        let layers = [vec![0], vec![1, 2, 3, 4], vec![5, 6]];
        let links = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 5), (2, 5), (3, 5), (4, 6)];
        let rows = place(&layers, &links);
        for layer in layers {
            assert!(layer.is_sorted_by_key(|item| rows[*item]));
            assert!(layer.windows(2).all(|pair| rows[pair[0]] != rows[pair[1]]));
        }
    }
}

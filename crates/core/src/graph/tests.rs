//! Graphs as they should be folded.

use super::*;

/// Kind, layer, layers and size of each class.
fn classes(folded: &Folded) -> Vec<(Option<usize>, usize, usize, usize)> {
    let class = |class: &Class| (class.kind, class.layer, class.layers, class.count);
    folded.classes.iter().map(class).collect()
}

#[test]
fn a_layer_is_one_after_the_last_that_is_waited_for() {
    assert_eq!(layers(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]), [0, 1, 2, 3]);
    assert_eq!(layers(3, &[(0, 1), (1, 0)]), [0, 0, 0], "a cycle does no harm");
}

#[test]
fn what_plays_the_same_part_is_one_class() {
    // source, then three of kind 1, then a chain of kind 2 behind each, then a sink.
    let mut edges = Vec::new();
    for one in 1..=300 {
        edges.extend([(0, one), (one, 300 + one), (300 + one, 601)]);
    }
    let kinds: Vec<usize> = (0..602_usize).map(|node| [0, 1, 2, 3][node.div_ceil(300)]).collect();
    let folded = fold(&kinds, &edges, None);
    let expected = [
        (Some(0), 0, 1, 1),
        (Some(1), 1, 1, 300),
        (Some(2), 2, 1, 300),
        (Some(3), 3, 1, 1),
    ];
    assert_eq!(classes(&folded), expected);
    assert_eq!(folded.links, [(0, 1, 300), (1, 2, 300), (2, 3, 300)]);
    assert_eq!(folded.nodes, (0..602).collect::<Vec<_>>());
}

#[test]
fn neighbours_tell_apart_what_is_of_one_kind() {
    // Two of one kind, of which only one is waited for.
    let folded = fold(&[0, 0, 1], &[(0, 2)], None);
    assert_eq!(
        classes(&folded),
        [(Some(0), 0, 1, 1), (Some(0), 0, 1, 1), (Some(1), 1, 1, 1)]
    );
    assert_eq!(folded.links, [(0, 2, 1)]);
}

#[test]
fn a_source_stands_right_before_what_waits_for_it() {
    let folded = fold(&[0, 0, 0, 1], &[(0, 1), (1, 2), (3, 2)], None);
    let of_kind_1 = folded.classes.iter().find(|class| class.kind == Some(1)).unwrap();
    assert_eq!(of_kind_1.layer, 1);
}

#[test]
fn a_chain_is_one_class_only_where_there_must_be_few() {
    let edges: Vec<_> = (1..6_000).map(|node| (node - 1, node)).collect();
    let kinds = vec![0; 6_000];
    assert_eq!(fold(&kinds, &edges, None).classes.len(), 6_000);
    let folded = fold(&kinds, &edges, Some(400));
    assert_eq!(classes(&folded), [(Some(0), 0, 6_000, 6_000)]);
    assert_eq!(folded.links, [(0, 0, 5_999)]);
}

#[test]
fn a_chain_of_several_kinds_is_of_none() {
    let edges: Vec<_> = (1..6).map(|node| (node - 1, node)).collect();
    let folded = fold(&[0, 1, 0, 1, 0, 1], &edges, Some(5));
    assert_eq!(classes(&folded), [(None, 0, 6, 6)]);
}

#[test]
fn there_are_never_more_classes_than_may_be() {
    let mut seed = 7_u64;
    let mut dice = |sides: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(seed >> 33).unwrap() % sides
    };
    let nodes = 6_000;
    let edges: Vec<_> = (1..nodes).map(|node| (dice(node), node)).collect();
    let kinds: Vec<_> = (0..nodes).map(|_| dice(12)).collect();
    for most in [1, 7, 400] {
        let folded = fold(&kinds, &edges, Some(most));
        assert!(folded.classes.len() <= most, "{} of {most}", folded.classes.len());
        let mut nodes_seen = folded.nodes.clone();
        nodes_seen.sort_unstable();
        assert_eq!(nodes_seen, (0..nodes).collect::<Vec<_>>());
        let counted: usize = folded.links.iter().map(|(.., edges)| edges).sum();
        assert_eq!(counted, edges.len());
        for class in &folded.classes {
            let own = &folded.nodes[class.first..class.first + class.count];
            assert!(own.is_sorted());
            assert!(
                class
                    .kind
                    .is_none_or(|kind| own.iter().all(|node| kinds[*node] == kind))
            );
        }
    }
}

#[test]
fn a_graph_of_nothing_has_no_classes() {
    let folded = fold(&[], &[], Some(400));
    assert!(folded.classes.is_empty() && folded.nodes.is_empty() && folded.links.is_empty());
}

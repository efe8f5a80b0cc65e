//! Pictures as they should look.

use super::*;

fn drawn(nodes: &[&str], edges: &[(usize, usize)], width: Option<usize>) -> String {
    let node = |label: &&str| Node {
        label: (*label).to_owned(),
        ink: Ink::Plain,
    };
    let graph = Graph {
        nodes: nodes.iter().map(node).collect(),
        edges: edges.to_vec(),
    };
    draw(&graph, width, Paint::None)
}

#[test]
fn a_chain_is_a_line() {
    assert_eq!(
        drawn(&["fetch", "parse", "save"], &[(0, 1), (1, 2)], None),
        "fetch ── parse ── save\n"
    );
    assert_eq!(drawn(&["alone"], &[], None), "alone\n");
    assert_eq!(drawn(&[], &[], None), "");
}

#[test]
fn what_fans_out_comes_together_again() {
    let edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)];
    let expected = "      ┌── one ───┐
plan ─┼── two ───┼── merge
      └── three ─┘
";
    let picture = drawn(&["plan", "one", "two", "three", "merge"], &edges, None);
    assert_eq!(picture, expected);
}

#[test]
fn an_edge_over_several_layers_goes_past_what_is_between() {
    let picture = drawn(&["a", "b", "c"], &[(0, 1), (1, 2), (0, 2)], None);
    assert_eq!(picture.lines().count(), 2, "\n{picture}");
    assert!(picture.contains("a ─") && picture.contains("─ c"), "\n{picture}");
}

#[test]
fn a_picture_that_is_too_wide_is_cut_and_then_told_in_words() {
    let nodes = ["a-long-name-of-a-step", "another-long-name", "the-last-long-name"];
    let edges = [(0, 1), (1, 2)];
    let cut = drawn(&nodes, &edges, Some(40));
    assert!(
        cut.contains('…') && cut.lines().all(|line| line.chars().count() <= 40),
        "\n{cut}"
    );
    let told = drawn(&nodes, &edges, Some(20));
    assert!(told.starts_with("LAYER"), "\n{told}");
}

#[test]
fn thousands_of_nodes_are_laid_out_in_little_time() {
    let layer = 100;
    let edges = (0..1_900)
        .flat_map(|node| (0..3).map(move |k| (node, (node / layer + 1) * layer + (node * 7 + k * 31) % layer)));
    let edges: Vec<_> = edges.collect();
    let labels: Vec<_> = (0..2_000).map(|node| format!("n{node}")).collect();
    let labels: Vec<_> = labels.iter().map(String::as_str).collect();
    let begun = std::time::Instant::now();
    let picture = drawn(&labels, &edges, None);
    assert!(picture.contains("n1999"));
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_cycle_does_no_harm() {
    assert!(drawn(&["a", "b"], &[(0, 1), (1, 0)], None).contains('b'));
}

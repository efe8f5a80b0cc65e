//! Random commands against the pure machine: whatever happens in whatever order, the invariants hold after every step.

mod check;
mod moves;
mod world;

use std::collections::BTreeSet;

use ff_core::state::{PublicState, state_vector};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use moves::{moves, shapes};
use world::World;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_under_any_sequence_of_commands(shape in shapes(), moves in moves()) {
        let mut world = World::new(shape);
        for step in &moves {
            world.play(step);
            world.check();
        }
    }
}

#[test]
fn the_random_walk_reaches_every_public_state() {
    let mut runner = TestRunner::deterministic();
    let mut reached: BTreeSet<PublicState> = BTreeSet::new();
    for _ in 0..600 {
        let shape = shapes().new_tree(&mut runner).unwrap().current();
        let mut world = World::new(shape);
        for step in moves().new_tree(&mut runner).unwrap().current() {
            world.play(&step);
            reached.insert(state_vector(&world.execution).public_state);
        }
    }
    // waiting_children and skipped need a second member: the walk over whole graphs is in `group.rs`.
    let others = [PublicState::WaitingChildren, PublicState::Skipped];
    let missing: Vec<_> = PublicState::ALL
        .iter()
        .filter(|state| !reached.contains(state) && !others.contains(state))
        .collect();
    assert!(missing.is_empty(), "the walk never reached {missing:?}");
}

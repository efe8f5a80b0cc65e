//! Broken variants: each breaks one promise, and the simulation notices within 200 seeds.

use ff_sim::run::{Options, run};
use ff_sim::store::Sabotage;

const SEEDS: u64 = 200;
const STEPS: u64 = 500;

#[test]
fn every_broken_variant_is_noticed() {
    let mut unnoticed = Vec::new();
    for sabotage in Sabotage::ALL {
        let options = Options {
            sabotage: Some(sabotage),
            ..Options::default()
        };
        let caught = (0..SEEDS)
            .map(|seed| run(seed, STEPS, &options))
            .find(|report| report.violation.is_some());
        match caught
            .as_ref()
            .and_then(|report| Some((report.seed, report.violation.as_ref()?)))
        {
            Some((seed, violation)) => println!("{sabotage:?}: seed {seed}: {violation}"),
            None => unnoticed.push(sabotage),
        }
    }
    assert!(unnoticed.is_empty(), "went unnoticed: {unnoticed:?}");
}

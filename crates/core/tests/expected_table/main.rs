//! Compares every cell of the hand-written tables in `tests/expected` with what the machine does.

mod flows;
mod graph;
mod lifecycle;
mod operations;
mod parse;
mod premise;
mod pump;
mod render;
mod scene;
mod situations;
#[path = "../machine/support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::Path;

use operations::{Cast, Operation, operation};
use parse::{Block, Cell, read_tables};

/// The tables may grow, never shrink.
const CELLS_MIN: usize = 1_800;
/// Nor may a block get lost: some have a single cell.
const BLOCKS_MIN: usize = 95;

/// What was compared, and every difference found.
#[derive(Default)]
struct Comparison {
    cells: usize,
    trials: usize,
    faults: Vec<String>,
}

#[test]
fn the_machine_does_what_every_cell_of_the_tables_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected");
    let blocks = read_tables(&directory).expect("the tables can be read");
    let comparison = compare(&blocks);
    let Comparison { cells, trials, faults } = &comparison;
    println!("{cells} cells of {} blocks compared in {trials} trials", blocks.len());
    for fault in faults {
        println!("{fault}");
    }
    let blocks = blocks.len();
    assert!(
        blocks >= BLOCKS_MIN,
        "only {blocks} blocks, fewer than {BLOCKS_MIN}: the tables have shrunk"
    );
    assert!(
        *cells >= CELLS_MIN,
        "only {cells} cells, fewer than {CELLS_MIN}: the tables have shrunk"
    );
    assert!(
        faults.is_empty(),
        "{} differences between the tables and the machine",
        faults.len()
    );
}

fn compare(blocks: &[Block]) -> Comparison {
    let mut comparison = Comparison::default();
    let mut seen = BTreeSet::new();
    for block in blocks {
        if !seen.insert(&block.name) {
            comparison
                .faults
                .push(format!("{}  {}: a second block of this name", block.place, block.name));
        }
        match operation(&block.name) {
            Some(operation) => comparison.take(block, &operation),
            None => comparison
                .faults
                .push(format!("{}  {}: no such operation", block.place, block.name)),
        }
    }
    comparison
}

impl Comparison {
    fn take(&mut self, block: &Block, operation: &Operation) {
        self.check_cast(block, &operation.cast);
        for cell in &block.cells {
            self.cells += 1;
            self.try_cell(block, cell, operation);
        }
    }

    /// Every situation of the block's cast stands in it exactly once.
    fn check_cast(&mut self, block: &Block, cast: &Cast) {
        let mut missing: BTreeSet<&str> = match cast {
            Cast::Each(names) => names.iter().copied().collect(),
            Cast::Groups => block.cells.iter().map(|cell| cell.situation.as_str()).collect(),
        };
        for cell in &block.cells {
            if !missing.remove(cell.situation.as_str()) {
                let fault = format!("{}  {} / {}: unknown or twice", cell.place, block.name, cell.situation);
                self.faults.push(fault);
            }
        }
        for situation in missing {
            self.faults.push(format!(
                "{}  {} / {situation}: not in the table",
                block.place, block.name
            ));
        }
    }

    fn try_cell(&mut self, block: &Block, cell: &Cell, operation: &Operation) {
        let Cell {
            place,
            situation,
            expected,
        } = cell;
        let mut told = BTreeSet::new();
        for trial in &operation.trials {
            self.trials += 1;
            let got = match trial.run(situation) {
                Ok(answer) if answer.satisfies(expected) => continue,
                Ok(answer) => answer.beside(expected),
                Err(unreachable) => unreachable,
            };
            let label = if trial.label.is_empty() {
                String::new()
            } else {
                format!(" [{}]", trial.label)
            };
            let fault = format!(
                "{place}  {} / {situation}{label}: expected `{expected}` got `{got}`",
                block.name
            );
            if told.insert(fault.clone()) {
                self.faults.push(fault);
            }
        }
    }
}

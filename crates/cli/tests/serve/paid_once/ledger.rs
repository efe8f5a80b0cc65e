//! What the bodies of steps note, whichever process they run in.

use std::path::{Path, PathBuf};

use crate::ledger_file::Pen;

/// A body that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Which of the worker processes, from 0.
    pub(crate) worker: usize,
    pub(crate) execution: String,
    /// The key of its step.
    pub(crate) key: String,
    /// What it gave and cost, which no other body did, but for a coincidence.
    pub(crate) tokens: u64,
}

/// The ledger as a worker process writes it.
#[derive(Clone)]
pub(crate) struct Notes {
    pen: Pen,
    worker: usize,
}

impl Notes {
    pub(crate) fn of(worker: usize, path: &Path) -> Self {
        let pen = Pen::of(path);
        Self { pen, worker }
    }

    /// Notes that a body runs.
    pub(crate) fn note(&self, execution: &str, key: &str, tokens: u64) -> std::io::Result<()> {
        self.pen.note(&format!("{} {execution} {key} {tokens}", self.worker))
    }
}

/// The ledger as the test reads it.
pub(crate) struct Ledger {
    pub(crate) path: PathBuf,
}

impl Ledger {
    /// All lines, in the order in which bodies ran.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(parse).collect()
    }
}

fn parse(line: &str) -> Line {
    let words: Vec<&str> = line.split(' ').collect();
    let [worker, execution, key, tokens] = words[..] else {
        panic!("no line of the ledger: {line:?}")
    };
    Line {
        worker: worker.parse().unwrap(),
        execution: execution.to_owned(),
        key: key.to_owned(),
        tokens: tokens.parse().unwrap(),
    }
}

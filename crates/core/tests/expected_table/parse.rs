//! Reads the tables.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// The keys a cell may claim something about.
const KEYS: [&str; 12] = [
    "lifecycle_phase",
    "ownership_state",
    "eligibility_state",
    "blocking_reason",
    "terminal_outcome",
    "attempt_state",
    "attempt_index",
    "reclaim_count",
    "replay_count",
    "stop_requested",
    "effect",
    "member",
];

/// One operation, with a cell for every situation.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) place: Place,
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
}

/// What one operation does in one situation.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) place: Place,
    pub(crate) situation: String,
    pub(crate) expected: Expected,
}

/// What a cell claims.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Accepted, and how the execution reads afterwards.
    Accepted {
        outcome: String,
        reads: Option<String>,
        facts: BTreeMap<String, String>,
    },
    /// A rejection's code, or the one word of an answer that leaves nothing to read.
    Word(String),
}

/// A line of a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Word(word) => f.write_str(word),
            Expected::Accepted { outcome, reads, facts } => {
                write!(f, "ok {outcome}")?;
                if let Some(state) = reads {
                    write!(f, " -> {state}")?;
                }
                facts.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
            }
        }
    }
}

/// Every block of every table of a directory, in the order of the files' names.
pub(crate) fn read_tables(directory: &Path) -> Result<Vec<Block>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    let mut blocks = Vec::new();
    for path in files {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        blocks.extend(parse(&file, &text)?);
    }
    Ok(blocks)
}

/// The blocks of one table.
pub(crate) fn parse(file: &str, text: &str) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = Place {
            file: file.to_owned(),
            line: index + 1,
        };
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if !line.starts_with(' ') {
            blocks.push(Block {
                place,
                name: content.to_owned(),
                cells: Vec::new(),
            });
            continue;
        }
        let block = blocks
            .last_mut()
            .ok_or_else(|| format!("{place}: a cell before any block"))?;
        block.cells.extend(cells(&place, content)?);
    }
    Ok(blocks)
}

fn cells(place: &Place, line: &str) -> Result<Vec<Cell>, String> {
    let (situations, claim) = line
        .split_once(" : ")
        .ok_or_else(|| format!("{place}: a cell without ` : `"))?;
    let cell = |situation: &str| {
        Ok(Cell {
            place: place.clone(),
            situation: situation.trim().to_owned(),
            expected: expected(claim.trim()).map_err(|fault| format!("{place}: {fault}"))?,
        })
    };
    situations.split(',').map(cell).collect()
}

fn expected(claim: &str) -> Result<Expected, String> {
    let Some(accepted) = claim.strip_prefix("ok ") else {
        return Ok(Expected::Word(claim.to_owned()));
    };
    let Some((outcome, state)) = accepted.split_once(" -> ") else {
        return Ok(Expected::Accepted {
            outcome: accepted.trim().to_owned(),
            reads: None,
            facts: BTreeMap::new(),
        });
    };
    let mut words = state.split_whitespace();
    let reads = words.next().ok_or("nothing after `->`")?.to_owned();
    Ok(Expected::Accepted {
        outcome: outcome.trim().to_owned(),
        reads: Some(reads),
        facts: words.map(fact).collect::<Result<_, _>>()?,
    })
}

fn fact(word: &str) -> Result<(String, String), String> {
    match word.split_once('=') {
        Some((key, value)) if KEYS.contains(&key) => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{word}` claims nothing that is known")),
    }
}

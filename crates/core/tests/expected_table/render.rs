//! What the machine answered, in the tables' words.

use std::collections::BTreeMap;
use std::fmt;

use ff_core::error::Rejection;
use ff_core::record::Execution;
use ff_core::state::state_vector;

use crate::parse::Expected;

/// What an operation came to.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Accepted, and how the execution reads afterwards.
    Accepted { outcome: String, reading: Reading },
    /// A rejection's code, or the one word of an answer that leaves nothing to read.
    Word(String),
}

/// How an execution, or a gate, reads: one word and everything a cell may claim besides.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    word: String,
    facts: BTreeMap<&'static str, String>,
}

impl Answer {
    pub(crate) fn word(word: impl Into<String>) -> Self {
        Answer::Word(word.into())
    }

    pub(crate) fn accepted(outcome: impl Into<String>, reading: Reading) -> Self {
        Answer::Accepted {
            outcome: outcome.into(),
            reading,
        }
    }

    /// Whether the answer is what the cell claims. What a cell does not name it does not claim.
    pub(crate) fn satisfies(&self, expected: &Expected) -> bool {
        match (self, expected) {
            (Answer::Word(word), Expected::Word(claimed)) => word == claimed,
            (
                Answer::Accepted { outcome, reading },
                Expected::Accepted {
                    outcome: claimed,
                    reads,
                    facts,
                },
            ) => outcome == claimed && reads.as_ref().is_none_or(|word| *word == reading.word) && reading.has(facts),
            _ => false,
        }
    }

    /// Whether this second answer says what `first` said, as far as replies carry ids.
    pub(crate) fn repeats(&self, first: &Answer) -> bool {
        self.reply()
            .is_none_or(|reply| first.reply().is_none_or(|before| before == reply))
    }

    fn reply(&self) -> Option<&String> {
        match self {
            Answer::Accepted { reading, .. } => reading.facts.get("reply"),
            Answer::Word(_) => None,
        }
    }

    /// The answer with as many facts as `expected` names, so that a difference can be seen.
    pub(crate) fn beside(&self, expected: &Expected) -> String {
        let (Answer::Accepted { outcome, reading }, Expected::Accepted { reads, facts, .. }) = (self, expected) else {
            return self.to_string();
        };
        if reads.is_none() {
            return format!("ok {outcome}");
        }
        let shown = reading.facts.iter().filter(|(key, _)| facts.contains_key(**key));
        let shown: String = shown.map(|(key, value)| format!(" {key}={value}")).collect();
        format!("ok {outcome} -> {}{shown}", reading.word)
    }
}

impl From<Rejection> for Answer {
    fn from(rejection: Rejection) -> Self {
        Answer::Word(rejection.code.as_str().to_owned())
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Word(word) => f.write_str(word),
            Answer::Accepted { outcome, reading } => write!(f, "ok {outcome} -> {}", reading.word),
        }
    }
}

impl Reading {
    /// How an execution reads. One that is being deleted, or gone, is not found.
    pub(crate) fn of(execution: Option<&Execution>) -> Self {
        let Some(execution) = execution.filter(|execution| !execution.is_deleting()) else {
            return Self::of_word("not_found");
        };
        let state = state_vector(execution);
        let attempt_index = execution.attempt.as_ref().map_or(0, |attempt| attempt.index);
        let facts = BTreeMap::from([
            ("lifecycle_phase", state.lifecycle_phase.to_string()),
            ("ownership_state", state.ownership_state.to_string()),
            ("eligibility_state", state.eligibility_state.to_string()),
            ("blocking_reason", state.blocking_reason.to_string()),
            ("terminal_outcome", state.terminal_outcome.to_string()),
            ("attempt_state", state.attempt_state.to_string()),
            ("attempt_index", attempt_index.to_string()),
            ("reclaim_count", execution.counts.reclaims.to_string()),
            ("replay_count", execution.counts.replays.to_string()),
        ]);
        Self {
            word: state.public_state.to_string(),
            facts,
        }
    }

    /// Something that reads as one word.
    pub(crate) fn of_word(word: impl Into<String>) -> Self {
        Self {
            word: word.into(),
            facts: BTreeMap::new(),
        }
    }

    /// Adds what only the reply said.
    #[must_use]
    pub(crate) fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        self.facts.insert(key, value.to_string());
        self
    }

    pub(crate) fn public_state(&self) -> &str {
        &self.word
    }

    /// The same reading in other words, for a cell that stands for two causes.
    #[must_use]
    pub(crate) fn saying(mut self, words: &[(&str, &str)]) -> Self {
        for value in self.facts.values_mut() {
            if let Some((_, said)) = words.iter().find(|(meant, _)| meant == value) {
                *value = (*said).to_owned();
            }
        }
        self
    }

    fn has(&self, facts: &BTreeMap<String, String>) -> bool {
        facts
            .iter()
            .all(|(key, value)| self.facts.get(key.as_str()) == Some(value))
    }
}

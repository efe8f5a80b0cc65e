//! In which form figures are printed: lines for people, or an object of JSON per round for programs.

use std::fmt::Display;

use serde::Serialize;

use super::usage::Each;
use crate::say;

/// How figures are printed.
#[derive(Clone, Copy, clap::Args)]
pub(super) struct Output {
    /// In which form figures are printed; with json, what is for people goes to standard error
    #[arg(long, value_enum, default_value_t)]
    output: Form,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// Lines for people
    #[default]
    Text,
    /// An object of JSON per round, each on a line
    Json,
}

/// What a round was, for programs. There is none of a round whose check failed.
#[derive(Serialize)]
pub(super) struct Figures<'a> {
    pub(super) scenario: &'static str,
    pub(super) store: &'a str,
    /// How the engine was reached.
    pub(super) way: &'static str,
    /// Tasks, nodes of flows or recorded steps.
    pub(super) tasks: usize,
    pub(super) seconds: f64,
    #[serde(flatten)]
    pub(super) each: Each,
    /// What others did in a second right before it.
    #[serde(skip_serializing_if = "Beside::is_empty")]
    pub(super) beside: Beside<'a>,
}

/// Who did how many in a second.
pub(super) type Beside<'a> = std::collections::BTreeMap<&'a str, f64>;

/// Figures with what follows from them.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    figures: &'a Figures<'a>,
    per_second: f64,
    /// Each was delivered exactly once: without it nobody comes here.
    exact: bool,
}

impl Output {
    /// Says a line to people.
    pub(super) fn say(self, text: impl Display) {
        match self.output {
            Form::Text => say::line(text),
            Form::Json => say::aside(text),
        }
    }

    /// Tells programs of a round.
    pub(super) fn round(self, figures: &Figures<'_>) -> anyhow::Result<()> {
        if self.output == Form::Json {
            let line = Line {
                figures,
                per_second: figures.tasks as f64 / figures.seconds,
                exact: true,
            };
            say::line(serde_json::to_string(&line)?);
        }
        Ok(())
    }
}

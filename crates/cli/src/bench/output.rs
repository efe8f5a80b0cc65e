//! In which form figures are printed: lines for people, or objects of JSON for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;

use super::times::Times;
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
    /// An object of JSON for each thing that is measured, each on a line
    Json,
}

/// What was found of one thing that was measured. There are none where a check failed.
#[derive(Serialize)]
pub(super) struct Figures<'a> {
    scenario: &'static str,
    store: &'a str,
    /// What it was, or how the engine was reached.
    way: Cow<'a, str>,
    #[serde(flatten)]
    work: Option<Work>,
    #[serde(flatten)]
    each: Option<Each>,
    /// By a name that ends with its unit.
    #[serde(flatten)]
    more: BTreeMap<String, f64>,
    /// What others did in a second right before it.
    #[serde(skip_serializing_if = "Beside::is_empty")]
    beside: Beside<'a>,
    /// What was to be delivered was, exactly once: without it nobody comes here.
    exact: bool,
}

/// Who did how many in a second.
pub(super) type Beside<'a> = BTreeMap<&'a str, f64>;

/// What was done: tasks, nodes of flows, recorded steps.
#[derive(Serialize)]
struct Work {
    tasks: usize,
    seconds: f64,
    per_second: f64,
}

impl<'a> Figures<'a> {
    /// None so far.
    pub(super) fn of(scenario: &'static str, store: &'a str, way: impl Into<Cow<'a, str>>) -> Self {
        Self {
            scenario,
            store,
            way: way.into(),
            work: None,
            each: None,
            more: BTreeMap::new(),
            beside: Beside::new(),
            exact: true,
        }
    }

    /// So many tasks were done in that time.
    pub(super) fn done(mut self, tasks: usize, took: Duration) -> Self {
        let seconds = took.as_secs_f64();
        self.work = Some(Work {
            tasks,
            seconds,
            per_second: tasks as f64 / seconds,
        });
        self
    }

    /// What each of them used.
    pub(super) fn using(mut self, each: Each) -> Self {
        self.each = Some(each);
        self
    }

    pub(super) fn with(mut self, name: impl Into<String>, value: f64) -> Self {
        self.more.insert(name.into(), value);
        self
    }

    /// The middle and the slowest of many, as `<name>_p50_ms` and `<name>_p99_ms`.
    pub(super) fn times(self, name: &str, times: &Times) -> Self {
        let millis = |percent| times.at(percent).as_secs_f64() * 1e3;
        self.with(format!("{name}_p50_ms"), millis(50))
            .with(format!("{name}_p99_ms"), millis(99))
    }

    pub(super) fn per_second(&self) -> Option<f64> {
        Some(self.work.as_ref()?.per_second)
    }

    pub(super) const fn others(&self) -> &Beside<'a> {
        &self.beside
    }

    pub(super) fn beside(mut self, beside: Beside<'a>) -> Self {
        self.beside = beside;
        self
    }
}

impl Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.way)?;
        if let Some(work) = &self.work {
            write!(f, ": {:.0} in a second, each exactly once", work.per_second)?;
            for (other, of_other) in &self.beside {
                let percent = 100.0 * work.per_second / of_other;
                write!(f, "\n    {percent:.1} % of {other} ({of_other:.0}/s)")?;
            }
        }
        if let Some(each) = self.each {
            write!(f, "\n    for each: {each}")?;
        }
        for (name, value) in &self.more {
            write!(f, "\n    {}: {value:.2}", name.replace('_', " "))?;
        }
        Ok(())
    }
}

impl Output {
    /// Says a line to people.
    pub(super) fn say(self, text: impl Display) {
        match self.output {
            Form::Text => say::line(text),
            Form::Json => say::aside(text),
        }
    }

    /// Tells what was found.
    pub(super) fn tell(self, figures: &Figures<'_>) -> anyhow::Result<()> {
        self.say(figures);
        if self.output == Form::Json {
            say::line(serde_json::to_string(figures)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_find_every_figure_by_its_name() {
        let figures = Figures::of("s9", "a store", "1000 stored")
            .done(10, Duration::from_secs(2))
            .times("start", &Times::of(vec![Duration::from_millis(3)]))
            .beside(Beside::from([("an empty store", 6.0)]));
        let expected = serde_json::json!({
            "scenario": "s9", "store": "a store", "way": "1000 stored",
            "tasks": 10, "seconds": 2.0, "per_second": 5.0,
            "start_p50_ms": 3.0, "start_p99_ms": 3.0,
            "beside": { "an empty store": 6.0 }, "exact": true,
        });
        assert_eq!(serde_json::to_value(&figures).unwrap(), expected);
    }
}

//! What is said of each check.

use std::time::Instant;

use super::checks::Check;
use super::stand::Stand;
use crate::failure::{Class, Failure};
use crate::say;
use crate::verbs::output::{Ink, Paint, clean};

/// So many of the last lines of a worker are shown when a check fails.
const LINES_MAX: usize = 10;

/// What was found so far.
pub(super) struct Report {
    paint: Paint,
    began: Instant,
    passed: usize,
    failed: Vec<&'static str>,
    round_trips: Option<f64>,
}

impl Report {
    pub(super) fn begin() -> Self {
        Self {
            paint: Paint::of_stdout(),
            began: Instant::now(),
            passed: 0,
            failed: Vec::new(),
            round_trips: None,
        }
    }

    /// Says what came of a check, and what to do where it failed.
    pub(super) fn tell(&mut self, check: &'static Check, found: anyhow::Result<()>, stand: &Stand) {
        self.round_trips = self.round_trips.or_else(|| stand.round_trips());
        let Err(wrong) = found else {
            self.passed += 1;
            let pass = self.paint.paint(Ink::Good, "pass");
            return say::line(format_args!("{pass}  {:<16}  {}", check.name, check.promise));
        };
        self.failed.push(check.name);
        let fail = self.paint.paint(Ink::Bad, "FAIL");
        say::line(format_args!("{fail}  {:<16}  {}", check.name, check.promise));
        say::line(format_args!("      found  {}", clean(&format!("{wrong:#}"))));
        say::line(format_args!("      do     {}", check.advice));
        let told = stand.told();
        for line in told.iter().skip(told.len().saturating_sub(LINES_MAX)) {
            say::line(format_args!("      worker | {line}"));
        }
    }

    /// Says how it was altogether.
    pub(super) fn end(self) -> anyhow::Result<()> {
        let all = self.passed + self.failed.len();
        if let Some(round_trips) = self.round_trips {
            say::line(format_args!(
                "\n{round_trips:.1} round trips per task, with 20 tasks that only give back what they get"
            ));
        }
        say::line(format_args!(
            "{} of {all} checks passed in {} s",
            self.passed,
            self.began.elapsed().as_secs()
        ));
        if self.failed.is_empty() {
            return Ok(());
        }
        let failure = Failure::new(
            Class::Refused,
            format!("this worker does not conform: {}", self.failed.join(", ")),
        );
        let only: Vec<String> = self.failed.iter().map(|name| format!("--only {name}")).collect();
        Err(failure
            .advise(format!("Try those again with {}.", only.join(" ")))
            .into())
    }
}

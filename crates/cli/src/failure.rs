//! How `ff` ends when it did not do what it was asked for: a number for scripts, a sentence and what to do next for a person.

mod advice;

use std::fmt;
use std::io;
use std::process::ExitCode;

use ff_core::error::{Code, Rejection};

use crate::say;
use crate::verbs::clean;

/// What `--help` says about how `ff` ends.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done
  1  something else went wrong, such as what was asked for on the command line
  2  there is no such thing
  3  refused: not now, not so, or not with this key
  4  nobody answers
  5  the execution or flow that was waited for ended, but not well
  6  it had not ended in the time that was given";

/// In which of these ways it failed: the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Other = 1,
    NotFound = 2,
    Refused = 3,
    Unreachable = 4,
    EndedBadly = 5,
    NotYet = 6,
}

/// Something that was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    class: Class,
    what: String,
    advice: Option<String>,
}

impl Failure {
    /// A failure of this class: what happened, in a sentence.
    pub(crate) fn new(class: Class, what: impl Into<String>) -> Self {
        Self {
            class,
            what: what.into(),
            advice: None,
        }
    }

    /// With what to do now.
    #[must_use]
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}

/// Says what went wrong and what to do now; the code to end with.
pub(crate) fn tell(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let (class, advice) = judged(error);
    // Part of it may be what a worker said.
    let lines: Vec<String> = format!("{error:#}").lines().map(clean).collect();
    say::aside(format_args!("error: {}", lines.join("\n")));
    if let Some(advice) = advice {
        advice
            .lines()
            .for_each(|line| say::aside(format_args!("  {}", clean(line))));
    }
    ExitCode::from(class as u8)
}

/// What to do after this error, if there is something to do.
pub(crate) fn advice(error: &anyhow::Error) -> Option<String> {
    judged(error).1
}

/// Whoever read the output has seen enough.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(is_closed)
}

fn judged(error: &anyhow::Error) -> (Class, Option<String>) {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return (failure.class, failure.advice.clone());
    }
    match rejection(error) {
        Some(rejection) => (class(rejection.code), Some(advice::after(rejection.code).to_owned())),
        None => (Class::Other, None),
    }
}

fn rejection(error: &anyhow::Error) -> Option<&Rejection> {
    match error.downcast_ref() {
        Some(ff_sdk::Error::Rejected(rejection)) => Some(rejection),
        _ => error.downcast_ref(),
    }
}

const fn class(code: Code) -> Class {
    match code.status() {
        404 => Class::NotFound,
        401 | 403 | 409 | 410 | 413 => Class::Refused,
        408 | 429 | 503 | 504 => Class::Unreachable,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_refusal_keeps_its_class_and_advice_under_what_is_said_around_it() {
        let refused = Err::<(), _>(Code::ExecutionNotFound.because("there is none")).context("cannot cancel it");
        let (class, advice) = judged(&refused.unwrap_err());
        assert_eq!(class, Class::NotFound);
        assert!(advice.unwrap().contains("ff list"));
    }

    #[test]
    fn every_code_has_a_class_and_something_to_do() {
        for code in Code::ALL {
            assert!(!advice::after(*code).is_empty(), "{code}");
            assert!((class(*code) as u8) < Class::EndedBadly as u8, "{code}");
        }
    }
}

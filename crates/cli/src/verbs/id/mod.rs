//! What people call things by: an id, a name, or the last digits of an id.

mod accounts;
mod executions;
mod flows;

use std::fmt::Display;

use ff_core::record::HistorySubject;
use uuid::Uuid;

use crate::failure::{Class, Failure};

pub(crate) use accounts::{budget, quota};
pub(crate) use executions::execution;
pub(crate) use flows::flow;

/// The tag that names something.
pub(crate) const NAME: &str = "name";
/// The last digits of an id that stand for it, at least.
const DIGITS_MIN: usize = 8;
/// Among how many of the newest things digits are looked for.
const NEWEST: usize = 1_000;
/// Candidates that are shown when several things are meant.
const CANDIDATES_MAX: usize = 10;

/// Enough of an id to tell a few thousand apart: its end, because the beginning is the time.
pub(crate) fn short(uuid: Uuid) -> String {
    let text = uuid.to_string();
    text[text.len() - DIGITS_MIN..].to_owned()
}

/// The same of what something happened to.
pub(crate) fn short_subject(subject: HistorySubject) -> String {
    match subject {
        HistorySubject::Execution(id) => short(id.uuid()),
        HistorySubject::Flow(id) => short(id.uuid()),
    }
}

/// Whether the text can be the end of an id.
fn are_digits(text: &str) -> bool {
    text.len() >= DIGITS_MIN && text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-'))
}

fn ends_in(uuid: Uuid, digits: &str) -> bool {
    are_digits(digits) && uuid.to_string().ends_with(digits)
}

/// The one thing that was found; several are refused, with what tells them apart.
fn one<T, S: Display>(
    mut found: Vec<T>,
    noun: &str,
    given: &str,
    shown: impl Fn(&T) -> S,
) -> anyhow::Result<Option<T>> {
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let candidates = found.iter().take(CANDIDATES_MAX).map(|one| shown(one).to_string());
    let mut lines: Vec<String> = ["Give the id of the one that is meant:".to_owned()]
        .into_iter()
        .chain(candidates)
        .collect();
    if found.len() > CANDIDATES_MAX {
        lines.push("and others".to_owned());
    }
    let what = format!("{given:?} stands for more than one {noun}");
    Err(Failure::new(Class::Refused, what).advise(lines.join("\n")).into())
}

fn none(noun: &str, given: &str, advice: &str) -> anyhow::Error {
    let what = if are_digits(given) {
        format!("no {noun} has the name {given:?}, and none of the newest {NEWEST} ends in it")
    } else {
        format!("no {noun} has the name {given:?}")
    };
    Failure::new(Class::NotFound, what).advise(advice).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_the_end_of_an_id() {
        let uuid: Uuid = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5".parse().unwrap();
        assert_eq!(short(uuid), "c2d3e4f5");
        assert!(ends_in(uuid, "c2d3e4f5") && ends_in(uuid, &uuid.to_string()));
        for other in ["2d3e4f5", "c2d3e4f6", "C2D3E4F5", "", "nightly-run"] {
            assert!(!ends_in(uuid, other), "{other}");
        }
    }

    #[test]
    fn several_are_refused_with_what_tells_them_apart() {
        assert_eq!(one(vec![7], "thing", "x", ToString::to_string).unwrap(), Some(7));
        assert_eq!(one(Vec::<u8>::new(), "thing", "x", ToString::to_string).unwrap(), None);
        let refused = one((0..12).collect(), "thing", "x", ToString::to_string).unwrap_err();
        assert_eq!(refused.to_string(), "\"x\" stands for more than one thing");
    }
}

//! The moment a copy is of.

use std::time::Instant;

use super::copied::Copied;
use super::there::There;
use crate::killed::told::{Told, When};

/// Between which two moments the one lies that the copy is of.
pub(super) struct Moment {
    /// The latest that anything was asked for which is there: it was done after that.
    not_before: (Instant, String),
    /// The earliest that anything was acknowledged which is missing: it was done before that.
    not_after: (Instant, String),
    /// Acknowledged before the store was replaced, and there or missing.
    there: usize,
    missing: usize,
}

/// Whether something is in a copy, by when it was done.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    In,
    Out,
    Unknown,
}

impl Moment {
    /// Looks at everything the old store acknowledged that can be recognised.
    pub(super) fn of(copied: &Copied, told: &Told, there: &There<'_>) -> Self {
        let mut moment = Self {
            not_before: (copied.began, "the copy was begun".to_owned()),
            not_after: (copied.ended, "the copy was complete".to_owned()),
            there: 0,
            missing: 0,
        };
        let mut look = |when: When, is_there: bool, what: &dyn std::fmt::Debug| {
            if copied.is_of_the_old_store(when) {
                moment.look(when, is_there, what);
            }
        };
        for submitted in &told.submitted {
            look(submitted.when, there.execution(submitted.id), submitted);
        }
        for run in &told.runs {
            for recorded in run.steps.iter().filter(|recorded| recorded.told.is_ok()) {
                look(recorded.when, there.steps(run.id, recorded), &(run.id, recorded));
            }
            for line in run.frames.iter().filter(|line| line.told.is_ok()) {
                look(line.when, there.frame(run.id, line), &(run.id, line));
            }
            if let (Some(result), Some(end)) = (run.completion(), &run.end) {
                look(end.when, there.result(run.id, result), &(run.id, end));
            }
        }
        for sent in &told.signals {
            look(sent.when, there.signal(sent), sent);
        }
        moment
    }

    fn look(&mut self, when: When, is_there: bool, what: &dyn std::fmt::Debug) {
        if is_there {
            self.there += 1;
            if when.asked > self.not_before.0 {
                self.not_before = (when.asked, format!("something was asked for that it has: {what:?}"));
            }
        } else {
            self.missing += 1;
            if when.told < self.not_after.0 {
                self.not_after = (when.told, format!("something was acknowledged that it lacks: {what:?}"));
            }
        }
    }

    /// What is wrong, unless everything up to one moment is there and nothing from then on.
    pub(super) fn broken(&self) -> Option<String> {
        let (there, missing) = (&self.not_before, &self.not_after);
        (there.0 > missing.0).then(|| {
            let later = there.0 - missing.0;
            format!("{}; {later:?} later {}", missing.1, there.1)
        })
    }

    /// On which side of it something happened.
    pub(super) fn side(&self, when: When) -> Side {
        if when.told <= self.not_before.0 {
            Side::In
        } else if when.asked >= self.not_after.0 {
            Side::Out
        } else {
            Side::Unknown
        }
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.not_after.0.saturating_duration_since(self.not_before.0);
        let (there, missing) = (self.there, self.missing);
        write!(
            f,
            "{there} acknowledged before are there, {missing} are not; the moment is known to {width:?}"
        )
    }
}

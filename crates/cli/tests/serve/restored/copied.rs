//! What is left of all that clients were told, after a store was replaced by an older copy of itself.

use std::collections::BTreeSet;
use std::time::Instant;

use ff_core::error::Code;
use ff_core::id::ExecutionId;

use super::moment::{Moment, Side};
use super::there::There;
use crate::killed::found::Found;
use crate::killed::scene::Left;
use crate::killed::told::{Ended, Ending, Run, Sent, Told, When};

/// When a store was copied, and when nobody answered any more but its copy.
pub(super) struct Copied {
    pub(super) began: Instant,
    pub(super) ended: Instant,
    pub(super) replaced: Instant,
}

/// What was told, as far as the copy knows of it.
struct Sieve<'a> {
    copied: &'a Copied,
    moment: Moment,
    there: There<'a>,
    broken: Vec<String>,
}

impl Copied {
    /// What must be so now: all that the copy has, and all that was told since.
    pub(super) fn left(&self, told: &Told, found: &[Found]) -> Left {
        let sent_since = told.signals.iter().filter(|sent| self.is_of_the_copy(sent.when));
        let there = There::of(found, sent_since.map(|sent| sent.signal_id).collect());
        let moment = Moment::of(self, told, &there);
        eprintln!("{moment}");
        let mut sieve = Sieve {
            copied: self,
            broken: moment.broken().into_iter().collect(),
            moment,
            there,
        };
        let submitted = told.submitted.iter().copied();
        let left = Told {
            submitted: submitted
                .filter(|submitted| self.is_of_the_copy(submitted.when) || sieve.there.execution(submitted.id))
                .collect(),
            signals: sieve.signals(&told.signals),
            runs: sieve.runs(&told.runs),
        };
        Left {
            told: left,
            broken: sieve.broken,
        }
    }

    /// Whether only the server of before can have answered this.
    pub(super) fn is_of_the_old_store(&self, when: When) -> bool {
        when.told < self.replaced
    }

    /// Whether only the server of the copy can have answered this.
    fn is_of_the_copy(&self, when: When) -> bool {
        when.asked > self.replaced
    }
}

impl Sieve<'_> {
    fn signals(&self, all: &[Sent]) -> Vec<Sent> {
        let is_left = |sent: &&Sent| self.copied.is_of_the_copy(sent.when) || self.there.signal(sent);
        all.iter().filter(is_left).cloned().collect()
    }

    /// The runs under leases the copy knows. Of a lease that was taken while it was made nobody can say, unless its epoch was
    /// given out again.
    fn runs(&mut self, all: &[Run]) -> Vec<Run> {
        let (mut left, mut unsure) = (Vec::new(), Vec::new());
        for run in all {
            if self.copied.is_of_the_copy(run.taken) {
                left.push(run.clone());
                continue;
            }
            let run = self.what_is_known(run);
            let has_proof = self.has_proof(&run);
            match self.side(run.taken) {
                Side::In => left.push(run),
                Side::Out if has_proof => {
                    let what = "a lease from after the copy was good for something";
                    self.broken.push(format!("{}: {what}: {run:?}", run.id));
                }
                Side::Out => {}
                Side::Unknown if has_proof => left.push(run),
                Side::Unknown => unsure.push(run),
            }
        }
        let epochs: BTreeSet<_> = left.iter().map(|run| (run.id, run.lease_epoch)).collect();
        unsure.retain(|run| !epochs.contains(&(run.id, run.lease_epoch)));
        left.append(&mut unsure);
        left
    }

    /// A run without what is lost of it.
    fn what_is_known(&self, run: &Run) -> Run {
        let (id, mut run) = (run.id, run.clone());
        let stays = |told_well: bool, when: When| !told_well || self.copied.is_of_the_copy(when);
        run.steps
            .retain(|recorded| stays(recorded.told.is_ok(), recorded.when) || self.there.steps(id, recorded));
        run.frames
            .retain(|line| stays(line.told.is_ok(), line.when) || self.there.frame(id, line));
        run.usage
            .retain(|spent| stays(spent.told.is_ok(), spent.when) || self.side(spent.when) != Side::Out);
        for spent in &mut run.usage {
            if spent.told.is_ok() && self.is_unsure(spent.when) {
                spent.told = Err(Code::Unavailable);
            }
        }
        run.end = run.end.and_then(|end| self.end(id, end));
        run
    }

    /// The end of a lease, unless it is lost.
    fn end(&self, id: ExecutionId, mut end: Ended) -> Option<Ended> {
        if end.told.is_err() || self.copied.is_of_the_copy(end.when) {
            return Some(end);
        }
        let is_left = match &end.how {
            Ending::Complete(result) => self.there.result(id, result),
            _ => self.side(end.when) != Side::Out,
        };
        if !matches!(end.how, Ending::Complete(_)) && self.is_unsure(end.when) {
            end.told = Err(Code::Unavailable);
        }
        is_left.then_some(end)
    }

    /// Whether the store showed that it knows the lease.
    fn has_proof(&self, run: &Run) -> bool {
        let known = |told_well: bool, when: When| told_well && !self.is_unsure(when);
        run.steps.iter().any(|recorded| recorded.told.is_ok())
            || run.frames.iter().any(|line| line.told.is_ok())
            || run.usage.iter().any(|spent| known(spent.told.is_ok(), spent.when))
            || run.completion().is_some()
            || run.end.as_ref().is_some_and(|end| known(end.told.is_ok(), end.when))
    }

    fn is_unsure(&self, when: When) -> bool {
        !self.copied.is_of_the_copy(when) && self.side(when) == Side::Unknown
    }

    /// On which side of the moment of the copy something happened that it may know of.
    fn side(&self, when: When) -> Side {
        if self.copied.is_of_the_old_store(when) {
            self.moment.side(when)
        } else {
            Side::Unknown
        }
    }
}

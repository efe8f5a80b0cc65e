//! Every operation of the tables: what it is tried in, and how it is sent to the machine.

mod claim;
mod dependency;
mod fenced;
mod gate;
mod member;
mod operator;
mod signal;
mod suspend;
mod time;
mod work;

use ff_core::error::Rejection;

use crate::premise::Premise;
use crate::render::Answer;
use crate::scene::Scene;
use crate::situations::{SITUATIONS, build};

/// One block of the tables.
pub(crate) struct Operation {
    pub(crate) cast: Cast,
    pub(crate) trials: Vec<Trial>,
}

/// The left sides a block must have.
pub(crate) enum Cast {
    /// Each of these exactly once.
    Each(Vec<&'static str>),
    /// Any number of groups, each at most once.
    Groups,
}

/// Answers for a situation, or says why it cannot be reached.
type Run = Box<dyn Fn(&str) -> Result<Answer, String>>;

/// One way to try the operation. A cell stands for all of them.
pub(crate) struct Trial {
    pub(crate) label: &'static str,
    run: Run,
}

impl Trial {
    pub(crate) fn new(label: &'static str, run: impl Fn(&str) -> Result<Answer, String> + 'static) -> Self {
        let run = Box::new(run);
        Self { label, run }
    }

    /// Tries the operation in a situation; an error when the situation cannot be reached.
    pub(crate) fn run(&self, situation: &str) -> Result<Answer, String> {
        (self.run)(situation)
    }
}

/// The operation a block is about, if there is such an operation.
pub(crate) fn operation(block: &str) -> Option<Operation> {
    claim::operation(block)
        .or_else(|| work::operation(block))
        .or_else(|| suspend::operation(block))
        .or_else(|| signal::operation(block))
        .or_else(|| operator::operation(block))
        .or_else(|| time::operation(block))
        .or_else(|| gate::operation(block))
        .or_else(|| member::operation(block))
        .or_else(|| dependency::operation(block))
}

/// The names of a list of situations.
fn names<T>(situations: &[(&'static str, T)]) -> Vec<&'static str> {
    situations.iter().map(|(name, _)| *name).collect()
}

/// An operation that is tried in every situation, in several ways.
fn in_situations(trials: Vec<Trial>) -> Operation {
    Operation {
        cast: Cast::Each(names(&SITUATIONS)),
        trials,
    }
}

/// An operation that is tried in every situation, in one way.
fn everywhere(premise: Premise, act: impl Fn(&mut Scene) -> Result<Answer, Rejection> + 'static) -> Operation {
    in_situations(vec![trial("", premise, act)])
}

/// Tries `act` in a situation.
fn trial(
    label: &'static str,
    premise: Premise,
    act: impl Fn(&mut Scene) -> Result<Answer, Rejection> + 'static,
) -> Trial {
    Trial::new(label, move |situation| {
        let mut scene = build(&SITUATIONS, situation, premise)?;
        Ok(act(&mut scene).unwrap_or_else(Answer::from))
    })
}

/// An operation that is sent twice to `situation`: the second answer counts, and nothing may change by it.
fn repeated(
    after: &'static str,
    situation: &'static str,
    premise: Premise,
    act: impl Fn(&mut Scene) -> Result<Answer, Rejection> + 'static,
) -> Operation {
    Operation {
        cast: Cast::Each(vec![after]),
        trials: vec![twice("", situation, premise, act)],
    }
}

/// Tries `act` twice in `situation`, at the same moment.
fn twice(
    label: &'static str,
    situation: &'static str,
    premise: Premise,
    act: impl Fn(&mut Scene) -> Result<Answer, Rejection> + 'static,
) -> Trial {
    Trial::new(label, move |_| {
        let mut scene = build(&SITUATIONS, situation, premise)?;
        let now = scene.world.now;
        let first = act(&mut scene).map_err(|rejection| format!("the first call was refused: {rejection}"))?;
        let stored: Vec<_> = scene.world.records().cloned().collect();
        scene.world.now = now;
        let second = act(&mut scene).unwrap_or_else(Answer::from);
        if !scene.world.records().eq(&stored) {
            return Ok(Answer::word(format!("{second}, but it changed something")));
        }
        if !second.repeats(&first) {
            return Ok(Answer::word(format!(
                "{second}, but the first reply said something else"
            )));
        }
        Ok(second)
    })
}

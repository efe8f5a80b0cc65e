//! apply_dependency_to_child, and groups of edges.

use ff_core::command::flow::Applied;
use ff_core::error::Rejection;
use ff_core::machine::group::{self, Verdict};
use ff_core::record::{DependencyKind, EdgeGroupPolicy, OnSatisfied};

use crate::flows;
use crate::graph::{Staging, Upstream};
use crate::premise::Premise;
use crate::render::Answer;
use crate::scene::{Scene, unexpected};

use super::{Cast, Operation, Trial, everywhere, repeated};

pub(super) fn operation(block: &str) -> Option<Operation> {
    use DependencyKind::{AnyTerminal, SuccessOnly};
    let on_satisfied = OnSatisfied::LetRun;
    let quorum = |k| EdgeGroupPolicy::Quorum { k, on_satisfied };
    Some(match block {
        "apply_dependency_to_child (upstream open)" => everywhere(staged(Upstream::Open, SuccessOnly), apply),
        "apply_dependency_to_child (upstream succeeded)" => everywhere(staged(Upstream::Succeeded, SuccessOnly), apply),
        "apply_dependency_to_child (upstream failed, success_only)" => {
            everywhere(staged(Upstream::Failed, SuccessOnly), apply)
        }
        "apply_dependency_to_child (upstream failed, any_terminal)" => {
            everywhere(staged(Upstream::Failed, AnyTerminal), apply)
        }
        "apply_dependency_to_child repeated" => {
            let premise = staged(Upstream::Open, SuccessOnly);
            repeated("after-apply_dependency_to_child", "waiting", premise, apply)
        }
        "group (all_of)" => groups(EdgeGroupPolicy::AllOf),
        "group (any_of)" => groups(EdgeGroupPolicy::AnyOf { on_satisfied }),
        "group (quorum 1)" => groups(quorum(1)),
        "group (quorum 2)" => groups(quorum(2)),
        "group (quorum 3)" => groups(quorum(3)),
        _ => return None,
    })
}

fn staged(upstream: Upstream, kind: DependencyKind) -> Premise {
    Premise {
        staging: Some(Staging { upstream, kind }),
        ..Premise::default()
    }
}

fn apply(scene: &mut Scene) -> Result<Answer, Rejection> {
    let edge = scene.edge.ok_or_else(|| unexpected("has no staged edge"))?;
    let applied = flows::apply(&mut scene.world, edge)?;
    Ok(scene.accepted(match applied {
        Applied::Applied { .. } => "applied",
        Applied::AlreadyApplied => "already_applied",
    }))
}

fn groups(policy: EdgeGroupPolicy) -> Operation {
    Operation {
        cast: Cast::Groups,
        trials: vec![Trial::new("", move |situation| {
            let counts = counts(situation).ok_or_else(|| format!("{situation} is no n/satisfied/failed"))?;
            Ok(Answer::word(match group::verdict(policy, &counts) {
                Verdict::Satisfied => "satisfied",
                Verdict::Undecided => "undecided",
                Verdict::Impossible => "impossible",
            }))
        })],
    }
}

/// The counters `n/satisfied/failed` stands for.
fn counts(situation: &str) -> Option<group::Counts> {
    let mut numbers = situation.split('/').map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (applied, satisfied, failed) = (next()?, next()?, next()?);
    let unresolved = applied.checked_sub(satisfied)?.checked_sub(failed)?;
    Some(group::Counts {
        applied,
        unresolved,
        satisfied,
        failed,
    })
}

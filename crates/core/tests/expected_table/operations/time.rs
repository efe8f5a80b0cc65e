//! advance: what the pump does when a timer is reached.

use ff_core::error::Rejection;
use ff_core::machine::time;

use crate::premise::Premise;
use crate::render::Answer;
use crate::scene::Scene;
use crate::situations::{FURTHER_TIMERS, build};

use super::{Cast, Operation, Trial, everywhere, names};

pub(super) fn operation(block: &str) -> Option<Operation> {
    let plain = Premise::default();
    Some(match block {
        "advance" => everywhere(plain, advance),
        "advance (further timers)" => Operation {
            cast: Cast::Each(names(&FURTHER_TIMERS)),
            trials: vec![Trial::new("", move |situation| {
                let mut scene = build(&FURTHER_TIMERS, situation, plain)?;
                Ok(advance(&mut scene).unwrap_or_else(Answer::from))
            })],
        },
        _ => return None,
    })
}

/// Waits for the timer of the execution, if it has one, and lets the pump run.
pub(super) fn advance(scene: &mut Scene) -> Result<Answer, Rejection> {
    let execution = scene.execution()?;
    let Some(due_at) = time::due_at(&execution) else {
        return Ok(Answer::word("nothing due"));
    };
    scene.world.wait_until(due_at);
    if execution.is_deleting() {
        scene.delete()?;
    } else {
        scene.advance()?;
    }
    Ok(scene.accepted("advanced"))
}

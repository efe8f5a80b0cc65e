//! Children that a handler starts as steps.

use ff_core::command::spawn::{Child, SpawnChildren};
use ff_core::command::steps::StepStatus;
use ff_core::fabric::On;

use super::work::keeps;
use super::{Held, Worker};
use crate::world::actor::{Heard, call_once};
use crate::world::names;

/// What they are called; now and then as something else is.
const SPAWNS: [&str; 4] = ["child#0", "child#1", "child#2", "llm#0"];

impl Worker {
    /// Starts children, and mostly waits for them; `false` when the lease turned out to be lost.
    pub(super) async fn spawn_children(&self, held: &Held) -> bool {
        let luck = &self.actor.luck;
        let first = luck.below(3);
        let children = (0..luck.between(1, 2)).map(|n| self.child(first + n)).collect();
        let command = SpawnChildren {
            fence: self.shown(held),
            children,
        };
        let heard = call_once!(self.actor, spawn_children, On::new(held.id, command)).await;
        if let Heard::Told(spawned) = &heard {
            for child in &spawned.children {
                if child.status == StepStatus::Recorded {
                    self.actor.stage.tally().executions += 1;
                    self.actor.stage.watch.accepted(child.execution_id);
                }
                self.actor.board.learn(child.execution_id, Some(spawned.flow_id));
            }
        }
        keeps(&heard)
    }

    fn child(&self, place: u64) -> Child {
        let submission = self.actor.nameless(self.namespace.clone());
        let name = SPAWNS[usize::try_from(place).unwrap_or(0) % SPAWNS.len()];
        Child {
            step: names::step_key(name),
            lane_id: submission.lane_id,
            execution_kind: submission.execution_kind,
            input: submission.input,
            priority: submission.priority,
            creator_identity: submission.creator_identity,
            tags: submission.tags,
            policy: submission.policy,
            delay_until: submission.delay_until,
            execution_deadline_at: submission.execution_deadline_at,
        }
    }
}

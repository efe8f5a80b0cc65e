//! What handlers record: mostly what every run of them does in the same way, sometimes something else under the same name.

use std::collections::BTreeSet;

use ff_core::command::steps::{ProgressNote, RecordSteps, StepReport, StepUsage};
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{Failure, StepState};

use super::work::keeps;
use super::{Held, Worker};
use crate::invariants::{Act, SentSteps};
use crate::world::PAYLOAD_BYTES_MAX;
use crate::world::actor::{Heard, call_once};
use crate::world::board::Phase;
use crate::world::names;

/// What handlers do.
const RUNS: [&str; 6] = ["plan#0", "llm#0", "llm#1", "pay#0", "mail#0", "a/b[é]"];
/// Where they sleep, and where they wait.
const SLEEPS: [&str; 2] = ["nap#0", "nap#1"];
const WAITS: [&str; 3] = ["reply#0", "reply#1", "review#0"];
/// Steps of one call.
const STEPS_PER_CALL: u64 = 3;

impl Worker {
    /// Records what was done; `false` when the lease turned out to be lost.
    pub(super) async fn record_steps(&self, held: &Held) -> bool {
        let (sent, command) = self.recording(held);
        let heard = call_once!(self.actor, record_steps, On::new(held.id, command)).await;
        if let Heard::Told(recorded) = &heard {
            self.told(held, Act::Renewed(recorded.expires_at));
            self.actor.stage.watch.recorded_steps(&sent, &recorded.steps);
        }
        keeps(&heard)
    }

    /// A call that records what was done, and what is to be remembered of it.
    pub(super) fn recording(&self, held: &Held) -> (SentSteps, RecordSteps) {
        let luck = &self.actor.luck;
        let steps = self.some_steps(held, 1);
        let sent = self.actor.stage.watch.records_steps(held.id, held.fence, steps.clone());
        let command = RecordSteps {
            fence: self.shown(held),
            steps,
            progress: luck.one_in(4).then_some(ProgressNote {
                pct: Some(50),
                message: None,
            }),
        };
        (sent, command)
    }

    /// What comes with the end of a lease. When everything is to end, nothing that could be refused.
    pub(super) fn last_steps(&self, held: &Held) -> SentSteps {
        let steps = match self.actor.board.phase() {
            Phase::Storm if self.actor.luck.flip() => self.some_steps(held, 0),
            _ => Vec::new(),
        };
        self.actor.stage.watch.ends_with_steps(held.id, held.fence, steps)
    }

    /// The name of a sleep, or none.
    pub(super) fn some_sleep(&self) -> Option<StepKey> {
        self.name_of(&SLEEPS)
    }

    /// The name of a wait, or none.
    pub(super) fn some_wait(&self) -> Option<StepKey> {
        self.name_of(&WAITS)
    }

    /// One of these names, or none; now and then one that is meant for something else.
    fn name_of(&self, own: &[&str]) -> Option<StepKey> {
        let luck = &self.actor.luck;
        let names = if luck.one_in(8) { &RUNS[..] } else { own };
        let name = luck.pick(names).filter(|_| luck.flip())?;
        Some(names::step_key(name))
    }

    fn some_steps(&self, held: &Held, at_least: u64) -> Vec<StepReport> {
        let luck = &self.actor.luck;
        let mut steps: Vec<StepReport> = (0..luck.between(at_least, STEPS_PER_CALL))
            .map(|_| self.some_step(held))
            .collect();
        if !luck.one_in(40) {
            let mut seen = BTreeSet::new();
            steps.retain(|step| seen.insert(step.key.clone()));
        }
        steps
    }

    fn some_step(&self, held: &Held) -> StepReport {
        let luck = &self.actor.luck;
        let names = if luck.one_in(12) { &WAITS[..] } else { &RUNS[..] };
        let key = names::step_key(luck.pick(names).copied().unwrap_or(RUNS[0]));
        let content = if luck.one_in(3) { luck.between(1, 5) } else { 0 };
        let replaces_seq = luck.one_in(4).then(|| self.place_of(held, &key)).flatten();
        StepReport {
            replaces_seq,
            usage: self.some_costs(held),
            ..step_with(&key, content)
        }
    }

    /// Where the step of this name is, or a place where it is not.
    fn place_of(&self, held: &Held, key: &StepKey) -> Option<u64> {
        let luck = &self.actor.luck;
        if luck.one_in(6) {
            return Some(luck.below(4));
        }
        let live = self.actor.stage.watch.live_steps(held.id);
        live.iter().find(|(name, _)| name == key).map(|(_, seq)| *seq)
    }

    /// What a step cost: mostly nothing, sometimes at a budget that nobody created.
    fn some_costs(&self, held: &Held) -> Vec<StepUsage> {
        let luck = &self.actor.luck;
        let unknown = luck.one_in(6).then(|| BudgetId::from_uuid(luck.uuid()));
        let charged = unknown.or(held.budget).filter(|_| luck.one_in(3));
        let cost = |budget_id| StepUsage {
            budget_id,
            deltas: names::usage(luck, 4),
        };
        charged.map(cost).into_iter().collect()
    }
}

/// The step of this name with one of a few contents, which all have outputs of different lengths.
fn step_with(key: &StepKey, content: u64) -> StepReport {
    let output = |length: usize| {
        Some(Payload::binary(
            [key.as_str().as_bytes(), &vec![b'.'; length][..]].concat(),
        ))
    };
    let step = StepReport::done(key.clone(), None);
    match content {
        0 => StepReport {
            output: output(0),
            ..step
        },
        1 => StepReport {
            state: StepState::Started,
            ..step
        },
        2 => StepReport {
            state: StepState::Failed,
            failure: Some(Failure {
                reason: "it broke for good".to_owned(),
                category: names::category("permanent"),
            }),
            ..step
        },
        3 => StepReport {
            output: output(30),
            input_digest: Some("other".to_owned()),
            ..step
        },
        4 => StepReport {
            output: output(PAYLOAD_BYTES_MAX),
            ..step
        },
        _ => step,
    }
}

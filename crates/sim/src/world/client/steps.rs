//! Looking at what handlers have done, and saying what of it a replay keeps.

use ff_core::command::steps::{GetStepOutput, KeepSteps, ReadSteps};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;

use crate::world::actor::{Actor, Heard, call};
use crate::world::names;

impl Actor {
    /// Reads steps of an execution, a page and perhaps the next one.
    pub(super) async fn read_steps(&self, id: ExecutionId) {
        let id = self.with_steps(id);
        let mut asked = ReadSteps {
            from_seq: self.luck.one_in(3).then(|| self.luck.below(6)),
            limit: self.luck.choose([None, None, Some(1), Some(2), Some(0)]),
            outputs: self.luck.flip(),
            forgotten: false,
        };
        for _ in 0..2 {
            let looking = self.stage.watch.looks_at_steps(id);
            let Some(page) = call!(self, read_steps, On::new(id, asked.clone())).await.told() else {
                return;
            };
            if let Some(looking) = looking {
                self.stage.watch.showed_steps(&looking, &asked, &page);
            }
            if page.next.is_none() {
                return;
            }
            asked.from_seq = page.next;
        }
    }

    /// Reads what one step left.
    pub(super) async fn read_step_output(&self, id: ExecutionId) {
        let id = self.with_steps(id);
        let live = self.stage.watch.live_steps(id);
        let known = self.luck.pick(&live).filter(|_| !self.luck.one_in(4));
        let seq = known.map_or_else(|| self.luck.below(9), |(_, seq)| *seq);
        let looking = self.stage.watch.looks_at_steps(id);
        let heard = call!(self, get_step_output, On::new(id, GetStepOutput { seq })).await;
        let given = match &heard {
            Heard::Told(output) => Some(output),
            Heard::Refused(refusal) if refusal.code == Code::StepNotFound => None,
            Heard::Refused(_) | Heard::Nothing => return,
        };
        if let Some(looking) = looking {
            self.stage.watch.gave_output(&looking, seq, given);
        }
    }

    /// Mostly an execution that has steps.
    fn with_steps(&self, otherwise: ExecutionId) -> ExecutionId {
        let having = self.stage.watch.executions_with_steps();
        let chosen = self.luck.pick(&having).copied().filter(|_| !self.luck.one_in(4));
        chosen.unwrap_or(otherwise)
    }

    /// What a replay is to keep; mostly nobody says.
    pub(super) fn kept_steps(&self, id: ExecutionId) -> Option<KeepSteps> {
        match self.luck.below(6) {
            0 => Some(KeepSteps::Done),
            1 => Some(KeepSteps::None),
            2 | 3 => {
                let live = self.stage.watch.live_steps(id);
                let known = self.luck.pick(&live).map(|(key, _)| key.clone());
                Some(KeepSteps::Before(known.unwrap_or_else(|| names::step_key("llm#9"))))
            }
            _ => None,
        }
    }
}

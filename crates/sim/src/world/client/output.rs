//! Reading what attempts put out.

use ff_core::command::stream::{AttemptRef, ReadStream, TailStream};
use ff_core::fabric::On;
use ff_core::frame::FrameBound;
use ff_core::time::Duration;

use crate::world::actor::{Actor, call};

impl Actor {
    pub(super) async fn read_output(&self) {
        let Some(execution_id) = self.board.execution(&self.luck) else {
            return;
        };
        let attempt = AttemptRef {
            execution_id,
            attempt_index: u32::from(self.luck.one_in(4)),
        };
        let limit = self.luck.flip().then_some(2);
        match self.luck.below(3) {
            0 => {
                let (from, to) = (FrameBound::Start, FrameBound::End);
                call!(self, read_stream, On::new(attempt, ReadStream { from, to, limit })).await;
            }
            1 => {
                let wait = Duration::from_millis(self.luck.below(2_000));
                let after = None;
                call!(self, tail_stream, On::new(attempt, TailStream { after, wait, limit })).await;
            }
            _ => drop(call!(self, read_summary, attempt).await),
        }
    }
}

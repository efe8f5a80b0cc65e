//! What goes wrong beside the store's own faults: processes die, the clock jumps, the store forgets its last writes.

use std::sync::Arc;

use ff_core::time::Duration;

use super::actor::Actor;
use super::board::Phase;
use super::staff::Staff;
use crate::store::{Fault, StoreClock};

/// Jumps of the clock that are longer than a flow is assembled: one in this many.
const LONG_JUMP_ONE_IN: u64 = 20;
const LONG_JUMP: Duration = Duration::from_secs(3_700);

/// Bad weather.
pub(super) struct Storm {
    pub(super) actor: Actor,
    pub(super) staff: Arc<Staff>,
    pub(super) clock: StoreClock,
}

impl Storm {
    /// Strikes again and again until the storm is over.
    pub(super) async fn rage(self) {
        // A failover excuses much: half of the worlds do without.
        let forgetful = self.actor.luck.flip();
        while self.actor.board.phase() == Phase::Storm {
            self.actor.pause(100, 1_500).await;
            if self.actor.luck.flip() {
                self.actor.replicas.restart_dead();
                self.staff.restart_dead();
            }
            match self.actor.luck.below(24) {
                0 | 1 => self.actor.replicas.crash_one(&self.actor.luck),
                2 | 3 => self.staff.crash_one(&self.actor.luck),
                11 => self.actor.replicas.stop_one(&self.actor.luck),
                4 | 5 => self.jump().await,
                6..=10 if forgetful => self.fail_over().await,
                _ => {}
            }
        }
    }

    /// The store's clock jumps, and whoever finds a lost execution before the pump does takes it over.
    async fn jump(&self) {
        let millis = self.actor.luck.choose([1_000, 10_000, 60_000, 120_000]);
        let mut by = Duration::from_millis(self.actor.luck.between(1, millis));
        if self.actor.luck.one_in(LONG_JUMP_ONE_IN) {
            by = LONG_JUMP;
        }
        self.actor.stage.tally().strike(Fault::ClockJump);
        self.actor
            .stage
            .trace
            .note(|| format!("        the store's clock jumps by {by}"));
        self.clock.jump(by);
        self.actor.reclaim().await;
    }

    /// The store forgets what was written in the last moment.
    async fn fail_over(&self) {
        let mark = self.clock.mark();
        let seen = self.actor.stage.watch.mark();
        self.actor.pause(1, 800).await;
        if self.actor.board.phase() != Phase::Storm {
            return;
        }
        self.actor.stage.tally().strike(Fault::Failover);
        self.actor
            .stage
            .trace
            .note(|| "        the store forgets its last writes".to_owned());
        self.clock.go_back(&mark);
        self.actor.stage.watch.go_back(&seen);
    }
}

//! The ways to get a task.

use ff_core::command::claim::{Claim, ClaimForWorker, LaneOrder, RedeemGrant, Want};
use ff_core::time::Duration;

use super::Worker;
use crate::world::actor::{call, call_once};
use crate::world::board::{KnownGrant, Phase};
use crate::world::names;

/// Answers to claims that a worker does not hear: one in this many.
const OVERHEARD_ONE_IN: u64 = 16;

impl Worker {
    pub(super) async fn claim(&mut self) {
        if self.actor.luck.one_in(3) {
            self.claim_by_grant().await;
        } else {
            let wait = self.actor.luck.choose([0, 0, 500, 5_000]);
            self.claim_plainly(Duration::from_millis(wait)).await;
        }
    }

    /// Both steps in one.
    pub(super) async fn claim_plainly(&mut self, wait: Duration) {
        let command = Claim {
            namespace: self.namespace.clone(),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            incarnation: self.actor.luck.flip().then_some(self.incarnation),
            want: self.want(),
            wait,
        };
        let tasks = call!(self.actor, claim, command).await.told().unwrap_or_default();
        if self.actor.board.phase() == Phase::Storm && self.actor.luck.one_in(OVERHEARD_ONE_IN) {
            // It was told, and does not know: the tasks are nobody's until their first leases end.
            return;
        }
        for task in tasks {
            self.take(&task);
        }
    }

    pub(super) fn want(&self) -> Want {
        let luck = &self.actor.luck;
        Want {
            lanes: names::LANES.map(names::lane).into(),
            lane_order: luck.choose([LaneOrder::RoundRobin, LaneOrder::Strict]),
            capabilities: self.capabilities.clone(),
            max: luck.index(3) + 1,
            lease_ttl: self.lease_ttl(),
        }
    }

    fn lease_ttl(&self) -> Option<Duration> {
        match self.actor.luck.below(4) {
            0 => None,
            1 => Some(Duration::from_secs(1)),
            _ => Some(Duration::from_secs(self.actor.luck.between(3, 15))),
        }
    }

    /// A grant first, a lease later, or never: then the grant lapses.
    async fn claim_by_grant(&mut self) {
        let luck = self.actor.luck.clone();
        let command = ClaimForWorker {
            namespace: self.namespace.clone(),
            lane: names::some_lane(&luck),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            capabilities: self.capabilities.clone(),
            grant_ttl: luck.flip().then(|| Duration::from_millis(luck.between(100, 8_000))),
        };
        let Some(Some(issued)) = call!(self.actor, claim_for_worker, command).await.told() else {
            return;
        };
        self.actor.board.known().grants.push(KnownGrant {
            grant: issued.grant.clone(),
            worker: self.worker.clone(),
            instance: self.instance.clone(),
        });
        if luck.one_in(5) {
            return;
        }
        if luck.one_in(3) {
            self.actor.pause(0, 6_000).await;
        }
        let redeem = RedeemGrant {
            grant: issued.grant,
            worker: self.worker.clone(),
            instance: self.instance.clone(),
            lease_ttl: self.lease_ttl(),
        };
        if let Some(task) = call_once!(self.actor, claim_from_grant, redeem).await.told() {
            self.take(&task);
        }
    }
}

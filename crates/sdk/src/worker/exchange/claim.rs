//! New tasks, and their start.

use std::sync::Arc;
use std::time::Duration;

use ff_core::command::claim::{Exchanged, IssuedGrant, LaneOrder, RedeemGrant, Task, Want};
use ff_core::command::worker::RegisterWorker;
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::limits::BATCH_ITEMS_MAX;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::super::attempt;
use super::super::clock::left;
use super::held::Held;
use super::{Done, Loop, Parked, TookOrNot, in_time};
use crate::duration::millis;

/// How long a call for tasks waits for the first one.
const WAIT: Duration = Duration::from_secs(20);
/// How long it may take besides.
const WAIT_PATIENCE: Duration = Duration::from_secs(35);

impl Loop {
    /// Announces this process; nothing is claimed before.
    pub(super) async fn register(&mut self) -> Result<()> {
        loop {
            let (fabric, registration) = (Arc::clone(&self.shared.fabric), self.registration());
            match in_time(WAIT_PATIENCE, fabric.register_worker(registration)).await {
                Ok(_) => {
                    self.connection.works();
                    self.claim_backoff.reset();
                    #[cfg(feature = "client")]
                    if self.shared.client.has_virtual_clock().await {
                        self.shared.clock.stand_still();
                    }
                    return Ok(());
                }
                Err(refusal) if refusal.code.retryable() => self.connection.broke(&refusal),
                Err(refusal) => return Err(refusal),
            }
            let pause = self.claim_backoff.pause();
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // Nothing has begun, so that there is nothing to end.
                Some(order) = self.orders.recv() => {
                    self.obey(order);
                    if self.draining.is_some() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn registration(&self) -> RegisterWorker {
        let (shared, load) = (&self.shared, self.exchange().load);
        RegisterWorker {
            namespace: shared.identity.namespace.clone(),
            worker: shared.identity.worker.clone(),
            instance: shared.identity.instance.clone(),
            incarnation: shared.identity.incarnation,
            lanes: shared.lanes.clone(),
            capabilities: shared.capabilities.clone(),
            ttl: None,
            load,
        }
    }

    /// Tasks whose handlers run.
    pub(super) fn running(&self) -> usize {
        self.held.len() - self.waiting.len()
    }

    fn has_room(&self) -> bool {
        self.running() + self.taking < self.shared.concurrency
    }

    /// Parks a call for as many tasks as there is room for.
    pub(super) fn claim_what_fits(&mut self) {
        let is_too_early = self.claim_not_before.is_some();
        let room = self.shared.concurrency + self.shared.prefetch;
        let free = room.saturating_sub(self.held.len() + self.taking);
        if self.claiming.is_none() && self.draining.is_none() && !is_too_early && free > 0 {
            self.claiming = Some(self.park(free.min(BATCH_ITEMS_MAX)));
        }
    }

    /// A worker without room, or one that drains, parks a call all the same: that one is told at once what is to stop.
    pub(super) fn listen(&mut self) {
        let has_ears = self.claiming.is_some() || self.listening.is_some();
        if !has_ears && !self.held.is_empty() && self.claim_not_before.is_none() && self.refused.is_none() {
            self.listening = Some(self.park(0));
        }
    }

    /// A call that waits for at most so many tasks, and to be told of stops.
    fn park(&self, max: usize) -> Parked {
        let mut exchange = self.exchange();
        exchange.wait = millis(WAIT);
        exchange.want = Some(Want {
            lanes: self.shared.lanes.clone(),
            lane_order: LaneOrder::default(),
            capabilities: self.shared.capabilities.clone(),
            max,
            lease_ttl: self.shared.lease_ttl.map(millis),
        });
        let fabric = Arc::clone(&self.shared.fabric);
        Box::pin(async move { in_time(WAIT_PATIENCE, fabric.exchange(exchange)).await })
    }

    pub(super) fn claimed(&mut self, answer: Result<Exchanged>) {
        match answer {
            Ok(exchanged) => {
                self.claim_backoff.reset();
                self.connection.works();
                self.shared.clock.heard(exchanged.server_time);
                self.told_to_stop(&exchanged.stops, exchanged.server_time);
                self.tell_of_drain(exchanged.drain.as_ref());
                for task in exchanged.tasks {
                    self.add(task);
                }
            }
            Err(refusal) if refusal.code.retryable() => {
                self.connection.broke(&refusal);
                self.claim_not_before = Some(Instant::now() + self.claim_backoff.pause());
            }
            Err(refusal) => self.give_up(refusal),
        }
    }

    /// The engine will not hand out anything to this worker: what runs may end, but there is no more.
    fn give_up(&mut self, refusal: Rejection) {
        tracing::error!(%refusal, "the engine hands out nothing to this worker; it ends when its tasks have");
        self.refused = Some(refusal);
        self.drain();
    }

    /// Keeps a new task, and starts it if there is room.
    fn add(&mut self, task: Task) {
        self.shared.clock.heard(task.now);
        self.last_number += 1;
        let number = self.last_number;
        let left = left(task.expires_at, task.now);
        self.held.insert(number, Held::new(task.execution_id, task.fence, left));
        self.waiting.push_back((number, task));
        self.start_what_waits();
    }

    /// Starts tasks while there is room.
    pub(super) fn start_what_waits(&mut self) {
        while self.running() < self.shared.concurrency {
            let Some((number, task)) = self.waiting.pop_front() else {
                return;
            };
            let Some(held) = self.held.get_mut(&number) else {
                continue;
            };
            if held.is_over {
                self.held.remove(&number);
                continue;
            }
            let run = attempt::run(self.shared.clone(), task, held.lease(number, self.to_loop.clone()));
            held.running = Some(self.runtime.spawn(run).abort_handle());
        }
    }

    /// Redeems a grant that somebody else asked for, if there is room.
    pub(super) fn take(&mut self, grant: IssuedGrant, answer: oneshot::Sender<Result<TookOrNot>>) {
        if self.draining.is_some() || !self.has_room() {
            let _ = answer.send(Ok(TookOrNot::AtCapacity));
            return;
        }
        self.taking += 1;
        let redeem = RedeemGrant {
            grant: grant.grant,
            worker: self.shared.identity.worker.clone(),
            instance: self.shared.identity.instance.clone(),
            lease_ttl: self.shared.lease_ttl.map(millis),
        };
        let fabric = Arc::clone(&self.shared.fabric);
        self.under_way.push(Box::pin(async move {
            let task = in_time(WAIT_PATIENCE, fabric.claim_from_grant(redeem))
                .await
                .map(Box::new);
            Done::Took(task, answer)
        }));
    }

    pub(super) fn took(&mut self, task: Result<Box<Task>>, answer: oneshot::Sender<Result<TookOrNot>>) {
        self.taking -= 1;
        let answered = task.map(|task| {
            self.add(*task);
            TookOrNot::Took
        });
        let _ = answer.send(answered);
    }
}

//! Serving a desk: rounds while there is something, and the bell while there is not.

use std::sync::Arc;

use ff_core::fabric::Result;
use ff_core::machine::claim::HandOut;
use ff_core::name::{LaneId, Namespace};
use ff_core::time::Timestamp;
use futures::future::{join_all, try_join_all};

use super::cycle::{Cycle, End, Ended, Handed, Sought};
use super::desk::{DeskKey, Next, Round, Served};
use super::desks::Desks;
use super::table::Table;
use crate::engine::Engine;
use ff_core::caller::Caller;

/// Somebody serves a desk. If they go away otherwise than by the desk's own word, it is told.
struct Attendance<'d> {
    desks: &'d Desks,
    desk: Option<Arc<DeskKey>>,
    in_round: bool,
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if let Some(desk) = self.desk.take() {
            self.desks.abandon(&desk, self.in_round);
        }
    }
}

impl Engine {
    /// Sends somebody to serve a desk.
    pub(super) fn staff_desk(&self, desk: Arc<DeskKey>) {
        // Everybody at the desk is served together, by whoever acts for none of them.
        let engine = self.acting_as(Caller::engine());
        self.host().spawn(Box::pin(engine.serve_desk(desk)));
    }

    /// Serves a desk until nobody stands at it. Runs beside its callers, so that one who goes away takes nobody with it.
    async fn serve_desk(self, key: Arc<DeskKey>) {
        let desks = &self.shared.desks;
        let mut attendance = Attendance {
            desks,
            desk: Some(Arc::clone(&key)),
            in_round: false,
        };
        loop {
            match desks.next(&key, self.host().elapsed()) {
                Next::Round(round) => {
                    attendance.in_round = true;
                    if round.understaffed {
                        self.staff_desk(Arc::clone(&key));
                    }
                    let served = self.serve_round(&key, round).await;
                    desks.finish_round(&key, served, self.host().elapsed());
                    attendance.in_round = false;
                }
                Next::Park(bell) => bell.heard().await,
                Next::Leave => {
                    attendance.desk = None;
                    return;
                }
            }
        }
    }

    async fn serve_round(&self, key: &DeskKey, round: Round) -> Served {
        let Round {
            asks,
            bell,
            rung,
            turn,
            free,
            understaffed: _,
        } = round;
        let mut table = Table::new(asks);
        let Ended { end, left_aside, free } = match self.begin_cycle(key, turn, free).await {
            Ok((cycle, now)) => self.deal_out(cycle, &mut table, now).await,
            Err(fault) => Ended::by_fault(fault),
        };
        self.shared.causes.tell_when_moved(&left_aside, &bell);
        Served { table, rung, end, free }
    }

    async fn begin_cycle(&self, key: &DeskKey, turn: usize, free: bool) -> Result<(Cycle<'_>, Timestamp)> {
        let sought = Sought {
            namespace: key.namespace.clone(),
            lanes: self
                .lanes_that_hand_out(&key.namespace, key.lanes_of_turn(turn))
                .await?,
            capabilities: key.capabilities.clone(),
            mode: HandOut::Lease,
        };
        Ok((Cycle::new(self, sought, free), self.store_time().await?))
    }

    /// Reserves until everybody has enough or nothing comes, then puts the tasks on the table.
    async fn deal_out(&self, mut cycle: Cycle<'_>, table: &mut Table, now: Timestamp) -> Ended {
        let mut taken: Vec<(usize, Handed)> = Vec::new();
        while cycle.goes_on() {
            let claimants = table.deal(cycle.appetite(), self, now);
            if claimants.is_empty() {
                break;
            }
            for handed in cycle.next(claimants).await {
                if let Some(place) = table.take(handed.grant_id) {
                    taken.push((place, handed));
                }
            }
        }
        let mut ended = cycle.finish();
        let tasks = taken
            .into_iter()
            .map(|(place, handed)| async move { (place, self.assemble_task(handed).await) });
        for (place, task) in join_all(tasks).await {
            match task {
                Ok(task) => table.serve(place, task),
                Err(fault) => {
                    // Without its inputs or signals it must not run: its short first lease ends, and it comes back. Whoever
                    // it was for is told, because another round would only lease and lose the next one.
                    tracing::warn!(%fault, "a leased execution could not be handed over whole");
                    ended.end = End::Fault(fault);
                }
            }
        }
        ended
    }

    /// Those of the lanes that hand out, in the same order.
    pub(super) async fn lanes_that_hand_out(&self, namespace: &Namespace, lanes: Vec<LaneId>) -> Result<Vec<LaneId>> {
        let states = try_join_all(lanes.iter().map(|lane| self.lane_state(namespace, lane))).await?;
        let open = lanes.into_iter().zip(states).filter(|(_, state)| state.hands_out());
        Ok(open.map(|(lane, _)| lane).collect())
    }
}

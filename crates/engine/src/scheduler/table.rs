//! What a round deals out, and to whom.

use std::collections::BTreeMap;

use ff_core::command::claim::Task;
use ff_core::id::{AttemptId, GrantId, LeaseId};
use ff_core::limits::GRANT_TTL_DEFAULT;
use ff_core::machine::claim::Claimant;
use ff_core::time::{Duration, Timestamp};

use super::ask::{Ask, Asker};
use crate::engine::Engine;
use crate::mint;

/// Tasks handed out in one round.
const TASKS_PER_ROUND: usize = 256;

/// The claims of a round with what each of them gets. Everybody gets one before anybody gets two.
pub(super) struct Table {
    seats: Vec<Seat>,
    /// Whose reservation is whose.
    dealt: BTreeMap<GrantId, usize>,
}

struct Seat {
    ask: Ask,
    /// Executions that are its own already; their tasks follow.
    taken: usize,
    tasks: Vec<Task>,
}

impl Table {
    /// Sits everybody down, with nothing.
    pub(super) fn new(asks: Vec<Ask>) -> Self {
        let seat = |ask| Seat {
            ask,
            taken: 0,
            tasks: Vec::new(),
        };
        Self {
            seats: asks.into_iter().map(seat).collect(),
            dealt: BTreeMap::new(),
        }
    }

    /// Claimants for the next reservation, at most `limit`.
    pub(super) fn deal(&mut self, limit: usize, engine: &Engine, now: Timestamp) -> Vec<Claimant> {
        let taken: usize = self.seats.iter().map(|seat| seat.taken).sum();
        let limit = limit.min(TASKS_PER_ROUND.saturating_sub(taken));
        let most = self.seats.iter().map(|seat| seat.ask.asker.max).max().unwrap_or(0);
        let mut claimants = Vec::new();
        self.dealt.clear();
        for share in 0..most {
            for (place, seat) in self.seats.iter().enumerate() {
                if claimants.len() == limit {
                    return claimants;
                }
                if (seat.taken..seat.ask.asker.max).contains(&share) {
                    let claimant = claimant(&seat.ask.asker, engine, now);
                    self.dealt.insert(claimant.grant_id, place);
                    claimants.push(claimant);
                }
            }
        }
        claimants
    }

    /// The reservation under `grant_id` became its claimant's; whose it is.
    pub(super) fn take(&mut self, grant_id: GrantId) -> Option<usize> {
        let place = self.dealt.remove(&grant_id)?;
        self.seats.get_mut(place)?.taken += 1;
        Some(place)
    }

    /// Puts a task in front of whoever it is for.
    pub(super) fn serve(&mut self, place: usize, task: Task) {
        if let Some(seat) = self.seats.get_mut(place) {
            seat.tasks.push(task);
        }
    }

    /// Everybody with what they got, in the order they stood in line.
    pub(super) fn into_served(self) -> impl DoubleEndedIterator<Item = (Ask, Vec<Task>)> {
        self.seats.into_iter().map(|seat| (seat.ask, seat.tasks))
    }
}

/// A claimant with ids nobody has used before.
fn claimant(asker: &Asker, engine: &Engine, now: Timestamp) -> Claimant {
    fresh_claimant(asker, GRANT_TTL_DEFAULT, engine, now)
}

/// The same with a grant that lasts `grant_ttl`.
pub(super) fn fresh_claimant(asker: &Asker, grant_ttl: Duration, engine: &Engine, now: Timestamp) -> Claimant {
    Claimant {
        worker: asker.worker.clone(),
        instance: asker.instance.clone(),
        grant_id: GrantId::from_uuid(mint::secret(engine.host())),
        lease_id: LeaseId::from_uuid(mint::secret(engine.host())),
        attempt_id: AttemptId::from_uuid(engine.mint(now)),
        lease_ttl: asker.lease_ttl,
        grant_ttl,
    }
}

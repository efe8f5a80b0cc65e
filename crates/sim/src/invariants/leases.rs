//! At most one worker has an execution, and one that nobody ever knew to have costs it nothing.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::{ExecutionId, GrantId, LeaseId};
use ff_core::name::WorkerInstanceId;
use ff_core::record::{Execution, Lease, LeaseEnd, Phase};
use ff_core::time::Timestamp;
use uuid::Uuid;

use super::mirror::{Changes, Mirror, Transition};
use super::{Holds, hold};

/// Every lease that was ever taken, with all that became of it. A failover does not shorten it.
#[derive(Default)]
pub(crate) struct LeaseLog {
    leases: BTreeMap<(ExecutionId, Uuid), LeaseSeen>,
    redeemed: BTreeSet<GrantId>,
}

/// What is known about one lease.
pub(crate) struct LeaseSeen {
    pub(crate) epoch: u64,
    pub(crate) instance: WorkerInstanceId,
    /// The moments it was ever to end at.
    pub(crate) expiries: BTreeSet<Timestamp>,
    /// What ended it: once, unless a failover brought it back.
    pub(crate) ends: Vec<LeaseEnd>,
    /// A failover made the store forget that it was taken. Whoever was told of it was told the truth; and whoever asked for
    /// it and was not told may take it once more.
    forgotten: bool,
}

impl LeaseLog {
    /// What is known about a lease.
    pub(crate) fn get(&self, execution_id: ExecutionId, lease_id: LeaseId) -> Option<&LeaseSeen> {
        self.leases.get(&(execution_id, lease_id.expose()))
    }

    /// A failover put the store back to `mirror`: what is a grant again can be redeemed again, and a lease the store forgot
    /// can be taken again.
    pub(crate) fn go_back(&mut self, mirror: &Mirror) {
        for ((id, _), seen) in &mut self.leases {
            let epoch = mirror.executions.get(id).map_or(0, |execution| execution.lease_epoch);
            seen.forgotten |= seen.epoch > epoch;
        }
        let granted = mirror.executions.values().filter_map(|execution| execution.grant());
        for grant in granted {
            self.redeemed.remove(&grant.id);
        }
    }

    /// Takes over what a transaction did to leases.
    pub(crate) fn observe(&mut self, changes: &Changes) -> Holds {
        for transition in &changes.executions {
            if let Some(after) = transition.after.as_deref() {
                epochs_only_grow(transition, after)?;
                if let Some(before) = transition.before.as_deref() {
                    unused_leases_take_no_time(before, after)?;
                }
                self.observe_lease(transition.before.as_deref(), after, changes.at)?;
            }
        }
        Ok(())
    }

    fn observe_lease(&mut self, before: Option<&Execution>, after: &Execution, at: Timestamp) -> Holds {
        let held = before.and_then(Execution::lease);
        let holds = after.lease();
        if let Some(lease) = holds {
            match held.filter(|held| held.id == lease.id) {
                Some(_) => self.note_expiry(after.id, lease),
                None => self.take(before, after, lease, at)?,
            }
        }
        if let (Some(held), Some(ended)) = (held, &after.ended_lease)
            && holds.is_none()
            && ended.digest.matches(held.id)
            && let Some(seen) = self.leases.get_mut(&(after.id, held.id.expose()))
        {
            seen.ends.push(ended.end.clone());
        }
        Ok(())
    }

    fn take(&mut self, before: Option<&Execution>, after: &Execution, lease: &Lease, at: Timestamp) -> Holds {
        let id = after.id;
        if let Some(Phase::Active(held)) = before.map(|before| &before.phase) {
            let over = held.is_expired() || held.expires_at.has_come(at);
            hold(over, "at most one live lease per execution", || {
                format!(
                    "{id}: epoch {} was taken while epoch {} was live",
                    lease.epoch, held.epoch
                )
            })?;
        }
        let epoch_before = before.map_or(0, |before| before.lease_epoch);
        hold(
            lease.epoch > epoch_before && lease.epoch == after.lease_epoch,
            "every acquire raises the epoch",
            || {
                format!(
                    "{id}: a lease of epoch {} was taken after epoch {epoch_before}",
                    lease.epoch
                )
            },
        )?;
        if let Some(grant) = lease.grant {
            hold(self.redeemed.insert(grant), "a grant is consumed once", || {
                format!("{id}: {grant:?} gave a second lease, of epoch {}", lease.epoch)
            })?;
        }
        let seen = self.leases.entry((id, lease.id.expose())).or_insert_with(|| LeaseSeen {
            epoch: lease.epoch,
            instance: lease.instance.clone(),
            expiries: BTreeSet::new(),
            ends: Vec::new(),
            forgotten: true,
        });
        seen.expiries.insert(lease.expires_at);
        hold(
            std::mem::take(&mut seen.forgotten) && seen.epoch == lease.epoch,
            "a lease is taken once",
            || format!("{id}: epoch {} was taken again", lease.epoch),
        )
    }

    fn note_expiry(&mut self, id: ExecutionId, lease: &Lease) {
        if let Some(seen) = self.leases.get_mut(&(id, lease.id.expose())) {
            seen.expiries.insert(lease.expires_at);
        }
    }
}

fn epochs_only_grow(transition: &Transition<Execution>, after: &Execution) -> Holds {
    let before = transition.before.as_ref().map_or(0, |before| before.lease_epoch);
    hold(after.lease_epoch >= before, "epochs only grow", || {
        format!("{}: epoch {} after epoch {before}", after.id, after.lease_epoch)
    })
}

/// A lease under which nobody ever called: whoever was to have it was not told, perhaps. Its attempt has not run meanwhile.
fn unused_leases_take_no_time(before: &Execution, after: &Execution) -> Holds {
    let unused = before.lease().filter(|lease| !lease.confirmed);
    let ended = after.ended_lease.as_ref();
    let Some((held, ended)) = unused
        .zip(ended)
        .filter(|(held, ended)| ended.digest.matches(held.id) && ended.end.operation().is_none())
    else {
        return Ok(());
    };
    let id = after.id;
    hold(
        ended.end != LeaseEnd::TimedOut,
        "an attempt nobody ran does not time out",
        || {
            let epoch = held.epoch;
            format!("{id}: the attempt timed out under epoch {epoch}, which nobody used")
        },
    )?;
    let leased = |execution: &Execution| {
        let attempt = execution.attempt.as_ref().filter(|attempt| attempt.end.is_none())?;
        Some((attempt.id, attempt.leased))
    };
    match (leased(before), leased(after)) {
        (Some((attempt, was)), Some((goes_on, is))) if attempt == goes_on => {
            hold(was == is, "a lease nobody used takes no time from its attempt", || {
                let epoch = held.epoch;
                format!("{id}: epoch {epoch} took the attempt from {was} to {is}, and nobody used it")
            })
        }
        _ => Ok(()),
    }
}

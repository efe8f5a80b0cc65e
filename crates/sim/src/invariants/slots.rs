//! Quota slots: a live grant or lease holds its own, and nobody else holds one for long.

use std::collections::BTreeSet;

use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::{AccountKey, LedgerAnswer, LedgerCall};
use ff_core::machine::quota::holds_slot;
use ff_core::record::{EffectKind, Execution};

use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// A slot: of which policy, taken under which grant.
pub(crate) type SlotKey = (QuotaPolicyId, GrantId);

/// Takes over what an account answered.
pub(crate) fn observe(mirror: &mut Mirror, call: &LedgerCall, answer: &LedgerAnswer) {
    match (call, answer) {
        (LedgerCall::Take(take), LedgerAnswer::Taken { again: false, .. }) => {
            let policy = quota_of(take.path.first().map(|(account, _)| *account));
            mirror.slots.extend(policy.map(|id| ((id, take.grant), take.holder)));
        }
        (LedgerCall::Give(give), LedgerAnswer::Given) => {
            let policy = quota_of(give.path.first().copied());
            policy.map(|id| mirror.slots.remove(&(id, give.grant)));
        }
        (LedgerCall::Amend(amend), LedgerAnswer::Amended { .. }) if amend.listed == Some(None) => {
            mirror.deleted_policies.extend(quota_of(Some(amend.account)));
        }
        _ => {}
    }
}

fn quota_of(account: Option<AccountKey>) -> Option<QuotaPolicyId> {
    match account? {
        AccountKey::Quota(id) => Some(id),
        AccountKey::Budget(_) => None,
    }
}

/// Whoever was admitted in a transaction holds a slot. `lost`: slots that a failover forgot.
pub(crate) fn check(mirror: &Mirror, changes: &Changes, lost: &BTreeSet<SlotKey>) -> Holds {
    let written = changes
        .executions
        .iter()
        .filter_map(|transition| transition.after.as_deref());
    written
        .into_iter()
        .try_for_each(|execution| has_its_slot(mirror, execution, lost))
}

/// The same for everybody.
pub(crate) fn check_all(mirror: &Mirror, lost: &BTreeSet<SlotKey>) -> Holds {
    mirror
        .executions
        .values()
        .try_for_each(|execution| has_its_slot(mirror, execution, lost))
}

fn has_its_slot(mirror: &Mirror, execution: &Execution, lost: &BTreeSet<SlotKey>) -> Holds {
    let Some(policy) = execution.definition.policy.quota_policy_id else {
        return Ok(());
    };
    if mirror.deleted_policies.contains(&policy) {
        return Ok(());
    }
    // An expired lease only waits to be taken away; whoever took it may have given its slot back.
    let leased = execution.lease().filter(|lease| !lease.is_expired());
    let leased = leased.map(|lease| lease.grant);
    let granted = execution
        .grant()
        .filter(|grant| grant.admitted)
        .map(|grant| Some(grant.id));
    let Some(grant) = leased.or(granted) else { return Ok(()) };
    let held =
        grant.is_some_and(|grant| mirror.slots.contains_key(&(policy, grant)) || lost.contains(&(policy, grant)));
    hold(held, "whoever was admitted holds a quota slot", || {
        format!(
            "{} runs under {grant:?} of quota policy {policy} without a slot",
            execution.id
        )
    })
}

/// Slots that a failover from `before` to `after` makes whoever is admitted do without: the quota forgot them, or a lease that is
/// live again had ended, and its release is on its way.
pub(crate) fn lost<'m>(before: &'m Mirror, after: &'m Mirror) -> impl Iterator<Item = SlotKey> + 'm {
    let forgotten = before
        .slots
        .keys()
        .filter(|key| !after.slots.contains_key(key))
        .copied();
    let ended = |(key, execution_id): (&SlotKey, &ExecutionId)| {
        let execution = before.executions.get(execution_id);
        let held = execution.is_some_and(|execution| holds_slot(execution, key.1));
        (!held).then_some(*key)
    };
    forgotten.chain(after.slots.iter().filter_map(ended))
}

/// Every slot belongs to a live grant or lease, or its release stands in an outbox. True once nobody is being admitted.
pub(crate) fn none_is_forgotten(mirror: &Mirror) -> Holds {
    for ((policy, grant), execution_id) in &mirror.slots {
        let execution = mirror.executions.get(execution_id);
        let accounted = execution.is_some_and(|execution| holds_slot(execution, *grant) || releases(execution, *grant));
        hold(accounted, "no quota slot is forgotten", || {
            let phase = execution.map(|execution| &execution.phase);
            format!("{grant:?} holds a slot of quota policy {policy} for {execution_id}, which is {phase:?}")
        })?;
    }
    Ok(())
}

/// Whoever let a slot go in a transaction owes its release from there on: otherwise only a check of old slots would find it.
pub(crate) fn what_is_let_go_is_owed(mirror: &Mirror, changes: &Changes) -> Holds {
    for transition in &changes.executions {
        let Some((key, before)) = transition.before.as_deref().and_then(slot_of) else {
            continue;
        };
        let after = transition.after.as_deref();
        let accounted = after.is_some_and(|after| holds_slot(after, key.1) || releases(after, key.1));
        hold(
            accounted || !mirror.slots.contains_key(&key),
            "whoever lets a quota slot go owes its release",
            || {
                let (id, phase) = (before.id, after.map(|after| &after.phase));
                format!("{id} let the slot of {:?} go, owes nothing and is {phase:?}", key.1)
            },
        )?;
    }
    Ok(())
}

/// The slot an execution holds, or may hold, with the execution.
fn slot_of(execution: &Execution) -> Option<(SlotKey, &Execution)> {
    let policy = execution.definition.policy.quota_policy_id?;
    let leased = execution.lease().and_then(|lease| lease.grant);
    let grant = leased.or(execution.grant().map(|grant| grant.id))?;
    Some(((policy, grant), execution))
}

fn releases(execution: &Execution, grant: GrantId) -> bool {
    let is_release = |kind: &EffectKind| matches!(kind, EffectKind::ReleaseSlot { grant_id, .. } if *grant_id == grant);
    execution.outbox.iter().any(|effect| is_release(&effect.kind))
}

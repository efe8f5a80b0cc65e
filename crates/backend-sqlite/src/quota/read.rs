//! Questions about quota policies; nothing changes by them.

use ff_backend::quota::{QuotaAnswer as Answer, QuotaCall as Call};
use ff_core::command::quota::QuotaPolicyView;
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::limits::{GRANT_TTL_MAX, PAGE_MAX};
use ff_core::machine::quota;
use ff_core::name::Namespace;
use ff_core::record::Slot;
use ff_core::time::Timestamp;
use rusqlite::{Connection, Row};

use super::ledger::{Ledger, over_since};
use super::{Answered, bare};
use crate::error::corrupt;

/// Whether a call changes nothing.
pub(super) fn only_reads(call: &Call) -> bool {
    matches!(
        call,
        Call::Get(_) | Call::Headroom(_) | Call::SlotsToCheck { .. } | Call::List { .. }
    )
}

/// What a call reads; `None`: it changes something.
pub(super) fn answer(connection: &Connection, call: &Call, now: Timestamp) -> Option<Answered> {
    match call {
        Call::Get(id) => Some(get(connection, *id, now)),
        Call::Headroom(id) => Some(headroom(connection, *id, now)),
        Call::SlotsToCheck {
            quota_policy_id,
            after,
            limit,
        } => Some(slots_to_check(
            connection,
            *quota_policy_id,
            &Asked {
                after: *after,
                limit: *limit,
                now,
            },
        )),
        Call::List {
            namespace,
            after,
            limit,
        } => Some(list(
            connection,
            namespace,
            &Asked {
                after: *after,
                limit: *limit,
                now,
            },
        )),
        _ => None,
    }
}

/// Which page of a list.
pub(super) struct Asked<I> {
    pub(super) after: Option<I>,
    pub(super) limit: usize,
    pub(super) now: Timestamp,
}

impl<I: std::fmt::Display> Asked<I> {
    /// Before every id when there is none to go on after.
    fn after(&self) -> String {
        self.after.as_ref().map_or_else(String::new, ToString::to_string)
    }

    fn limit(&self) -> usize {
        self.limit.clamp(1, PAGE_MAX)
    }
}

/// [`quota::view`].
pub(super) fn get(connection: &Connection, id: QuotaPolicyId, now: Timestamp) -> Answered {
    let Some(ledger) = Ledger::load(connection, id)? else {
        return Ok(Err(quota::not_found(id)));
    };
    Ok(Ok(Answer::Policy(Box::new(view(connection, &ledger, now)?))))
}

/// [`quota::headroom`].
pub(super) fn headroom(connection: &Connection, id: QuotaPolicyId, now: Timestamp) -> Answered {
    let Some(ledger) = Ledger::load(connection, id)? else {
        return Ok(Err(quota::not_found(id)));
    };
    let places = ledger.places(connection, now)?;
    Ok(Ok(Answer::Headroom(quota::headroom_beside(
        &ledger.policy,
        ledger.slots,
        places,
    ))))
}

fn view(connection: &Connection, ledger: &Ledger, now: Timestamp) -> rusqlite::Result<QuotaPolicyView> {
    Ok(QuotaPolicyView {
        in_use: ledger.slots,
        requests_in_window: ledger.places(connection, now)?,
        ..quota::view(&bare(ledger), now)
    })
}

/// [`quota::slots_to_check`]. The slots of a deleted policy are left over and belong to nobody.
pub(super) fn slots_to_check(connection: &Connection, id: QuotaPolicyId, asked: &Asked<GrantId>) -> Answered {
    let Some(ledger) = Ledger::load(connection, id)? else {
        return Ok(Err(quota::not_found(id)));
    };
    if ledger.slots == 0 {
        return Ok(Ok(Answer::Slots(Vec::new())));
    }
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_old_slots.sql"))?;
    let params = (
        ledger.id(),
        asked.after(),
        over_since(GRANT_TTL_MAX, asked.now),
        asked.limit(),
    );
    let slots = statement.query_map(params, held)?.collect::<rusqlite::Result<_>>()?;
    Ok(Ok(Answer::Slots(slots)))
}

fn held(row: &Row<'_>) -> rusqlite::Result<(GrantId, Slot)> {
    let slot = Slot {
        execution_id: row.get_ref(1)?.as_str()?.parse().map_err(corrupt)?,
        taken_at: Timestamp::from_millis(row.get(2)?),
    };
    Ok((row.get_ref(0)?.as_str()?.parse().map_err(corrupt)?, slot))
}

/// Policies of a namespace, page by page.
pub(super) fn list(connection: &Connection, namespace: &Namespace, asked: &Asked<QuotaPolicyId>) -> Answered {
    let limit = asked.limit();
    let mut statement = connection.prepare_cached(include_str!("../../sql/list_quota_policies.sql"))?;
    let rows = statement.query_map((namespace.as_str(), asked.after(), limit + 1), Ledger::of_row)?;
    let mut ledgers = rows.collect::<rusqlite::Result<Vec<Ledger>>>()?;
    let more = ledgers.len() > limit;
    ledgers.truncate(limit);
    let views = ledgers.iter().map(|ledger| view(connection, ledger, asked.now));
    let policies = views.collect::<rusqlite::Result<Vec<QuotaPolicyView>>>()?;
    let next = policies.last().map(|last| last.quota_policy_id).filter(|_| more);
    Ok(Ok(Answer::Page { policies, next }))
}

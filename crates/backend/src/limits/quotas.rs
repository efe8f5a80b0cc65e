//! Quota policies: the functions of [`ff_core::machine::quota`], each over an account.

use std::sync::Arc;

use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::quota::{CreateQuotaPolicy, QuotaCreated, QuotaPolicyView, UpdateQuotaPolicy};
use ff_core::id::{GrantId, QuotaPolicyId};
use ff_core::ledger::{AccountKey, AccountKind, AccountView, Give, Hold, LedgerAnswer, LedgerCall, ReadHolds};
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::machine::admission::{Headroom, Release};
use ff_core::machine::quota::{self, Admit, QuotaAdmission, SlotReleased, account};
use ff_core::name::Namespace;
use ff_core::record::QuotaPolicy;
use ff_core::time::Timestamp;
use futures::future::try_join_all;

use super::accounts::{Accounts, Failed, amend, ask_one, listed, not_found, read, unexpected};
use super::definitions::Definition;
use crate::ledger::LedgerReply;
use crate::query::Cursor;
use crate::tries::Tries;

/// What came of a call.
type Result<T> = std::result::Result<T, Failed>;

/// A policy and the account it was read from.
struct Looked {
    now: Timestamp,
    view: AccountView,
    policy: QuotaPolicy,
}

/// Creates a policy, once.
pub async fn create(
    accounts: &(impl Accounts + ?Sized),
    id: QuotaPolicyId,
    command: &CreateQuotaPolicy,
) -> Result<QuotaCreated> {
    let mut tries = Tries::default();
    loop {
        let found = read(accounts, super::accounts::bare(key(id))).await?;
        let (now, found) = (found.0, found.1.map(|view| account::policy(&view)).transpose()?);
        let is_new = found.is_none();
        let mut slot = found;
        let created = quota::create(&mut slot, id, command, now)?;
        match slot.filter(|_| is_new) {
            Some(new) if !amend(accounts, &mut tries, (None, account::create(key(id), &new)?)).await? => {}
            _ => return Ok(created),
        }
    }
}

/// A policy as it stands, deleted or not; `None`: there never was one, or the store has lost it.
pub async fn find(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Option<QuotaPolicyView>> {
    let looked = look(accounts, id).await?;
    Ok(looked.map(|looked| account::shown(&looked.view, &looked.policy)))
}

/// Policies of a namespace that were not deleted, by id.
pub async fn list(
    accounts: &(impl Accounts + ?Sized),
    namespace: Namespace,
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<QuotaPolicyView>, Option<Cursor>)> {
    let (keys, next) = listed(accounts, (AccountKind::Quota, namespace), after, limit).await?;
    let ids = keys.into_iter().filter_map(|key| match key {
        AccountKey::Quota(id) => Some(id),
        AccountKey::Budget(_) => None,
    });
    let found = try_join_all(ids.map(|id| find(accounts, id))).await?;
    Ok((found.into_iter().flatten().collect(), next))
}

/// Changes limits.
pub async fn update(
    accounts: &(impl Accounts + ?Sized),
    id: QuotaPolicyId,
    command: &UpdateQuotaPolicy,
) -> Result<Updated> {
    redefine(accounts, id, |policy, now| quota::update(policy, command, now)).await
}

/// Deletes a policy: it limits nothing any more.
pub async fn delete(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Deleted> {
    redefine(accounts, id, |policy, now| Ok(quota::delete(policy, now))).await
}

/// Asks for a slot, and for a place if the attempt has none. One call, unless the policy was changed since this process last
/// heard of it.
pub async fn admit(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId, ask: &Admit) -> Result<QuotaAdmission> {
    let mut tries = Tries::default();
    loop {
        let Some((revision, policy)) = known(accounts, id).await? else {
            return Err(not_found(key(id)));
        };
        if policy.deleted_at.is_some() {
            return Ok(QuotaAdmission::Unlimited);
        }
        let take = account::take(key(id), revision, &policy, ask);
        let LedgerReply { now, answer, .. } = ask_one(accounts, LedgerCall::Take(take)).await?;
        if let Some(admission) = account::judged(&policy, ask, &answer, now) {
            return Ok(admission);
        }
        match answer {
            LedgerAnswer::OtherRevision(view) => drop(accounts.definitions().learn(&view)?),
            LedgerAnswer::Absent(account) => accounts.definitions().forget(account),
            other => return Err(unexpected(&other)),
        }
        tries.again(accounts).await?;
    }
}

/// Gives a slot back.
pub async fn release(
    accounts: &(impl Accounts + ?Sized),
    id: QuotaPolicyId,
    grant_id: GrantId,
) -> Result<SlotReleased> {
    let give = Give {
        path: vec![key(id)],
        grant: grant_id,
        undo: false,
        back: Vec::new(),
    };
    match ask_one(accounts, LedgerCall::Give(give)).await?.answer {
        LedgerAnswer::Given => Ok(SlotReleased::Freed),
        LedgerAnswer::Unknown => Ok(SlotReleased::Unknown),
        other => Err(unexpected(&other)),
    }
}

/// Slots so old that their grant must have become a lease, by grant; of a deleted policy too.
pub async fn old_slots(
    accounts: &(impl Accounts + ?Sized),
    id: QuotaPolicyId,
    after: Option<GrantId>,
    limit: usize,
) -> Result<Vec<Hold>> {
    let ask = ReadHolds {
        account: key(id),
        older_than: GRANT_TTL_MAX,
        after,
        limit,
    };
    match ask_one(accounts, LedgerCall::Holds(ask)).await?.answer {
        LedgerAnswer::Holds(holds) => Ok(holds),
        other => Err(unexpected(&other)),
    }
}

/// How many could be admitted now; `None`: there is no such policy.
pub async fn headroom(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Option<Headroom>> {
    let looked = look(accounts, id).await?;
    Ok(looked.map(|Looked { view, policy, .. }| account::headroom(&view, &policy)))
}

/// Begins a release if one is due.
pub async fn advance(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Option<Release>> {
    let mut tries = Tries::default();
    loop {
        let looked = look(accounts, id).await?;
        let Looked { now, view, policy } = looked.ok_or_else(|| not_found(key(id)))?;
        let (release, change) = account::advance(&view, &policy, now)?;
        if amend(accounts, &mut tries, (Some(&view), change)).await? {
            return Ok(release);
        }
    }
}

async fn redefine<T>(
    accounts: &(impl Accounts + ?Sized),
    id: QuotaPolicyId,
    rule: impl Fn(&mut QuotaPolicy, Timestamp) -> std::result::Result<T, ff_core::error::Rejection>,
) -> Result<T> {
    let mut tries = Tries::default();
    loop {
        let looked = look(accounts, id).await?;
        let Looked { now, view, policy } = looked.ok_or_else(|| not_found(key(id)))?;
        let mut changed = policy.clone();
        let outcome = rule(&mut changed, now)?;
        let is_same = changed == policy;
        if is_same
            || amend(
                accounts,
                &mut tries,
                (Some(&view), account::redefine(&view, &policy, &changed, now)?),
            )
            .await?
        {
            return Ok(outcome);
        }
    }
}

/// The policy with all its numbers; what to read of its log follows from its definition, so that is learned first.
async fn look(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Option<Looked>> {
    let mut tries = Tries::default();
    loop {
        let Some((revision, policy)) = known(accounts, id).await? else {
            return Ok(None);
        };
        let (now, view) = read(accounts, account::look(key(id), &policy)).await?;
        match view {
            None => accounts.definitions().forget(key(id)),
            Some(view) if view.head.revision == revision => {
                let policy = account::policy(&view)?;
                return Ok(Some(Looked { now, view, policy }));
            }
            Some(view) => drop(accounts.definitions().learn(&view)?),
        }
        tries.again(accounts).await?;
    }
}

async fn known(accounts: &(impl Accounts + ?Sized), id: QuotaPolicyId) -> Result<Option<(u64, Arc<QuotaPolicy>)>> {
    let known = accounts.definitions().of(accounts, key(id)).await?;
    Ok(known.and_then(|known| match known.definition {
        Definition::Quota(policy) => Some((known.revision, policy)),
        Definition::Budget(_) => None,
    }))
}

const fn key(id: QuotaPolicyId) -> AccountKey {
    AccountKey::Quota(id)
}

//! Budgets: the functions of [`ff_core::machine::budget`], each over an account.

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetView, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::id::BudgetId;
use ff_core::ledger::{AccountKey, AccountKind, AccountView, LedgerAnswer, LedgerCall, Read, ReadMeters};
use ff_core::machine::budget::{self, BudgetWork, UsageReport, account};
use ff_core::name::Namespace;
use ff_core::record::Budget;
use ff_core::time::Timestamp;
use futures::future::try_join_all;

use super::accounts::{Accounts, Failed, amend, listed, not_found, read, unexpected};
use super::definitions::Definition;
use crate::Error;
use crate::query::Cursor;
use crate::tries::Tries;

/// What came of a call.
type Result<T> = std::result::Result<T, Failed>;

/// Reports that were counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Charged {
    /// What each came to.
    pub reported: Vec<Reported>,
    /// How the budget stood right after them, if that was asked.
    pub stands: Option<BudgetView>,
}

/// Creates a budget, once.
pub async fn create(
    accounts: &(impl Accounts + ?Sized),
    id: BudgetId,
    command: &CreateBudget,
) -> Result<BudgetCreated> {
    let mut tries = Tries::default();
    loop {
        let (now, found) = look(accounts, id).await?;
        let mut slot = found.map(|(_, budget)| budget);
        let is_new = slot.is_none();
        let created = budget::create(&mut slot, id, command, now)?;
        let new = slot.filter(|_| is_new);
        match new {
            Some(budget) if !amend(accounts, &mut tries, (None, account::create(key(id), &budget)?)).await? => {}
            _ => return Ok(created),
        }
    }
}

/// A budget as it stands, deleted or not; `None`: there never was one, or the store has lost it.
pub async fn find(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<Option<BudgetView>> {
    let (now, found) = look(accounts, id).await?;
    Ok(found.map(|(_, found)| budget::view(&found, now)))
}

/// Budgets of a namespace that were not deleted, by id.
pub async fn list(
    accounts: &(impl Accounts + ?Sized),
    namespace: Namespace,
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<BudgetView>, Option<Cursor>)> {
    let (keys, next) = listed(accounts, (AccountKind::Budget, namespace), after, limit).await?;
    let ids = keys.into_iter().filter_map(|key| match key {
        AccountKey::Budget(id) => Some(id),
        AccountKey::Quota(_) => None,
    });
    let found = try_join_all(ids.map(|id| find(accounts, id))).await?;
    Ok((found.into_iter().flatten().collect(), next))
}

/// Changes limits.
pub async fn update(accounts: &(impl Accounts + ?Sized), id: BudgetId, command: &UpdateLimits) -> Result<Updated> {
    let rule = |budget: &mut Budget, now| budget::update_limits(budget, command, now);
    change(accounts, id, rule).await
}

/// Starts usage again from zero.
pub async fn reset(accounts: &(impl Accounts + ?Sized), id: BudgetId, command: &ResetBudget) -> Result<BudgetReset> {
    let mut tries = Tries::default();
    loop {
        let (now, view, before) = there(accounts, id).await?;
        let mut after = before.clone();
        let reset = budget::reset(&mut after, command, now)?;
        let is_reset = reset == BudgetReset::Now;
        if !is_reset
            || amend(
                accounts,
                &mut tries,
                (Some(&view), account::amend(&view, &before, &after, true)?),
            )
            .await?
        {
            return Ok(reset);
        }
    }
}

/// Deletes a budget: it limits nothing any more.
pub async fn delete(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<Deleted> {
    let rule = |budget: &mut Budget, now| Ok(budget::delete(budget, now));
    change(accounts, id, rule).await
}

/// Applies what is due, and says since when and what that means for others.
pub async fn advance(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<(Timestamp, BudgetWork)> {
    let rule = |budget: &mut Budget, now| Ok((now, budget::advance(budget, now)));
    change(accounts, id, rule).await
}

/// Everything that ran at `began_at` was asked to stop.
pub async fn stopped(accounts: &(impl Accounts + ?Sized), id: BudgetId, began_at: Timestamp) -> Result<()> {
    let rule = |budget: &mut Budget, _| {
        budget::stopped(budget, began_at);
        Ok(())
    };
    change(accounts, id, rule).await
}

/// Everybody was told that orders up to this generation no longer stand.
pub async fn withdrawn(accounts: &(impl Accounts + ?Sized), id: BudgetId, generation: u64) -> Result<()> {
    let rule = |budget: &mut Budget, _| {
        budget::withdrawn(budget, generation);
        Ok(())
    };
    change(accounts, id, rule).await
}

/// Counts what was spent, in turn; with `looks` it also says how the budget stands then. One call, unless the budget was
/// changed since this process last heard of it, or a reset is due.
pub async fn report(
    accounts: &(impl Accounts + ?Sized),
    id: BudgetId,
    reports: &[UsageReport],
    looks: bool,
) -> Result<Charged> {
    for report in reports {
        budget::check_deltas(&report.deltas)?;
    }
    let mut tries = Tries::default();
    let mut reported = Vec::new();
    loop {
        let known = accounts.definitions().of(accounts, key(id)).await?;
        let Some((revision, definition)) = known.and_then(|known| Some((known.revision, as_budget(known.definition)?)))
        else {
            return Err(not_found(key(id)));
        };
        let left = &reports[reported.len()..];
        if definition.deleted_at.is_some() {
            reported.extend(left.iter().map(|_| Reported::Gone));
        }
        let left = &reports[reported.len()..];
        let draw = |report| LedgerCall::Draw(account::draw(key(id), revision, &definition, report));
        let mut calls: Vec<LedgerCall> = left.iter().map(draw).collect();
        calls.extend(looks.then(|| LedgerCall::Read(all_of(id))));
        let mut replies = accounts.ask(calls).await.into_iter();
        let mut obstacle = None;
        for report in left {
            let answer = replies.next().unwrap_or_else(lost)?.answer;
            match account::judged(&definition, report, &answer) {
                Some(outcome) if obstacle.is_none() => reported.push(outcome),
                Some(_) => return Err(unexpected(&answer)),
                None => obstacle = obstacle.or(Some(answer)),
            }
        }
        if let Some(obstacle) = obstacle {
            overcome(accounts, id, &obstacle).await?;
            tries.again(accounts).await?;
            continue;
        }
        let stands = match looks.then(|| replies.next().unwrap_or_else(lost)).transpose()? {
            None => None,
            Some(reply) => match reply.answer {
                LedgerAnswer::Account(view) => Some(budget::view(&account::budget(&view)?, reply.now)),
                other => return Err(unexpected(&other)),
            },
        };
        return Ok(Charged { reported, stands });
    }
}

/// Does what must be done before a report can be counted.
async fn overcome(accounts: &(impl Accounts + ?Sized), id: BudgetId, answer: &LedgerAnswer) -> Result<()> {
    match answer {
        LedgerAnswer::OtherRevision(view) => accounts.definitions().learn(view).map(drop),
        LedgerAnswer::Stale(_) => settle(accounts, id).await,
        LedgerAnswer::Absent(account) => {
            accounts.definitions().forget(*account);
            Err(not_found(*account))
        }
        other => Err(unexpected(other)),
    }
}

/// The reset that is due happens, whoever makes it.
async fn settle(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<()> {
    let mut tries = Tries::default();
    loop {
        let (now, view, before) = there(accounts, id).await?;
        let Some(after) = account::settled(&before, now) else {
            return Ok(());
        };
        if amend(
            accounts,
            &mut tries,
            (Some(&view), account::amend(&view, &before, &after, false)?),
        )
        .await?
        {
            return Ok(());
        }
    }
}

/// Reads, lets the rule change the budget, and writes what it made of it.
async fn change<T>(
    accounts: &(impl Accounts + ?Sized),
    id: BudgetId,
    rule: impl Fn(&mut Budget, Timestamp) -> std::result::Result<T, ff_core::error::Rejection>,
) -> Result<T> {
    let mut tries = Tries::default();
    loop {
        let (now, view, before) = there(accounts, id).await?;
        let mut after = before.clone();
        let outcome = rule(&mut after, now)?;
        if amend(
            accounts,
            &mut tries,
            (Some(&view), account::amend(&view, &before, &after, false)?),
        )
        .await?
        {
            return Ok(outcome);
        }
    }
}

async fn there(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<(Timestamp, AccountView, Budget)> {
    let (now, found) = look(accounts, id).await?;
    let (view, budget) = found.ok_or_else(|| not_found(key(id)))?;
    Ok((now, view, budget))
}

async fn look(accounts: &(impl Accounts + ?Sized), id: BudgetId) -> Result<(Timestamp, Option<(AccountView, Budget)>)> {
    let (now, found) = read(accounts, all_of(id)).await?;
    let found = found.map(|view| Ok::<_, Failed>((account::budget(&view)?, view)));
    let found = found.transpose()?.map(|(budget, view)| (view, budget));
    Ok((now, found))
}

const fn all_of(id: BudgetId) -> Read {
    Read {
        account: key(id),
        meters: ReadMeters::All,
        places: Vec::new(),
    }
}

const fn key(id: BudgetId) -> AccountKey {
    AccountKey::Budget(id)
}

fn as_budget(definition: Definition) -> Option<std::sync::Arc<Budget>> {
    match definition {
        Definition::Budget(budget) => Some(budget),
        Definition::Quota(_) => None,
    }
}

fn lost<T>() -> crate::Result<T> {
    Err(Error::Unknown("a call on an account was not answered".to_owned()))
}

//! Budgets and quota policies by what people call them.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::id::{BudgetId, QuotaPolicyId};

use super::{NEWEST, ends_in, none, one};
use crate::failure::{Class, Failure};
use crate::verbs::paging;
use crate::verbs::session::Session;

/// The budget that `given` stands for: its id, what it is for, or the end of its id.
pub(crate) async fn budget(session: &Session, given: &str) -> anyhow::Result<BudgetId> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    let ask = async |page: PageRequest| session.fabric.list_budgets(all(session, page)).await;
    let mut budgets = paging::list(NEWEST, ask).await?.items;
    budgets.retain(|budget| budget.scope == given || ends_in(budget.budget_id.uuid(), given));
    let found = one(budgets, "budget", given, |budget| {
        format!("{}  {}", budget.budget_id, budget.scope)
    })?;
    let found = found.map(|budget| budget.budget_id);
    found.ok_or_else(|| none("budget", given, "`ff budget list` shows the budgets of the namespace."))
}

/// The quota policy that `given` stands for: its id, or the end of its id.
pub(crate) async fn quota(session: &Session, given: &str) -> anyhow::Result<QuotaPolicyId> {
    if let Ok(id) = given.parse() {
        return Ok(id);
    }
    let ask = async |page: PageRequest| session.fabric.list_quota_policies(all(session, page)).await;
    let mut quotas = paging::list(NEWEST, ask).await?.items;
    quotas.retain(|quota| ends_in(quota.quota_policy_id.uuid(), given));
    let found = one(quotas, "quota", given, |quota| quota.quota_policy_id.to_string())?;
    let found = found.map(|quota| quota.quota_policy_id);
    found.ok_or_else(|| {
        let what = format!("no quota has the id {given:?}, and none of the newest {NEWEST} ends in it");
        let advice = "`ff quota list` shows the quotas of the namespace.";
        Failure::new(Class::NotFound, what).advise(advice).into()
    })
}

fn all(session: &Session, page: PageRequest) -> ListOf {
    ListOf {
        namespace: session.own_namespace(),
        page,
    }
}

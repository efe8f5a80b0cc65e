//! Budgets.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::budget::{
    BudgetReset, BudgetView, ChargeBudget, CreateBudget, CreatedBudget, Deleted, Reported, ResetBudget, UpdateLimits,
    Updated,
};
use crate::command::page::{ListOf, Page};
use crate::id::BudgetId;

/// Budgets: what may be spent, and what was.
#[async_trait]
pub trait Budgets: Send + Sync {
    /// Creates a budget.
    async fn create_budget(&self, command: CreateBudget) -> Result<CreatedBudget>;

    /// Changes limits; the dimensions not named keep theirs.
    async fn update_limits(&self, command: On<BudgetId, UpdateLimits>) -> Result<Updated>;

    /// One budget.
    async fn get_budget(&self, id: BudgetId) -> Result<BudgetView>;

    /// Budgets of a namespace, by id.
    async fn list_budgets(&self, request: ListOf) -> Result<Page<BudgetView>>;

    /// Starts usage again from zero.
    async fn reset_budget(&self, command: On<BudgetId, ResetBudget>) -> Result<BudgetReset>;

    /// Leaves a tombstone: what is attached is no longer limited by it.
    async fn delete_budget(&self, id: BudgetId) -> Result<Deleted>;

    /// Charges usage without a lease: for operators and gateways.
    async fn charge_budget(&self, command: On<BudgetId, ChargeBudget>) -> Result<Reported>;
}

//! Quota policies.

use async_trait::async_trait;

use super::{On, Result};
use crate::command::budget::{Deleted, Updated};
use crate::command::page::{ListOf, Page};
use crate::command::quota::{CreateQuotaPolicy, CreatedQuotaPolicy, QuotaPolicyView, UpdateQuotaPolicy};
use crate::id::QuotaPolicyId;

/// Quota policies: rates and concurrency caps.
#[async_trait]
pub trait Quotas: Send + Sync {
    /// Creates a quota policy.
    async fn create_quota_policy(&self, command: CreateQuotaPolicy) -> Result<CreatedQuotaPolicy>;

    /// Changes a quota policy; what is not named stays.
    async fn update_quota_policy(&self, command: On<QuotaPolicyId, UpdateQuotaPolicy>) -> Result<Updated>;

    /// One quota policy.
    async fn get_quota_policy(&self, id: QuotaPolicyId) -> Result<QuotaPolicyView>;

    /// Quota policies of a namespace, by id.
    async fn list_quota_policies(&self, request: ListOf) -> Result<Page<QuotaPolicyView>>;

    /// Leaves a tombstone: what is attached is no longer limited by it.
    async fn delete_quota_policy(&self, id: QuotaPolicyId) -> Result<Deleted>;
}

//! What changes a quota.

use ff_core::command::budget::{Deleted, Updated};
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, UpdateQuotaPolicy};
use ff_core::fabric::On;
use ff_core::time::Duration;

use crate::verbs::session::Common;
use crate::verbs::when;
use crate::verbs::which::OneQuota;

#[derive(clap::Args)]
#[group(id = "limits", required = true, multiple = true, args = ["rate", "at_once"])]
pub(super) struct Create {
    /// Attempts that may start in any window
    #[arg(long)]
    rate: Option<u64>,
    /// How long a window is, 1s to 31d
    #[arg(long, default_value = "1min", value_parser = when::parse_span)]
    window: Duration,
    /// Attempts that may run at once
    #[arg(long)]
    at_once: Option<u64>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Update {
    #[command(flatten)]
    quota: OneQuota,
    /// Attempts that may start in any window, or `none` for no limit
    #[arg(long, value_parser = limit)]
    rate: Option<LimitChange>,
    /// How long a window is, 1s to 31d
    #[arg(long, value_parser = when::parse_span)]
    window: Option<Duration>,
    /// Attempts that may run at once, or `none` for no limit
    #[arg(long, value_parser = limit)]
    at_once: Option<LimitChange>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Delete {
    #[command(flatten)]
    quota: OneQuota,
    #[command(flatten)]
    common: Common,
}

fn limit(text: &str) -> Result<LimitChange, String> {
    match text {
        "none" => Ok(LimitChange::Remove),
        _ => text
            .parse()
            .map(LimitChange::Set)
            .map_err(|_| "a limit is a number, or none".to_owned()),
    }
}

impl Create {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let command = CreateQuotaPolicy {
            quota_policy_id: None,
            namespace: session.own_namespace(),
            window: self.window,
            max_requests_per_window: self.rate,
            max_concurrent: self.at_once,
            jitter: Duration::ZERO,
        };
        let created = session.fabric.create_quota_policy(command).await?;
        session.out.done(&created, created.quota_policy_id)
    }
}

impl Update {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, quota) = self.quota.open(&self.common).await?;
        let command = UpdateQuotaPolicy {
            window: self.window,
            max_requests_per_window: self.rate.unwrap_or_default(),
            max_concurrent: self.at_once.unwrap_or_default(),
            jitter: None,
        };
        let updated = session.fabric.update_quota_policy(On::new(quota, command)).await?;
        let sentence = match updated {
            Updated::Now => format!("quota {quota} is changed"),
            Updated::Unchanged => format!("quota {quota} was like that before"),
        };
        session.out.done(&updated, sentence)
    }
}

impl Delete {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, quota) = self.quota.open(&self.common).await?;
        let deleted = session.fabric.delete_quota_policy(quota).await?;
        let sentence = match deleted {
            Deleted::Now => format!("quota {quota} limits nothing any more"),
            Deleted::Already => format!("quota {quota} was deleted before"),
        };
        session.out.done(&deleted, sentence)
    }
}

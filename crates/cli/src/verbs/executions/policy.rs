//! What a submission says about how it is run.

use ff_core::capability::CapabilitySet;
use ff_core::policy::{Backoff, Never, Policy, Retention, RetryPolicy, TimeoutPolicy};
use ff_core::time::Duration;

use crate::verbs::session::Session;
use crate::verbs::{id, input, when};

/// How an execution is run, as flags say it.
#[derive(clap::Args)]
#[command(next_help_heading = "How it is run")]
pub(crate) struct PolicyArguments {
    /// Tries after a failed attempt, with growing pauses from 1 s on
    #[arg(long)]
    retries: Option<u32>,
    /// The same pause before every retry, such as 5s
    #[arg(long, value_parser = when::parse_span, requires = "retries")]
    backoff: Option<Duration>,
    /// How long one attempt may run
    #[arg(long, value_parser = when::parse_span)]
    timeout: Option<Duration>,
    /// How long all of it may take: then it expires
    #[arg(long, value_parser = when::parse_span)]
    deadline: Option<Duration>,
    /// A budget it spends from: it waits while that is used up. May be repeated
    #[arg(long)]
    budget: Vec<String>,
    /// The quota its attempts count against
    #[arg(long)]
    quota: Option<String>,
    /// Something a worker must offer to be handed it. May be repeated
    #[arg(long)]
    needs: Vec<String>,
    /// How long it is kept once it has ended: a time, or `never` deleted [default: 24h]
    #[arg(long, value_parser = retention)]
    keep: Option<Retention>,
    /// Everything else a policy can say: JSON, @FILE or -
    #[arg(long, value_name = "JSON")]
    policy: Option<String>,
}

fn retention(text: &str) -> Result<Retention, String> {
    match text {
        "never" => Ok(Retention::Forever(Never::Never)),
        _ => when::parse_span(text).map(Retention::For),
    }
}

impl PolicyArguments {
    /// The policy: what `--policy` says, and over it each flag.
    pub(crate) async fn policy(&self, session: &Session) -> anyhow::Result<Policy> {
        let mut policy = match &self.policy {
            Some(given) => Policy::from_json(&serde_json::from_str(&input::text(given)?)?)?,
            None => Policy::default(),
        };
        if let Some(max_retries) = self.retries {
            let retry = policy.retry_policy.take().unwrap_or_default();
            let backoff = self.backoff.map(|delay| Backoff::Fixed { delay });
            policy.retry_policy = Some(RetryPolicy {
                max_retries,
                backoff: backoff.unwrap_or(retry.backoff),
                ..retry
            });
        }
        if self.timeout.is_some() || self.deadline.is_some() {
            let before = policy.timeout_policy.take().unwrap_or_default();
            policy.timeout_policy = Some(TimeoutPolicy {
                attempt_timeout: self.timeout.or(before.attempt_timeout),
                execution_deadline: self.deadline.or(before.execution_deadline),
            });
        }
        for budget in &self.budget {
            policy.budget_ids.insert(id::budget(session, budget).await?);
        }
        if let Some(quota) = &self.quota {
            policy.quota_policy_id = Some(id::quota(session, quota).await?);
        }
        if !self.needs.is_empty() {
            policy.routing_requirements.required_capabilities = CapabilitySet::parse(&self.needs)?;
        }
        policy.retention = self.keep.or(policy.retention);
        Ok(policy)
    }
}

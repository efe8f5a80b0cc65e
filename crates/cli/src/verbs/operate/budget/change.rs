//! What changes a budget.

use std::collections::BTreeMap;

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, ChargeBudget, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits, Updated,
};
use ff_core::fabric::On;
use ff_core::name::{Dimension, IdempotencyKey};
use ff_core::record::{Excess, Limits, OnHardLimit};
use ff_core::time::Duration;

use super::dimension;
use crate::say;
use crate::verbs::session::Common;
use crate::verbs::when;
use crate::verbs::which::OneBudget;

#[derive(clap::Args)]
pub(super) struct Create {
    /// What it is for: verbs take this instead of its id
    scope: String,
    /// A limit, as NAME=HARD, NAME=SOFT:HARD or NAME=none. May be repeated
    #[arg(long = "limit", value_name = "NAME=LIMIT", value_parser = dimension::limits)]
    limits: Vec<(Dimension, Limits)>,
    /// How often usage starts again from zero, such as 1d [default: never]
    #[arg(long, value_parser = when::parse_span)]
    every: Option<Duration>,
    /// Stop what runs when a hard limit is passed; without it, it may finish
    #[arg(long)]
    cancel_active: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Limit {
    #[command(flatten)]
    budget: OneBudget,
    /// The new limits, as NAME=HARD, NAME=SOFT:HARD or NAME=none
    #[arg(required = true, value_name = "NAME=LIMIT", value_parser = dimension::limits)]
    limits: Vec<(Dimension, Limits)>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Charge {
    #[command(flatten)]
    budget: OneBudget,
    /// What was spent, as NAME=NUMBER
    #[arg(required = true, value_name = "NAME=NUMBER", value_parser = dimension::amount)]
    amounts: Vec<(Dimension, u64)>,
    /// Charged again with the same key within a day, it is charged once
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<IdempotencyKey>,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Reset {
    #[command(flatten)]
    budget: OneBudget,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Delete {
    #[command(flatten)]
    budget: OneBudget,
    #[command(flatten)]
    common: Common,
}

impl Create {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let command = CreateBudget {
            budget_id: None,
            namespace: session.own_namespace(),
            scope: self.scope,
            dimensions: self.limits.into_iter().collect(),
            reset_interval: self.every,
            on_hard_limit: match self.cancel_active {
                true => OnHardLimit::CancelActive,
                false => OnHardLimit::Block,
            },
        };
        let created = session.fabric.create_budget(command).await?;
        if created.created == BudgetCreated::Exists {
            say::aside("It was made before.");
        }
        session.out.done(&created, created.budget_id)
    }
}

impl Limit {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, budget) = self.budget.open(&self.common).await?;
        let dimensions: BTreeMap<_, _> = self.limits.into_iter().collect();
        let updated = session
            .fabric
            .update_limits(On::new(budget, UpdateLimits { dimensions }))
            .await?;
        let sentence = match updated {
            Updated::Now => format!("budget {budget} has its new limits; what waited for them is looked at"),
            Updated::Unchanged => format!("budget {budget} had these limits before"),
        };
        session.out.done(&updated, sentence)
    }
}

impl Charge {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, budget) = self.budget.open(&self.common).await?;
        let command = ChargeBudget {
            deltas: self.amounts.into_iter().collect(),
            dedup_key: self.idempotency_key,
            request_id: None,
        };
        let reported = session.fabric.charge_budget(On::new(budget, command)).await?;
        session.out.done(&reported, charged(&reported))
    }
}

fn charged(reported: &Reported) -> String {
    let over = |all: &[Excess]| {
        let names: Vec<_> = all.iter().map(|excess| excess.dimension.as_str()).collect();
        names.join(", ")
    };
    match reported {
        Reported::Ok => "charged".to_owned(),
        Reported::SoftBreach { all, .. } => format!("charged; above the soft limit of {}", over(all)),
        Reported::HardBreach { all, .. } => format!("charged; above the hard limit of {}", over(all)),
        Reported::AlreadyApplied => "it was charged before under this key".to_owned(),
        Reported::Gone => "the budget was deleted; nothing was charged".to_owned(),
    }
}

impl Reset {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, budget) = self.budget.open(&self.common).await?;
        let reset = session
            .fabric
            .reset_budget(On::new(budget, ResetBudget::default()))
            .await?;
        let sentence = match reset {
            BudgetReset::Now => format!("usage of budget {budget} starts again from zero"),
            BudgetReset::Already => format!("budget {budget} was reset before"),
        };
        session.out.done(&reset, sentence)
    }
}

impl Delete {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, budget) = self.budget.open(&self.common).await?;
        let deleted = session.fabric.delete_budget(budget).await?;
        let sentence = match deleted {
            Deleted::Now => format!("budget {budget} limits nothing any more"),
            Deleted::Already => format!("budget {budget} was deleted before"),
        };
        session.out.done(&deleted, sentence)
    }
}

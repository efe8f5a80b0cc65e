//! Budgets: made and changed.

use std::collections::BTreeMap;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use ff_core::command::budget::{CreateBudget, UpdateLimits};
use ff_core::fabric::{Fabric, On};
use ff_core::id::BudgetId;
use ff_core::name::Dimension;
use ff_core::record::{Limits, OnHardLimit};
use uuid::Uuid;

use crate::client::Client;
use crate::duration::millis;
use crate::error::Result;

/// A budget that is being described: await it to make it.
#[must_use = "a budget is made when it is awaited"]
pub struct NewBudget {
    client: Client,
    scope: String,
    limits: Limiting,
    resets_every: Option<Duration>,
    on_hard_limit: OnHardLimit,
}

/// New limits of a budget: await it to set them.
#[must_use = "a budget is changed when it is awaited"]
pub struct ChangeBudget {
    client: Client,
    budget: BudgetId,
    limits: Limiting,
}

impl Client {
    /// A budget for what is said in `scope`. Steps charge it, and what is submitted with it waits while it is used up.
    ///
    /// ```no_run
    /// # async fn example(ff: ff_sdk::Client) -> ff_sdk::Result<()> {
    /// let budget = ff.new_budget("tenant a").hard("tokens", 100_000).resets_every(ff_sdk::days(1)).await?;
    /// ff.change_budget(budget).hard("tokens", 200_000).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_budget(&self, scope: impl Into<String>) -> NewBudget {
        NewBudget {
            client: self.clone(),
            scope: scope.into(),
            limits: Limiting::default(),
            resets_every: None,
            on_hard_limit: OnHardLimit::default(),
        }
    }

    /// Other limits for a budget. A dimension that is named here has the limits that are named here; the others keep theirs.
    pub fn change_budget(&self, budget: BudgetId) -> ChangeBudget {
        ChangeBudget {
            client: self.clone(),
            budget,
            limits: Limiting::default(),
        }
    }
}

impl NewBudget {
    /// From this much on nothing more begins.
    pub fn hard(mut self, dimension: impl Into<String>, limit: u64) -> Self {
        self.limits.of(dimension.into()).hard = Some(limit);
        self
    }

    /// From this much on it is told that much is spent.
    pub fn soft(mut self, dimension: impl Into<String>, limit: u64) -> Self {
        self.limits.of(dimension.into()).soft = Some(limit);
        self
    }

    /// What is spent counts from zero again after each such time; never unless said.
    pub const fn resets_every(mut self, time: Duration) -> Self {
        self.resets_every = Some(time);
        self
    }

    /// What a hard limit does to tasks that run; nothing unless said: only their next charged step does not begin.
    pub const fn on_hard_limit(mut self, what: OnHardLimit) -> Self {
        self.on_hard_limit = what;
        self
    }

    async fn make(self) -> Result<BudgetId> {
        let create = CreateBudget {
            // Its own, so that a repeated call meets itself.
            budget_id: Some(BudgetId::from_uuid(Uuid::now_v7())),
            namespace: self.client.own_namespace().clone(),
            scope: self.scope,
            dimensions: self.limits.parsed()?,
            reset_interval: self.resets_every.map(millis),
            on_hard_limit: self.on_hard_limit,
        };
        Ok(self.client.create_budget(create).await?.budget_id)
    }
}

impl ChangeBudget {
    /// From this much on nothing more begins.
    pub fn hard(mut self, dimension: impl Into<String>, limit: u64) -> Self {
        self.limits.of(dimension.into()).hard = Some(limit);
        self
    }

    /// From this much on it is told that much is spent.
    pub fn soft(mut self, dimension: impl Into<String>, limit: u64) -> Self {
        self.limits.of(dimension.into()).soft = Some(limit);
        self
    }

    async fn change(self) -> Result<()> {
        let dimensions = self.limits.parsed()?;
        let update = On::new(self.budget, UpdateLimits { dimensions });
        self.client.update_limits(update).await?;
        Ok(())
    }
}

/// Limits by dimension.
#[derive(Default)]
struct Limiting(BTreeMap<String, Limits>);

impl Limiting {
    fn of(&mut self, dimension: String) -> &mut Limits {
        self.0.entry(dimension).or_insert(Limits { soft: None, hard: None })
    }

    fn parsed(self) -> Result<BTreeMap<Dimension, Limits>> {
        let parsed = self
            .0
            .into_iter()
            .map(|(name, limits)| Ok((Dimension::parse(name)?, limits)));
        parsed.collect()
    }
}

macro_rules! awaited {
    ($($builder:ident => $gives:ty, $send:ident;)+) => {
        $(
            impl IntoFuture for $builder {
                type Output = Result<$gives>;
                type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

                fn into_future(self) -> Self::IntoFuture {
                    Box::pin(self.$send())
                }
            }
        )+
    };
}

awaited! {
    NewBudget => BudgetId, make;
    ChangeBudget => (), change;
}

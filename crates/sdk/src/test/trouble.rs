//! What a test lets go wrong besides crashes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ff_core::command::budget::ChargeBudget;
use ff_core::command::claim::Task;
use ff_core::command::operator::RevokeLease;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On};
use ff_core::id::BudgetId;
use ff_core::name::Dimension;
use ff_engine::{Engine, Host, VirtualHost};

use super::TestEngine;
use crate::error::Result;

/// How many different draws of luck there are: as many as a fraction can tell apart.
const DRAWS: u64 = 1 << 53;

/// Which answers get lost on their way to a worker.
#[derive(Clone)]
pub(super) struct Losses {
    host: Arc<VirtualHost>,
    /// So many of all draws lose.
    losing: Arc<AtomicU64>,
}

impl Losses {
    pub(super) fn new(host: Arc<VirtualHost>) -> Self {
        Self {
            host,
            losing: Arc::default(),
        }
    }

    fn set(&self, part: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a part of the draws is none of them, all of them or between"
        )]
        let losing = (part.clamp(0.0, 1.0) * DRAWS as f64) as u64;
        self.losing.store(losing, Ordering::SeqCst);
    }

    /// Whether the next answer gets lost.
    pub(super) fn loses(&self) -> bool {
        let losing = self.losing.load(Ordering::SeqCst);
        losing > 0 && self.host.random() % u128::from(DRAWS) < u128::from(losing)
    }
}

/// What a worker is told instead of an answer that got lost.
pub(super) fn lost() -> Rejection {
    Code::Unavailable.because("a test lost the answer")
}

/// Nobody runs tasks whose handing out got lost. Their leases would have to run out; they are over now, or no time could pass.
pub(super) async fn take_back(engine: &Engine, tasks: &[Task]) {
    for task in tasks {
        let revoke = RevokeLease {
            reason: Some("a test lost the answer that handed it out".to_owned()),
            expected_lease_epoch: Some(task.fence.lease_epoch),
            request_id: None,
        };
        // It may have been ended by somebody else.
        let _ = engine.revoke_lease(On::new(task.execution_id, revoke)).await;
    }
}

impl TestEngine {
    /// Loses this part of the answers to the worker, from 0 to 1: what it asked for was done, and it does not hear so.
    pub fn drop_replies(&self, part: f64) {
        self.inner.losses.set(part);
    }

    /// Uses up what is left of a budget, and a little more.
    ///
    /// # Panics
    ///
    /// When the budget has no hard limit, so that it cannot be used up.
    pub async fn exhaust(&self, budget: BudgetId) -> Result<()> {
        let view = self.inner.engine.get_budget(budget).await?;
        let left = |(dimension, view): (&Dimension, &ff_core::command::budget::DimensionView)| {
            let left = view.limits.hard?.saturating_sub(view.usage);
            // What reaches a limit lets nothing begin; only what is above it stops what runs.
            Some((dimension.clone(), left + 1))
        };
        let deltas: BTreeMap<Dimension, u64> = view.dimensions.iter().filter_map(left).collect();
        assert!(
            !deltas.is_empty(),
            "budget {budget} has no hard limit: it cannot be used up"
        );
        let charge = ChargeBudget {
            deltas,
            dedup_key: None,
            request_id: None,
        };
        self.inner.engine.charge_budget(On::new(budget, charge)).await?;
        Ok(())
    }
}

//! What a variant of an operation presumes about the situations it is tried in.

use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::policy::{Backoff, RetryPolicy};
use ff_core::time::Duration;

use crate::graph::{self, Staging, Upstream};
use crate::scene::Scene;
use crate::support::submission;

/// The pause before a retry.
pub(crate) const BACKOFF: Duration = Duration::from_secs(5);
/// How long a pending waitpoint that closes unused stays open.
const SHORT: Duration = Duration::from_secs(1);
/// How long any other pending waitpoint stays open: longer than every situation takes to reach.
const LONG: Duration = Duration::from_hours(30 * 24);

/// Nothing by default: one solo execution with an empty policy.
#[derive(Clone, Copy, Default)]
pub(crate) struct Premise {
    /// The retry policy of situations with a live lease.
    pub(crate) retries: Option<Retries>,
    /// How often it may be replayed.
    pub(crate) max_replay_count: Option<u32>,
    /// Whoever was leased was leased and released twice before: the first of these leases is neither live nor the last that
    /// ended.
    pub(crate) earlier_leases: bool,
    /// Whoever was leased handed out a waitpoint under its latest lease.
    pub(crate) pending: Option<Pending>,
    /// It is a member of an open flow.
    pub(crate) member: bool,
    /// An edge to it is staged and not yet applied. It is a member of an open flow then.
    pub(crate) staging: Option<Staging>,
    /// An edge was applied while it ran, where a lease is live. It is a member of an open flow then.
    pub(crate) edge: Option<Upstream>,
}

/// How many retries a policy allows, and how many were made.
#[derive(Clone, Copy)]
pub(crate) enum Retries {
    /// All of them are left.
    Left,
    /// None is left.
    Exhausted,
}

/// A waitpoint handed out before any suspension.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    /// It is open.
    Open,
    /// It is past its expiry; the pump has closed it.
    Closed,
    /// It is past its expiry; the pump has not run.
    ClosedUnnoticed,
}

/// A policy that retries once.
pub(crate) fn one_retry() -> RetryPolicy {
    RetryPolicy {
        max_retries: 1,
        backoff: Backoff::Fixed { delay: BACKOFF },
        retryable_categories: None,
    }
}

impl Premise {
    /// An execution, submitted as `adapt` says.
    pub(crate) fn submitted(self, adapt: impl FnOnce(&mut CreateExecution)) -> Result<Scene, Rejection> {
        let mut command = self.command()?;
        adapt(&mut command);
        if !self.member && self.staging.is_none() {
            return Scene::submitted(&command);
        }
        let mut scene = graph::submitted_to_open_flow(&command)?;
        graph::stage_for(&mut scene, self.staging)?;
        Ok(scene)
    }

    /// The submission every situation starts from.
    pub(crate) fn command(self) -> Result<CreateExecution, Rejection> {
        let mut command = submission()?;
        command.policy.max_replay_count = self.max_replay_count;
        Ok(command)
    }

    /// One with a confirmed lease.
    pub(crate) fn leased(self, adapt: impl FnOnce(&mut CreateExecution)) -> Result<Scene, Rejection> {
        let mut scene = self.submitted(adapt)?;
        let earlier = if self.earlier_leases { 2 } else { 0 };
        for _ in 0..earlier {
            scene.claim()?;
            scene.renew()?;
            scene.release()?;
        }
        scene.claim()?;
        scene.renew()?;
        self.hand_out_waitpoint(&mut scene)?;
        Ok(scene)
    }

    /// One with a confirmed lease that still lives when the operation comes, or would but for a timer: here the policy and
    /// the edges of the variant count.
    pub(crate) fn live(self, adapt: impl FnOnce(&mut CreateExecution)) -> Result<Scene, Rejection> {
        let member = self.member || self.edge.is_some();
        let mut scene = Self { member, ..self }.leased(|command| {
            command.policy.retry_policy = self.retries.map(|_| one_retry());
            adapt(command);
        })?;
        if matches!(self.retries, Some(Retries::Exhausted)) {
            scene.fail()?;
            scene.world.wait(BACKOFF);
            scene.advance()?;
            scene.claim()?;
            scene.renew()?;
        }
        if let Some(upstream) = self.edge {
            graph::apply_edge(&mut scene, upstream)?;
        }
        Ok(scene)
    }

    fn hand_out_waitpoint(self, scene: &mut Scene) -> Result<(), Rejection> {
        match self.pending {
            None => Ok(()),
            Some(Pending::Open) => scene.hand_out_waitpoint(LONG),
            Some(closed) => {
                scene.hand_out_waitpoint(SHORT)?;
                scene.world.wait(SHORT);
                if closed == Pending::Closed {
                    scene.expire_waitpoint()?;
                }
                Ok(())
            }
        }
    }
}

//! exchange: the one call of a remote worker's loop.
//!
//! What is said about one execution happens in the order in which a worker means it: the lease is kept, output and usage
//! arrive, then it is let go. What is said about different executions happens at the same time.

use std::collections::BTreeMap;

use ff_core::command::budget::Reported;
use ff_core::command::claim::{
    Claim, Exchange, Exchanged, Finish, Finished, FinishedOutcome, RenewLease, RenewedLease, Task, Want,
};
use ff_core::command::flow::{WaitChildren, WaitedChildren};
use ff_core::command::lease::{Complete, DelayUntil, Fail, Release, Renew, ReportUsage};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::command::suspend::Suspend;
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::Code;
use ff_core::fabric::{On, Result, Work};
use ff_core::id::ExecutionId;
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::time::Duration;
use futures::future::{join, join_all};

use super::claim::{check_wait, check_want};
use crate::engine::Engine;

/// Something of an exchange with its place in its list.
type Placed<T> = (usize, T);

/// What an exchange says about one execution.
#[derive(Default)]
struct Said {
    renew: Vec<Placed<RenewLease>>,
    frames: Vec<Placed<AppendFrame>>,
    usage: Vec<Placed<ReportUsage>>,
    finished: Vec<Placed<Finished>>,
}

/// What came of it.
#[derive(Default)]
struct Answered {
    results: Vec<Placed<Result<FinishedOutcome>>>,
    renewed: Vec<Placed<RenewedLease>>,
    frames: Vec<Placed<Result<AppendedFrame>>>,
    usage: Vec<Placed<Result<Reported>>>,
}

impl Engine {
    /// Takes in what the worker has to say, then gives it what it can take.
    pub(super) async fn exchange_all(&self, command: Exchange) -> Result<Exchanged> {
        self.check_namespace(&command.namespace)?;
        check_wait(command.wait)?;
        check_size(&command)?;
        let lease_ttl = command.want.as_ref().map(check_want).transpose()?;
        let (said, claim) = taken_apart(command);
        if let Some(claim) = &claim {
            self.check_claimant(claim).await?;
        }
        let spoke = !said.is_empty();
        let answers = said.into_iter().map(|(id, said)| self.take_in(id, said));
        let mut answered = Answered::default();
        join_all(answers)
            .await
            .into_iter()
            .for_each(|answer| answered.add(answer));
        let mut exchanged = answered.in_order();
        if let (Some(mut claim), Some(lease_ttl)) = (claim, lease_ttl) {
            if !all_quiet(&exchanged) {
                claim.wait = Duration::ZERO;
            }
            exchanged.tasks = self.claim_beside(claim, lease_ttl, spoke).await?;
        }
        exchanged.server_time = self.store_time().await?;
        Ok(exchanged)
    }

    /// The tasks of an exchange. What the worker said is done: a claim that fails must not hide what came of it.
    async fn claim_beside(&self, claim: Claim, lease_ttl: Duration, spoke: bool) -> Result<Vec<Task>> {
        if claim.want.max == 0 {
            self.worker_claims(&claim);
            return Ok(Vec::new());
        }
        match self.claim_checked(claim, lease_ttl).await {
            Err(refusal) if spoke => {
                tracing::debug!(%refusal, "an exchange was answered without tasks");
                Ok(Vec::new())
            }
            answer => answer,
        }
    }

    /// Does what was said about one execution, in order.
    async fn take_in(&self, id: ExecutionId, said: Said) -> Answered {
        let mut answered = Answered::default();
        for (place, renew) in said.renew {
            answered.renewed.push((place, self.renew_one(renew).await));
        }
        let frames = async {
            let mut answers = Vec::new();
            for (place, frame) in said.frames {
                answers.push((place, self.append_frame(On::new(id, frame)).await));
            }
            answers
        };
        let usage = async {
            let mut answers = Vec::new();
            for (place, usage) in said.usage {
                answers.push((place, self.report_usage(On::new(id, usage)).await));
            }
            answers
        };
        (answered.frames, answered.usage) = join(frames, usage).await;
        for (place, finished) in said.finished {
            answered.results.push((place, self.finish_one(finished).await));
        }
        answered
    }

    async fn renew_one(&self, lease: RenewLease) -> RenewedLease {
        let id = lease.execution_id;
        let renew = Renew {
            fence: Some(lease.fence),
            ttl: None,
        };
        let renewed = self.renew(On::new(id, renew)).await;
        let stop = renewed.as_ref().ok().and_then(|renewed| renewed.stop_requested.clone());
        RenewedLease {
            execution_id: id,
            expires_at: renewed.map(|renewed| renewed.expires_at),
            stop_requested: stop,
        }
    }

    async fn finish_one(&self, finished: Finished) -> Result<FinishedOutcome> {
        let id = finished.execution_id;
        let fence = Some(finished.fence);
        match finished.how {
            Finish::Complete { result } => {
                let complete = Complete { fence, result };
                self.complete(On::new(id, complete))
                    .await
                    .map(FinishedOutcome::Completed)
            }
            Finish::Fail { reason, category } => {
                let fail = Fail {
                    fence,
                    reason,
                    category,
                };
                self.fail(On::new(id, fail)).await.map(FinishedOutcome::Failed)
            }
            Finish::Release => self
                .release(On::new(id, Release { fence }))
                .await
                .map(FinishedOutcome::LetGo),
            Finish::Delay { until } => {
                let delay = DelayUntil { fence, until };
                self.delay(On::new(id, delay)).await.map(FinishedOutcome::LetGo)
            }
            Finish::WaitChildren => self
                .wait_children(On::new(id, WaitChildren { fence }))
                .await
                .map(FinishedOutcome::WaitedChildren),
            Finish::Suspend(suspend) => {
                let suspend = Suspend { fence, ..*suspend };
                self.suspend(On::new(id, suspend)).await.map(FinishedOutcome::Suspended)
            }
        }
    }
}

fn check_size(command: &Exchange) -> Result<()> {
    let items = command.finished.len() + command.renew.len() + command.frames.len() + command.usage.len();
    if items > BATCH_ITEMS_MAX {
        return Err(Code::BatchTooLarge.because(format!("{items} items in one exchange, more than {BATCH_ITEMS_MAX}")));
    }
    Ok(())
}

/// What is said about each execution, and what is wanted.
fn taken_apart(command: Exchange) -> (BTreeMap<ExecutionId, Said>, Option<Claim>) {
    let mut said: BTreeMap<ExecutionId, Said> = BTreeMap::new();
    for (place, renew) in command.renew.into_iter().enumerate() {
        said.entry(renew.execution_id).or_default().renew.push((place, renew));
    }
    for (place, (id, frame)) in command.frames.into_iter().enumerate() {
        said.entry(id).or_default().frames.push((place, frame));
    }
    for (place, (id, usage)) in command.usage.into_iter().enumerate() {
        said.entry(id).or_default().usage.push((place, usage));
    }
    for (place, finished) in command.finished.into_iter().enumerate() {
        let id = finished.execution_id;
        said.entry(id).or_default().finished.push((place, finished));
    }
    let claim = |want: Want| Claim {
        namespace: command.namespace,
        worker: command.worker,
        instance: command.instance,
        incarnation: Some(command.incarnation),
        want,
        wait: command.wait,
    };
    (said, command.want.map(claim))
}

/// Whether nothing has come of it that the worker should learn at once: no refusal, no request to stop, no task that goes on,
/// no token to be handed out, no budget overrun.
fn all_quiet(exchanged: &Exchanged) -> bool {
    let kept = |renewed: &RenewedLease| renewed.expires_at.is_ok() && renewed.stop_requested.is_none();
    exchanged.results.iter().all(is_quiet)
        && exchanged.renewed.iter().all(kept)
        && exchanged.frames.iter().all(Result::is_ok)
        && exchanged
            .usage
            .iter()
            .all(|reported| matches!(reported, Ok(reported) if !matches!(reported, Reported::HardBreach { .. })))
}

const fn is_quiet(result: &Result<FinishedOutcome>) -> bool {
    match result {
        Err(_) => false,
        Ok(FinishedOutcome::WaitedChildren(waited)) => !matches!(waited, WaitedChildren::AlreadySatisfied),
        Ok(FinishedOutcome::Suspended(suspended)) => matches!(suspended, SuspendedTask::Cancelled),
        Ok(FinishedOutcome::Completed(_) | FinishedOutcome::Failed(_) | FinishedOutcome::LetGo(_)) => true,
    }
}

impl Answered {
    fn add(&mut self, other: Answered) {
        self.results.extend(other.results);
        self.renewed.extend(other.renewed);
        self.frames.extend(other.frames);
        self.usage.extend(other.usage);
    }

    /// Everything in the order it was said in.
    fn in_order(self) -> Exchanged {
        Exchanged {
            results: in_order(self.results),
            renewed: in_order(self.renewed),
            frames: in_order(self.frames),
            usage: in_order(self.usage),
            tasks: Vec::new(),
            server_time: Default::default(),
        }
    }
}

fn in_order<T>(mut placed: Vec<Placed<T>>) -> Vec<T> {
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, answer)| answer).collect()
}

//! exchange: the one call of a remote worker's loop.
//!
//! What is reported about one execution is applied in the order in which a worker means it: the lease is renewed, steps, output
//! and usage arrive, then it is finished. Reports about different executions are applied at the same time.

use std::collections::BTreeMap;

use ff_core::command::budget::Reported;
use ff_core::command::claim::{Claim, Exchange, Exchanged, Finish, FinishedOutcome, RenewedLease, Task, Want};
use ff_core::command::flow::WaitedChildren;
use ff_core::command::lease::{Renew, ReportUsage};
use ff_core::command::steps::{RecordSteps, RecordedSteps};
use ff_core::command::stream::{AppendFrame, AppendedFrame};
use ff_core::command::waitpoint::SuspendedTask;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::machine::worker::check_load;
use ff_core::time::Duration;
use futures::future::{join_all, join3};

use super::claim::{CheckedClaim, check_wait, check_want, claim_checked, drain_of, note_worker, wait_for_nothing};
use crate::directory::check_claimant;
use crate::engine::Engine;
use crate::ops::work;

/// Something of an exchange with its index in its list, so that answers come back in the order of the command.
type Indexed<T> = (usize, T);

/// What an exchange reports about one execution.
#[derive(Default)]
struct Reports {
    renew: Vec<Indexed<Renew>>,
    steps: Vec<Indexed<RecordSteps>>,
    frames: Vec<Indexed<AppendFrame>>,
    usage: Vec<Indexed<ReportUsage>>,
    finished: Vec<Indexed<Finish>>,
}

#[derive(Default)]
struct Answers {
    results: Vec<Indexed<Result<FinishedOutcome>>>,
    renewed: Vec<Indexed<RenewedLease>>,
    steps: Vec<Indexed<Result<RecordedSteps>>>,
    frames: Vec<Indexed<Result<AppendedFrame>>>,
    usage: Vec<Indexed<Result<Reported>>>,
}

/// Applies what the worker reports, then gives it what it can take.
pub(crate) async fn exchange(engine: &Engine, mut command: Exchange) -> Result<Exchanged> {
    engine.check_namespace(&command.namespace)?;
    check_wait(command.wait)?;
    check_size(&command)?;
    check_load(&command.load)?;
    let lease_ttl = command.want.as_ref().map(check_want).transpose()?;
    command.name_items();
    let (namespace, instance, load) = (
        command.namespace.clone(),
        command.instance.clone(),
        command.load.clone(),
    );
    let stops = engine.shared.stops.join(&namespace, &instance);
    let (reports, claim) = by_execution(command);
    if let Some(claim) = &claim {
        check_claimant(engine, claim).await?;
    }
    let any_reports = !reports.is_empty();
    // In boxes of their own: all of them at once would be a block that no allocator has at hand.
    let applied = reports
        .into_iter()
        .map(|(id, reports)| Box::pin(apply_reports(engine, id, reports)));
    let mut answers = Answers::default();
    join_all(applied)
        .await
        .into_iter()
        .for_each(|answer| answers.add(answer));
    let mut exchanged = answers.in_order();
    if let (Some(mut claim), Some(lease_ttl)) = (claim, lease_ttl) {
        if !nothing_urgent(&exchanged) {
            claim.wait = Duration::ZERO;
        }
        let checked = CheckedClaim { claim, lease_ttl, load };
        exchanged.tasks = claim_after_reports(engine, checked, any_reports, stops.told()).await?;
    }
    exchanged.stops = stops.all();
    exchanged.drain = drain_of(engine, &namespace, &instance);
    exchanged.server_time = engine.store_time().await?;
    Ok(exchanged)
}

/// The tasks of an exchange. The reports are applied by then: a claim that fails must not hide what came of them.
async fn claim_after_reports(
    engine: &Engine,
    checked: CheckedClaim,
    any_reports: bool,
    hurry: impl Future<Output = ()>,
) -> Result<Vec<Task>> {
    if checked.claim.want.max == 0 {
        note_worker(engine, &checked.claim, checked.load);
        wait_for_nothing(engine, checked.claim.wait, hurry).await;
        return Ok(Vec::new());
    }
    match claim_checked(engine, checked, hurry).await {
        Err(refusal) if any_reports => {
            tracing::debug!(%refusal, "an exchange was answered without tasks");
            Ok(Vec::new())
        }
        answer => answer,
    }
}

/// Applies what is reported about one execution, in order.
async fn apply_reports(engine: &Engine, id: ExecutionId, reports: Reports) -> Answers {
    let mut answers = Answers::default();
    for (index, renew) in reports.renew {
        answers.renewed.push((index, renew_one(engine, id, renew).await));
    }
    let steps = async {
        let mut answers = Vec::new();
        for (index, steps) in reports.steps {
            answers.push((index, work::record_steps(engine, On::new(id, steps)).await));
        }
        answers
    };
    let frames = async {
        let mut answers = Vec::new();
        for (index, frame) in reports.frames {
            answers.push((index, work::append_frame(engine, On::new(id, frame)).await));
        }
        answers
    };
    let usage = async {
        let mut answers = Vec::new();
        for (index, usage) in reports.usage {
            answers.push((index, work::report_usage(engine, On::new(id, usage)).await));
        }
        answers
    };
    (answers.steps, answers.frames, answers.usage) = join3(steps, frames, usage).await;
    for (index, finished) in reports.finished {
        answers.results.push((index, finish_one(engine, id, finished).await));
    }
    answers
}

async fn renew_one(engine: &Engine, id: ExecutionId, renew: Renew) -> RenewedLease {
    let renewed = work::renew(engine, On::new(id, renew)).await;
    let stop = renewed.as_ref().ok().and_then(|renewed| renewed.stop_requested.clone());
    RenewedLease {
        execution_id: id,
        expires_at: renewed.map(|renewed| renewed.expires_at),
        stop_requested: stop,
    }
}

async fn finish_one(engine: &Engine, id: ExecutionId, how: Finish) -> Result<FinishedOutcome> {
    match how {
        Finish::Complete(command) => work::complete(engine, On::new(id, command))
            .await
            .map(FinishedOutcome::Completed),
        Finish::Fail(command) => work::fail(engine, On::new(id, command))
            .await
            .map(FinishedOutcome::Failed),
        Finish::Release(command) => work::release(engine, On::new(id, command))
            .await
            .map(FinishedOutcome::Released),
        Finish::Delay(command) => work::delay(engine, On::new(id, command))
            .await
            .map(FinishedOutcome::Delayed),
        Finish::WaitChildren(command) => work::wait_children(engine, On::new(id, command))
            .await
            .map(FinishedOutcome::WaitedChildren),
        Finish::Suspend(command) => work::suspend(engine, On::new(id, *command))
            .await
            .map(FinishedOutcome::Suspended),
    }
}

fn check_size(command: &Exchange) -> Result<()> {
    let reports = command.renew.len() + command.steps.len() + command.frames.len() + command.usage.len();
    let items = command.finished.len() + reports;
    if items > BATCH_ITEMS_MAX {
        return Err(Code::BatchTooLarge.because(format!("{items} items in one exchange, more than {BATCH_ITEMS_MAX}")));
    }
    Ok(())
}

/// What is reported about each execution, and what is wanted.
fn by_execution(command: Exchange) -> (BTreeMap<ExecutionId, Reports>, Option<Claim>) {
    let mut reports: BTreeMap<ExecutionId, Reports> = BTreeMap::new();
    for (index, On { id, command }) in command.renew.into_iter().enumerate() {
        reports.entry(id).or_default().renew.push((index, command));
    }
    for (index, On { id, command }) in command.steps.into_iter().enumerate() {
        reports.entry(id).or_default().steps.push((index, command));
    }
    for (index, On { id, command }) in command.frames.into_iter().enumerate() {
        reports.entry(id).or_default().frames.push((index, command));
    }
    for (index, On { id, command }) in command.usage.into_iter().enumerate() {
        reports.entry(id).or_default().usage.push((index, command));
    }
    for (index, On { id, command }) in command.finished.into_iter().enumerate() {
        reports.entry(id).or_default().finished.push((index, command));
    }
    let claim = |want: Want| Claim {
        namespace: command.namespace,
        worker: command.worker,
        instance: command.instance,
        incarnation: Some(command.incarnation),
        want,
        wait: command.wait,
    };
    (reports, command.want.map(claim))
}

/// Whether nothing has come of it that the worker should learn at once: no refusal, no request to stop, no task that goes on,
/// no token to be handed out, no budget overrun.
fn nothing_urgent(exchanged: &Exchanged) -> bool {
    let kept = |renewed: &RenewedLease| renewed.expires_at.is_ok() && renewed.stop_requested.is_none();
    exchanged.results.iter().all(is_not_urgent)
        && exchanged.renewed.iter().all(kept)
        && exchanged.steps.iter().all(is_recorded_quietly)
        && exchanged.frames.iter().all(Result::is_ok)
        && exchanged
            .usage
            .iter()
            .all(|reported| matches!(reported, Ok(reported) if !matches!(reported, Reported::HardBreach { .. })))
}

fn is_recorded_quietly(recorded: &Result<RecordedSteps>) -> bool {
    let is_quiet = |recorded: &RecordedSteps| {
        recorded.stop_requested.is_none() && !recorded.budgets.iter().any(|standing| standing.closed)
    };
    recorded.as_ref().is_ok_and(is_quiet)
}

const fn is_not_urgent(result: &Result<FinishedOutcome>) -> bool {
    match result {
        Err(_) => false,
        Ok(FinishedOutcome::WaitedChildren(waited)) => !matches!(waited, WaitedChildren::AlreadySatisfied),
        Ok(FinishedOutcome::Suspended(suspended)) => matches!(suspended, SuspendedTask::Cancelled),
        Ok(
            FinishedOutcome::Completed(_)
            | FinishedOutcome::Failed(_)
            | FinishedOutcome::Released(_)
            | FinishedOutcome::Delayed(_),
        ) => true,
    }
}

impl Answers {
    fn add(&mut self, other: Answers) {
        self.results.extend(other.results);
        self.renewed.extend(other.renewed);
        self.steps.extend(other.steps);
        self.frames.extend(other.frames);
        self.usage.extend(other.usage);
    }

    /// Everything in the order of the command.
    fn in_order(self) -> Exchanged {
        Exchanged {
            results: in_order(self.results),
            renewed: in_order(self.renewed),
            steps: in_order(self.steps),
            frames: in_order(self.frames),
            usage: in_order(self.usage),
            tasks: Vec::new(),
            stops: Vec::new(),
            drain: None,
            server_time: Default::default(),
        }
    }
}

fn in_order<T>(mut indexed: Vec<Indexed<T>>) -> Vec<T> {
    indexed.sort_by_key(|(index, _)| *index);
    indexed.into_iter().map(|(_, answer)| answer).collect()
}

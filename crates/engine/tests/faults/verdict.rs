//! What the store says in the end, against what the clients were told meanwhile.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ff_core::command::lease::Complete;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::record::Happening;
use ff_core::state::PublicState;
use ff_core::view::ExecutionView;
use ff_engine::Engine;
use futures::future::join_all;

use crate::follower::{Follower, Told};
use crate::insist::insist;
use crate::ledger::{End, Ledger, Run};
use crate::window::{Span, Windows};
use crate::worker::is_fenced;

/// How long everything may take to end once nothing is submitted any more.
const PATIENCE: Duration = Duration::from_secs(45);
/// Executions looked at at once.
const READS: usize = 64;

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) submitted: usize,
    pub(crate) completed: usize,
    pub(crate) runs: usize,
    /// Runs of what somebody else had before.
    pub(crate) taken_over: usize,
    pub(crate) reads: u64,
    pub(crate) retries: u64,
    pub(crate) lost_submissions: usize,
    pub(crate) lost_completions: usize,
    pub(crate) lost_leases: usize,
    /// How long before its fault the oldest of these was acknowledged.
    pub(crate) oldest_loss: Option<Duration>,
    /// How often somebody who follows the events was told that some are lost.
    pub(crate) gaps: usize,
    /// Old fences that were tried in the end.
    pub(crate) fences_tried: usize,
}

impl Tally {
    /// Everything that was acknowledged and is lost.
    pub(crate) const fn losses(&self) -> usize {
        self.lost_submissions + self.lost_completions + self.lost_leases
    }
}

/// The reckoning.
pub(crate) struct Verdict<'a> {
    engine: &'a Engine,
    ledger: &'a Ledger,
    windows: &'a Windows,
    /// What the store says; nothing for what it does not know.
    found: HashMap<ExecutionId, Option<ExecutionView>>,
    pub(crate) tally: Tally,
    pub(crate) broken: Vec<String>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn new(engine: &'a Engine, ledger: &'a Ledger, windows: &'a Windows) -> Self {
        Self {
            engine,
            ledger,
            windows,
            found: HashMap::new(),
            tally: Tally::default(),
            broken: Vec::new(),
        }
    }

    /// Waits until everything that was submitted, and is still known, has ended.
    pub(crate) async fn wait_for_ends(&mut self) {
        let give_up_at = Instant::now() + PATIENCE;
        let mut open: Vec<ExecutionId> = self.ledger.submitted().into_iter().map(|(id, _)| id).collect();
        loop {
            let mut still_open = Vec::new();
            for some in open.chunks(READS) {
                for (id, view) in join_all(some.iter().map(|id| self.read(*id))).await {
                    if view.as_ref().is_some_and(|view| !view.state.public_state.is_terminal()) {
                        still_open.push(id);
                    }
                    self.found.insert(id, view);
                }
            }
            open = still_open;
            if open.is_empty() || Instant::now() > give_up_at {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn read(&self, id: ExecutionId) -> (ExecutionId, Option<ExecutionView>) {
        let (answer, _) = insist(self.ledger, || self.engine.get_execution(id)).await;
        match answer {
            Ok(view) => (id, Some(view)),
            Err(rejection) if rejection.code == Code::ExecutionNotFound => (id, None),
            Err(rejection) => panic!("{id} cannot be read: {rejection}"),
        }
    }

    /// Compares everything.
    pub(crate) async fn judge(&mut self, followers: Vec<Follower>) {
        let runs = self.ledger.runs();
        self.judge_submissions();
        for (id, runs) in &runs {
            for (run, next) in runs.iter().zip(runs.iter().skip(1).map(Some).chain([None])) {
                self.judge_run(*id, run, next);
            }
        }
        for (id, span) in self.ledger.missed() {
            if !self.was_lost(id) {
                self.broken
                    .push(format!("{id} was not found, asked at {:?}", span.asked_at));
            }
        }
        self.broken.extend(self.ledger.oddities());
        for follower in followers {
            self.judge_follower(follower).await;
        }
        self.try_old_fences(&runs).await;
        self.tally.retries = self.ledger.retries.load(std::sync::atomic::Ordering::Relaxed);
        self.tally.reads = self.ledger.reads.load(std::sync::atomic::Ordering::Relaxed);
    }

    fn was_lost(&self, id: ExecutionId) -> bool {
        self.found.get(&id).is_some_and(Option::is_none)
    }

    fn judge_submissions(&mut self) {
        for (id, span) in self.ledger.submitted() {
            self.tally.submitted += 1;
            let state = self
                .found
                .get(&id)
                .and_then(Option::as_ref)
                .map(|view| view.state.clone());
            match state {
                None if self.excused(id, span) => self.tally.lost_submissions += 1,
                None => self
                    .broken
                    .push(format!("submission {id} was acknowledged and is lost")),
                Some(state) if state.public_state == PublicState::Completed => self.tally.completed += 1,
                Some(state) => self.broken.push(format!("{id} did not end as it should: {state:?}")),
            }
        }
    }

    fn judge_run(&mut self, id: ExecutionId, run: &Run, next: Option<&Run>) {
        self.tally.runs += 1;
        match run.end {
            Some(End::Completed(span)) => self.judge_completion(id, run, next, span),
            Some(End::GivenBack(_)) => {}
            Some(End::PerhapsGivenBack(_, span)) if next.is_some_and(|next| next.was_claimed_since(span)) => {}
            Some(End::PerhapsGivenBack(code, span)) => self.judge_refusal(id, run, code, span),
            Some(End::Refused(code, span)) => self.judge_refusal(id, run, code, span),
            None => self.broken.push(format!("{id}: a run has no end: {run:?}")),
        }
        let Some(next) = next else { return };
        self.tally.taken_over += 1;
        let let_go = match run.end {
            Some(End::Completed(_)) => return,
            Some(End::GivenBack(span) | End::PerhapsGivenBack(_, span)) => next.was_claimed_since(span),
            _ => false,
        };
        let overlap = next.claimed.answered_at < run.believed_until;
        if overlap && !let_go && !self.lease_was_lost(id, run) {
            self.broken.push(format!("{id} runs twice: {run:?} and {next:?}"));
        }
    }

    /// A completion stands, and nobody runs what was completed.
    fn judge_completion(&mut self, id: ExecutionId, run: &Run, next: Option<&Run>, span: Span) {
        let view = self.found.get(&id).and_then(Option::as_ref);
        let stands = view.is_some_and(|view| view.lease_epoch == run.fence.lease_epoch);
        if stands && next.is_none() {
            return;
        }
        if self.excused(id, span) {
            self.tally.lost_completions += 1;
        } else {
            self.broken.push(format!(
                "a completion of {id} was acknowledged and does not stand: {run:?}, then {next:?}"
            ));
        }
    }

    /// Whoever may believe to have the lease is refused only when the store lost it.
    fn judge_refusal(&mut self, id: ExecutionId, run: &Run, code: Code, span: Span) {
        if span.answered_at >= run.believed_until {
            return;
        }
        if self.lease_was_lost(id, run) || self.was_lost(id) {
            self.tally.lost_leases += 1;
        } else {
            self.broken.push(format!(
                "{id}: the holder of a live lease was refused with {code}: {run:?}"
            ));
        }
    }

    fn lease_was_lost(&mut self, id: ExecutionId, run: &Run) -> bool {
        self.excused(id, run.claimed) || run.renewed.is_some_and(|span| self.excused(id, span))
    }

    fn excused(&mut self, id: ExecutionId, span: Span) -> bool {
        let age = self.windows.excuse(id, span);
        self.tally.oldest_loss = self.tally.oldest_loss.max(age);
        age.is_some()
    }

    /// Whoever follows the events was told of every beginning and every end that stands, once and in order, and of nothing else;
    /// or that it has missed something, which happens to nobody where nothing is lost.
    async fn judge_follower(&mut self, mut follower: Follower) {
        let give_up_at = Instant::now() + PATIENCE;
        while !self.unlike(&follower).is_empty() && Instant::now() < give_up_at {
            follower.read_on().await;
        }
        self.broken.extend(self.unlike(&follower));
        self.tally.gaps += follower.gaps;
        if follower.gaps > 0 && self.windows.is_empty() {
            let gaps = follower.gaps;
            self.broken
                .push(format!("events were refused {gaps} times, and nothing is lost"));
        }
    }

    /// What is told otherwise than it is.
    fn unlike(&self, follower: &Follower) -> Vec<String> {
        let unlike = self.found.iter().filter_map(|(id, view)| {
            let told: Vec<Told> = follower.told.get(id).cloned().unwrap_or_default();
            let ends = |(what, _): &Told| matches!(what, Happening::Created | Happening::Completed);
            let ends: Vec<Told> = told.iter().copied().filter(ends).collect();
            let stands = view.as_ref().map_or(Vec::new(), |view| {
                let completed = (Happening::Completed, Some(view.lease_epoch));
                vec![(Happening::Created, None), completed]
            });
            (ends != stands).then(|| format!("{id} is told as {told:?}, and {stands:?} stands"))
        });
        unlike.collect()
    }

    /// Whoever lost a lease can do nothing with it.
    async fn try_old_fences(&mut self, runs: &HashMap<ExecutionId, Vec<Run>>) {
        let old = runs.values().flatten().filter(|run| !self.is_standing(run));
        let old: Vec<Run> = old.cloned().collect();
        self.tally.fences_tried = old.len();
        for some in old.chunks(READS) {
            let broken = join_all(some.iter().map(|run| self.try_old_fence(run))).await;
            self.broken.extend(broken.into_iter().flatten());
        }
    }

    async fn try_old_fence(&self, run: &Run) -> Option<String> {
        let command = Complete {
            fence: Some(run.fence),
            result: None,
            ..Complete::default()
        };
        let command = On::new(run.id, command);
        let (answer, _) = insist(self.ledger, || self.engine.complete(command.clone())).await;
        match answer {
            Err(rejection) if is_fenced(rejection.code) => None,
            Err(rejection) if rejection.code == Code::ExecutionNotFound && self.was_lost(run.id) => None,
            other => Some(format!("an old fence is answered with {other:?}: {run:?}")),
        }
    }

    fn is_standing(&self, run: &Run) -> bool {
        let view = self.found.get(&run.id).and_then(Option::as_ref);
        matches!(run.end, Some(End::Completed(_))) && view.is_some_and(|view| view.lease_epoch == run.fence.lease_epoch)
    }
}

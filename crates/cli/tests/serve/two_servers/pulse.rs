//! Work that needs one server only: submitted, claimed and completed there, again and again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task, Want};
use ff_core::command::lease::Complete;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::On;
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_sdk::{Fabric, Remote};
use serde_json::json;

use crate::killed::ledger::Ledger;
use crate::killed::told::{Ended, Ending, Run, When};

const WAIT: ff_core::time::Duration = ff_core::time::Duration::from_millis(500);
const LEASE_TTL: ff_core::time::Duration = ff_core::time::Duration::from_secs(5);
const TASKS_MAX: usize = 4;
const PAUSE: Duration = Duration::from_millis(10);

/// When something was completed.
#[derive(Default)]
pub(crate) struct Beats(Mutex<Vec<Instant>>);

impl Beats {
    fn beat(&self) {
        self.moments().push(Instant::now());
    }

    /// Whether something was completed since then.
    pub(crate) fn any(&self, since: Instant) -> bool {
        self.moments().last().is_some_and(|last| *last > since)
    }

    /// The longest time from then until now in which nothing was completed.
    pub(crate) fn longest_silence(&self, since: Instant) -> Duration {
        let beats = self.moments();
        let later = beats.iter().copied().filter(|beat| *beat > since);
        let moments: Vec<Instant> = [since].into_iter().chain(later).chain([Instant::now()]).collect();
        moments
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .max()
            .unwrap_or_default()
    }

    fn moments(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client of one server.
pub(crate) struct Pulse {
    pub(crate) client: Remote,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) beats: Arc<Beats>,
    /// The lane it has for itself.
    pub(crate) name: String,
}

impl Pulse {
    /// Submits and works until it is told to stop, one after the other.
    pub(crate) async fn run(self) {
        while !self.ledger.workers_stop() {
            if !self.ledger.submitters_stop() {
                self.submit().await;
            }
            let asked = Instant::now();
            for task in self.claim().await {
                self.complete(task, asked).await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn submit(&self) {
        let command = CreateExecution {
            lane_id: self.lane(),
            policy: Policy {
                budget_ids: BTreeSet::from([self.ledger.budget_id]),
                quota_policy_id: self.ledger.quota_policy_id,
                ..Policy::default()
            },
            ..CreateExecution::new(ExecutionKind::parse("pulse").unwrap(), Payload::default())
        };
        let asked = Instant::now();
        match self.client.create_execution(command).await {
            Ok(created) => self.ledger.note_submitted(created.execution_id(), When::since(asked)),
            Err(refusal) => self.ledger.note_oddity("a pulse", refusal),
        }
    }

    async fn claim(&self) -> Vec<Task> {
        let claim = Claim {
            namespace: Namespace::default_namespace(),
            worker: WorkerId::parse("pulse").unwrap(),
            instance: WorkerInstanceId::parse(&self.name).unwrap(),
            incarnation: None,
            want: Want {
                lanes: vec![self.lane()],
                lane_order: LaneOrder::Strict,
                capabilities: CapabilitySet::default(),
                max: TASKS_MAX,
                lease_ttl: Some(LEASE_TTL),
            },
            wait: WAIT,
        };
        match self.client.claim(claim).await {
            Ok(tasks) => tasks,
            // It is not repeated: what it was handed and has not heard of comes back by itself.
            Err(refusal) if refusal.code.retryable() => Vec::new(),
            Err(refusal) => {
                self.ledger.note_oddity("a claim of a pulse", refusal);
                Vec::new()
            }
        }
    }

    async fn complete(&self, task: Task, asked: Instant) {
        let run = Run::of(&task, asked);
        let result = json!({ "epoch": task.fence.lease_epoch, "number": self.ledger.number() });
        let command = Complete {
            fence: Some(task.fence),
            result: Some(Payload::json(&result)),
            ..Complete::default()
        };
        let asked = Instant::now();
        let told = self.client.complete(On::new(task.execution_id, command)).await;
        if told.is_ok() {
            self.beats.beat();
        }
        self.ledger.note_answer();
        let end = Ended {
            how: Ending::Complete(result),
            told: told.map(drop).map_err(|refusal| refusal.code),
            when: When::since(asked),
        };
        self.ledger.note_run(Run { end: Some(end), ..run });
    }

    fn lane(&self) -> LaneId {
        LaneId::parse(&self.name).unwrap()
    }
}

//! Children on their way: those that are asked for together are started by one call.

use std::sync::PoisonError;

use ff_core::command::spawn::{Child, SpawnChildren};
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::{SPAWN_BYTES_MAX, SPAWN_CHILDREN_MAX};
use ff_core::name::StepKey;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Ctx;
use super::gate::Pause;
use crate::task_error::TaskError;
use crate::worker::{Backoff, is_lost};

/// Children that nobody has sent yet, and the turn to send.
#[derive(Default)]
pub(crate) struct Spawning {
    asked: std::sync::Mutex<Vec<Asked>>,
    turn: tokio::sync::Mutex<()>,
}

/// A child, and where its id goes.
type Asked = (Child, oneshot::Sender<Result<ExecutionId>>);

impl Spawning {
    fn ask(&self, asked: Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    /// The next children that fit into one call.
    fn next(&self) -> Vec<Asked> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = 0;
        let fits = |(child, _): &&Asked| {
            bytes += child.input.len();
            bytes <= SPAWN_BYTES_MAX
        };
        let count = asked.iter().take(SPAWN_CHILDREN_MAX).take_while(fits).count();
        // One that is too large alone is refused by itself.
        let count = count.max(1).min(asked.len());
        asked.drain(..count).collect()
    }
}

impl Ctx {
    /// Starts a child, together with those that are asked for at the same time. A child that was started is found again.
    pub(super) async fn start_child(&self, child: Child) -> std::result::Result<ExecutionId, TaskError> {
        let key = child.step.clone();
        match self.send_child(child).await {
            Ok(id) => Ok(id),
            Err(refusal) if is_lost(refusal.code) => self.pause_with(None, Pause::Abandon).await,
            Err(refusal) => Err(not_spawned(&key, &refusal)),
        }
    }

    async fn send_child(&self, child: Child) -> Result<ExecutionId> {
        loop {
            let (answer, mut answered) = oneshot::channel();
            self.run.spawning.ask((child.clone(), answer));
            let _turn = self.run.spawning.turn.lock().await;
            let mut answer = answered.try_recv();
            if answer == Err(TryRecvError::Empty) {
                // Whatever else is polled together with this is asked for by then.
                tokio::task::yield_now().await;
                self.send_children().await;
                answer = answered.try_recv();
            }
            // Where there is none, whoever sent it was dropped before it was answered.
            if let Ok(answer) = answer {
                return answer;
            }
        }
    }

    /// Sends whatever is asked for, and answers it.
    async fn send_children(&self) {
        loop {
            let (children, answers): (Vec<Child>, Vec<_>) = self.run.spawning.next().into_iter().unzip();
            if children.is_empty() {
                return;
            }
            let ids = match self.spawn_children(children.clone()).await {
                Ok(ids) => ids.into_iter().map(Ok).collect(),
                // Together they are refused for what one of them says.
                Err(refusal) if children.len() > 1 && !is_lost(refusal.code) => self.spawn_each(children).await,
                Err(refusal) => vec![Err(refusal); children.len()],
            };
            for (answer, id) in answers.into_iter().zip(ids) {
                // Who does not wait for it any more finds it in the journal.
                let _ = answer.send(id);
            }
        }
    }

    async fn spawn_each(&self, children: Vec<Child>) -> Vec<Result<ExecutionId>> {
        let mut ids = Vec::new();
        for child in children {
            let spawned = self.spawn_children(vec![child]).await;
            ids.push(spawned.and_then(|ids| ids.first().copied().ok_or_else(unanswered)));
        }
        ids
    }

    /// One call, repeated until it is answered or the lease is over.
    async fn spawn_children(&self, children: Vec<Child>) -> Result<Vec<ExecutionId>> {
        let lease = self.run.lease.as_ref();
        let command = SpawnChildren {
            fence: lease.map(|lease| lease.fence),
            children,
        };
        let mut backoff = Backoff::of_calls();
        loop {
            match self
                .run
                .client
                .spawn_children(On::new(self.id(), command.clone()))
                .await
            {
                Ok(spawned) => return Ok(spawned.children.iter().map(|child| child.execution_id).collect()),
                Err(refusal) if refusal.code.retryable() && self.stop_now().is_none() => {
                    tokio::time::sleep(backoff.pause()).await;
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }
}

/// What is told where an answer names fewer children than were sent.
fn unanswered() -> Rejection {
    Code::Internal.because("the engine has not said which child was started")
}

/// A child that the engine does not take.
fn not_spawned(key: &StepKey, refusal: &Rejection) -> TaskError {
    let told = format!("child {key} could not be started: {refusal}");
    match refusal.code.retryable() {
        true => TaskError::transient(told),
        false => TaskError::permanent(told),
    }
}

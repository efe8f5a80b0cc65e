//! A lease in the hands of a worker that does one thing at a time.

use std::sync::Arc;
use std::time::Instant;

use ff_core::command::claim::Task;
use ff_core::command::lease::{Complete, Completed, Renew};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_sdk::{Fabric, Remote};
use serde_json::{Value, json};

use crate::killed::held::record_steps;
use crate::killed::ledger::Ledger;
use crate::killed::told::{Ended, Ending, Recorded, Run, When};

/// A lease, and what was said and told under it.
pub(super) struct Lease {
    client: Remote,
    ledger: Arc<Ledger>,
    task: Task,
    run: Run,
}

impl Lease {
    pub(super) fn new(client: Remote, ledger: Arc<Ledger>, task: Task, asked: Instant) -> Self {
        Self {
            run: Run::of(&task, asked),
            client,
            ledger,
            task,
        }
    }

    pub(super) fn id(&self) -> ExecutionId {
        self.task.execution_id
    }

    pub(super) fn epoch(&self) -> u64 {
        self.task.fence.lease_epoch
    }

    /// The names of the steps it was handed.
    pub(super) fn steps_handed_on(&self) -> Vec<String> {
        let journal = self.task.journal.iter();
        let steps = journal.flat_map(|journal| &journal.steps);
        steps.map(|step| step.key.to_string()).collect()
    }

    /// The names of the steps it recorded.
    pub(super) fn steps_recorded(&self) -> Vec<String> {
        let recorded = self.run.steps.iter().filter(|recorded| recorded.told.is_ok());
        let numbers = recorded.flat_map(|recorded| &recorded.numbers);
        numbers.map(ToString::to_string).collect()
    }

    pub(super) async fn renew(&self) -> Result<(), Code> {
        let renew = Renew {
            fence: Some(self.task.fence),
            ..Renew::default()
        };
        let renewed = self.client.renew(On::new(self.id(), renew)).await;
        renewed.map(drop).map_err(|refusal| refusal.code)
    }

    /// Records two steps, which are there together or not at all.
    pub(super) async fn record(&mut self) -> Result<(), Code> {
        let numbers = vec![self.ledger.number(), self.ledger.number()];
        let asked = Instant::now();
        let steps = On::new(self.id(), record_steps(self.task.fence, &numbers));
        let told = self.client.record_steps(steps).await;
        let told = told.map(drop).map_err(|refusal| refusal.code);
        let when = When::since(asked);
        self.run.steps.push(Recorded { numbers, told, when });
        told
    }

    /// Completes it with a result nobody had before.
    pub(super) async fn complete(&mut self) -> Result<Completed, Code> {
        let result = json!({ "epoch": self.epoch(), "number": self.ledger.number() });
        let asked = Instant::now();
        let told = self.send_completion(&result).await;
        if told.is_ok() {
            self.run.end = Some(Ended {
                how: Ending::Complete(result),
                told: Ok(()),
                when: When::since(asked),
            });
        }
        told
    }

    /// Says once more that it is completed.
    pub(super) async fn complete_again(&self) -> Result<Completed, Code> {
        let result = self.run.completion().expect("it was completed").clone();
        self.send_completion(&result).await
    }

    /// What every call is refused with that a holder may make.
    pub(super) async fn all_calls(&mut self) -> [Code; 3] {
        [
            self.renew().await.unwrap_err(),
            self.record().await.unwrap_err(),
            self.send_completion(&Value::Null).await.unwrap_err(),
        ]
    }

    /// Everything about it is told.
    pub(super) fn note(self) {
        self.ledger.note_run(self.run);
    }

    async fn send_completion(&self, result: &Value) -> Result<Completed, Code> {
        let complete = Complete {
            fence: Some(self.task.fence),
            result: Some(Payload::json(result)),
            ..Complete::default()
        };
        let told = self.client.complete(On::new(self.id(), complete)).await;
        told.map_err(|refusal| refusal.code)
    }
}

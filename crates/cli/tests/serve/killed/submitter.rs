//! A client that submits: under an id, under a key, many at once, or with nothing to be known by but what the client adds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Rejection;
use ff_core::name::{ExecutionKind, IdempotencyKey};
use ff_core::payload::Payload;
use ff_core::policy::{Backoff, Policy, RetryPolicy};
use ff_sdk::{Fabric, Remote};
use uuid::Uuid;

use super::ledger::Ledger;
use super::told::When;
use crate::luck::Luck;

/// What workers do with an execution is its kind.
pub(crate) const PLAIN: &str = "plain";
pub(crate) const FAILS_ONCE: &str = "fails-once";
pub(crate) const ASKS: &str = "asks";

/// Executions that may be open before submitters wait for workers.
const OPEN_MAX: u64 = 60;
const BATCH: usize = 5;

/// Submits until it is told to stop.
pub(crate) async fn submit(client: Remote, ledger: Arc<Ledger>, mut luck: Luck) {
    while !ledger.submitters_stop() {
        if ledger.open() >= OPEN_MAX {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        }
        let plain = any_execution(&ledger, &mut luck);
        let asked = Instant::now();
        match luck.below(4) {
            0 => note(&ledger, client.create_execution(plain).await, When::since(asked)),
            1 => {
                let execution_uuid = Some(Uuid::now_v7());
                let named = CreateExecution {
                    execution_uuid,
                    ..plain
                };
                note(&ledger, client.create_execution(named).await, When::since(asked));
            }
            2 => under_a_key(&client, &ledger, plain).await,
            _ => many(&client, &ledger, &mut luck).await,
        }
    }
}

fn any_execution(ledger: &Ledger, luck: &mut Luck) -> CreateExecution {
    let kind = match luck.below(10) {
        0..2 => FAILS_ONCE,
        2..5 => ASKS,
        _ => PLAIN,
    };
    let mut budget_ids = BTreeSet::new();
    if luck.below(3) == 0 {
        budget_ids.insert(ledger.budget_id);
    }
    let retry_policy = Some(RetryPolicy {
        backoff: Backoff::Fixed {
            delay: ff_core::time::Duration::from_millis(luck.within(0..30)),
        },
        ..RetryPolicy::default()
    });
    CreateExecution {
        policy: Policy {
            retry_policy,
            budget_ids,
            quota_policy_id: ledger.quota_policy_id,
            ..Policy::default()
        },
        ..CreateExecution::new(ExecutionKind::parse(kind).unwrap(), Payload::binary(vec![7; 100]))
    }
}

/// The same again is the same execution.
async fn under_a_key(client: &Remote, ledger: &Ledger, plain: CreateExecution) {
    let idempotency_key = Some(IdempotencyKey::parse(Uuid::now_v7().to_string()).unwrap());
    let command = CreateExecution {
        idempotency_key,
        ..plain
    };
    let asked = Instant::now();
    let first = client.create_execution(command.clone()).await;
    let told = When::since(asked);
    match (&first, client.create_execution(command).await) {
        (
            Ok(first),
            Ok(Created::Duplicate {
                execution_id,
                content_differs: false,
            }),
        ) if execution_id == first.execution_id() => ledger.note_answer(),
        // The store does not know the first one any more.
        (Ok(_), Ok(Created::Created { execution_id })) if ledger.may_be_forgotten(asked) => {
            ledger.note_submitted(execution_id, When::since(told.told));
        }
        (_, other) => ledger.note_oddity("a repeated submission", format_args!("{other:?}, first {first:?}")),
    }
    note(ledger, first, told);
}

async fn many(client: &Remote, ledger: &Ledger, luck: &mut Luck) {
    let named = |_| CreateExecution {
        execution_uuid: Some(Uuid::now_v7()),
        ..any_execution(ledger, luck)
    };
    let commands = (0..BATCH).map(named).collect();
    let asked = Instant::now();
    match client.create_executions(commands).await {
        Ok(results) => {
            let when = When::since(asked);
            results.into_iter().for_each(|created| note(ledger, created, when));
        }
        Err(refusal) => ledger.note_oddity("a batch", refusal),
    }
}

/// One that was there before is this very one: nobody else has its name.
fn note(ledger: &Ledger, created: Result<Created, Rejection>, when: When) {
    match created {
        Ok(Created::Duplicate {
            execution_id,
            content_differs: true,
        }) => ledger.note_oddity("another execution has this name", execution_id),
        Ok(created) => {
            if matches!(created, Created::Duplicate { .. }) {
                ledger.note_repeated();
            }
            ledger.note_submitted(created.execution_id(), when);
        }
        Err(refusal) => ledger.note_oddity("a submission", refusal),
    }
}

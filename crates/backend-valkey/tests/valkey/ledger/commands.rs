//! How many commands of the server a step takes, alone and in a batch, told by the server itself.

use ff_core::command::budget::CreateBudget;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::{Give, LedgerAnswer, LedgerCall};
use ff_core::machine::budget::{self, UsageReport};
use ff_core::machine::quota::{self, Admit};
use ff_core::name::{Dimension, IdempotencyKey, Namespace};
use ff_core::record::{Limits, OnHardLimit, UsageIdentity};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::{Scratch, budget as budget_account, quota as quota_account};

const BATCH: u128 = 64;

/// What a step may cost: alone, and many together.
struct Bound {
    alone: usize,
    batch: usize,
}

// Admissions, releases and reports with code of their own took 13, 8 and 5 commands alone, and 643, 260 and 131 in a batch.
const TAKE: Bound = Bound { alone: 11, batch: 138 };
const GIVE: Bound = Bound { alone: 6, batch: 69 };
const DRAW: Bound = Bound { alone: 5, batch: 131 };

fn take(number: u128) -> LedgerCall {
    let command = CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: Duration::from_secs(60),
        max_requests_per_window: Some(1_000),
        max_concurrent: Some(1_000),
        jitter: Duration::ZERO,
    };
    let mut policy = None;
    let id = QuotaPolicyId::from_uuid(Uuid::from_u128(1));
    quota::create(&mut policy, id, &command, Timestamp::default()).unwrap();
    let ask = Admit {
        grant_id: grant(number),
        execution_id: ExecutionId::new(3, Uuid::from_u128(number)),
        attempt_index: 0,
        continues: false,
        dice: 0,
    };
    LedgerCall::Take(quota::account::take(quota_account(1), 1, &policy.unwrap(), &ask))
}

fn give(number: u128) -> LedgerCall {
    LedgerCall::Give(Give {
        path: vec![quota_account(1)],
        grant: grant(number),
        undo: false,
        back: Vec::new(),
    })
}

fn draw(number: u128) -> LedgerCall {
    let tokens = Dimension::parse("tokens").unwrap();
    let limits = Limits {
        soft: Some(1_000_000),
        hard: Some(1_000_000),
    };
    let command = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: String::new(),
        dimensions: [(tokens.clone(), limits)].into(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    let mut definition = None;
    let id = BudgetId::from_uuid(Uuid::from_u128(1));
    budget::create(&mut definition, id, &command, Timestamp::default()).unwrap();
    let key = IdempotencyKey::parse(format!("report-{number}")).unwrap();
    let report = UsageReport {
        identity: Some(UsageIdentity::Key(key)),
        ..UsageReport::new([(tokens, 1)].into())
    };
    LedgerCall::Draw(budget::account::draw(
        budget_account(1),
        1,
        &definition.unwrap(),
        &report,
    ))
}

fn grant(number: u128) -> GrantId {
    GrantId::from_uuid(Uuid::from_u128(1_000 + number))
}

/// How many commands the functions of the library ran, and in how many calls, since the last reset.
async fn commands(scratch: &Scratch) -> (usize, usize) {
    let stats = scratch.server.info("commandstats").await;
    let (mut inside, mut calls) = (0, 0);
    for line in stats.lines().filter_map(|line| line.strip_prefix("cmdstat_")) {
        let (command, counts) = line.split_once(":calls=").unwrap();
        let count: usize = counts.split(',').next().unwrap().parse().unwrap();
        match command {
            "fcall" => calls += count,
            "info" | "config|resetstat" => {}
            _ => inside += count,
        }
    }
    (inside, calls)
}

async fn cost(scratch: &Scratch, calls: Vec<LedgerCall>, done: fn(&LedgerAnswer) -> bool) -> usize {
    scratch.server.ask("CONFIG RESETSTAT").await;
    let answers = scratch.ask(calls).await;
    assert!(answers.iter().all(done), "{answers:?}");
    let (inside, calls) = commands(scratch).await;
    assert_eq!(calls, 1, "a batch is one call");
    inside
}

async fn stays_within(call: fn(u128) -> LedgerCall, done: fn(&LedgerAnswer) -> bool, scratch: &Scratch, bound: &Bound) {
    let alone = cost(scratch, vec![call(0)], done).await;
    let batch = cost(scratch, (1..=BATCH).map(call).collect(), done).await;
    assert!(
        alone <= bound.alone && batch <= bound.batch,
        "{alone} alone, {batch} in a batch"
    );
}

#[tokio::test]
async fn admissions_and_releases_take_few_commands() {
    let scratch = Scratch::new().await;
    scratch.create(quota_account(1)).await;
    let is_taken = |answer: &LedgerAnswer| matches!(answer, LedgerAnswer::Taken { again: false, .. });
    stays_within(take, is_taken, &scratch, &TAKE).await;
    stays_within(give, |answer| *answer == LedgerAnswer::Given, &scratch, &GIVE).await;
}

#[tokio::test]
async fn reports_take_few_commands() {
    let scratch = Scratch::new().await;
    scratch.create(budget_account(1)).await;
    stays_within(draw, |answer| matches!(answer, LedgerAnswer::Drawn(_)), &scratch, &DRAW).await;
}

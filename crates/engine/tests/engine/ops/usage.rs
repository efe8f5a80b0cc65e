//! report_usage: counted once, on the attempt and at the budget, whatever gets lost on the way.

use std::collections::BTreeMap;

use super::support::faulty::{Call, Fault};
use super::support::{Held, World, code, work};
use ff_core::command::budget::{BudgetView, CreateBudget, Reported, UpdateLimits};
use ff_core::command::lease::{Renew, ReportUsage};
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::name::{Dimension, IdempotencyKey, Namespace, RequestId};
use ff_core::policy::Policy;
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;
use uuid::Uuid;

fn renewal(held: Held) -> On<ExecutionId, Renew> {
    let fence = Some(held.fence);
    On::new(
        held.id,
        Renew {
            fence,
            ..Renew::default()
        },
    )
}

async fn budget(world: &World) -> BudgetId {
    let hard = Limits {
        soft: None,
        hard: Some(100),
    };
    let command = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "tokens".to_owned(),
        dimensions: [(tokens(), hard)].into(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    world.engine.create_budget(command).await.unwrap().budget_id
}

fn tokens() -> Dimension {
    Dimension::parse("tokens").unwrap()
}

fn usage(held: Held, budget_id: BudgetId, number: u8) -> On<ExecutionId, ReportUsage> {
    let report = ReportUsage {
        fence: Some(held.fence),
        budget_id,
        deltas: [(tokens(), 60)].into(),
        dedup_key: None,
        request_id: Some(RequestId::parse(format!("request-{number}")).unwrap()),
    };
    On::new(held.id, report)
}

async fn spent(world: &World, budget_id: BudgetId) -> u64 {
    let view: BudgetView = world.engine.get_budget(budget_id).await.unwrap();
    view.dimensions[&tokens()].usage
}

fn recorded(world: &World, held: Held, budget_id: BudgetId) -> u64 {
    let attempt = world.read(held.id).attempt.unwrap();
    attempt.usage.get(&budget_id).map_or(0, |usage| usage[&tokens()])
}

#[tokio::test]
async fn usage_is_recorded_sent_and_cleared_and_the_answer_is_the_budgets() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    let first = world.engine.report_usage(usage(held, budget_id, 1)).await.unwrap();
    assert_eq!(first, Reported::Ok);
    let second = world.engine.report_usage(usage(held, budget_id, 2)).await.unwrap();
    assert!(matches!(second, Reported::HardBreach { .. }), "{second:?}");
    assert_eq!(spent(&world, budget_id).await, 120);
    assert_eq!(recorded(&world, held, budget_id), 120);
    assert!(world.read(held.id).outbox.is_empty());
}

#[tokio::test]
async fn a_repeated_report_counts_once() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    let mut by_key = usage(held, budget_id, 1);
    by_key.command.dedup_key = Some(IdempotencyKey::parse("call-1").unwrap());
    let by_request = usage(held, budget_id, 2);
    for report in [by_key, by_request] {
        world.engine.report_usage(report.clone()).await.unwrap();
        let again = world.engine.report_usage(report).await.unwrap();
        assert_eq!(again, Reported::AlreadyApplied);
    }
    assert_eq!(spent(&world, budget_id).await, 120);
    assert_eq!(recorded(&world, held, budget_id), 120);
}

#[tokio::test]
async fn usage_counts_once_when_the_reply_to_the_record_is_lost_and_others_write_meanwhile() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    let rewritten = Fault::Lost(Box::new(move |memory| {
        let key = ff_core::record::RecordKey::Execution(held.id);
        let snapshot = super::support::load(memory, held.id.partition(), [key.clone()]);
        let mut draft = ff_core::machine::Draft::default();
        draft.put(snapshot.execution(&key).unwrap().clone());
        super::support::commit(memory, draft, &snapshot);
    }));
    world.backend.script(Call::Commit, rewritten);
    let mut nameless = usage(held, budget_id, 1);
    nameless.command.request_id = None;
    let reported = world.engine.report_usage(nameless).await.unwrap();
    assert_eq!(reported, Reported::Ok);
    assert_eq!(spent(&world, budget_id).await, 60);
    assert_eq!(recorded(&world, held, budget_id), 60);
}

#[tokio::test]
async fn usage_waits_in_the_outbox_for_a_budget_that_cannot_be_reached() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    // The first call says that the budget exists; the one that charges it fails.
    spent(&world, budget_id).await;
    let report = usage(held, budget_id, 1);
    world.backend.script(Call::Ledger, Fault::After(Box::new(|_| ())));
    world.backend.script(Call::Ledger, Fault::Down);
    assert_eq!(code(world.engine.report_usage(report.clone()).await), Code::Unavailable);
    assert_eq!(world.read(held.id).outbox.len(), 1);
    assert_eq!(recorded(&world, held, budget_id), 60);

    assert_eq!(world.engine.report_usage(report.clone()).await.unwrap(), Reported::Ok);
    assert_eq!(
        world.engine.report_usage(report).await.unwrap(),
        Reported::AlreadyApplied
    );
    assert!(world.read(held.id).outbox.is_empty());
    assert_eq!(
        (spent(&world, budget_id).await, recorded(&world, held, budget_id)),
        (60, 60)
    );
}

#[tokio::test]
async fn a_charge_whose_reply_was_lost_is_not_charged_again() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    let report = usage(held, budget_id, 1);
    world.backend.script(Call::Ledger, Fault::After(Box::new(|_| ())));
    world.backend.script(Call::Ledger, Fault::lost());
    assert_eq!(code(world.engine.report_usage(report.clone()).await), Code::Unavailable);
    let again = world.engine.report_usage(report).await.unwrap();
    assert_eq!(again, Reported::Ok, "the same report, and the answer that was lost");
    assert!(world.read(held.id).outbox.is_empty());
    assert_eq!(
        (spent(&world, budget_id).await, recorded(&world, held, budget_id)),
        (60, 60)
    );
}

#[tokio::test]
async fn a_lost_charge_is_not_charged_again_under_a_key_that_is_not_remembered() {
    let world = World::new();
    let unremembered = CreateExecution {
        policy: Policy {
            dedup_window: Some(Duration::ZERO),
            ..Policy::default()
        },
        ..work()
    };
    let (held, budget_id) = (world.running(unremembered).await, budget(&world).await);
    let mut report = usage(held, budget_id, 1);
    report.command.dedup_key = Some(IdempotencyKey::parse("call-1").unwrap());
    world.backend.script(Call::Ledger, Fault::After(Box::new(|_| ())));
    world.backend.script(Call::Ledger, Fault::lost());
    assert_eq!(code(world.engine.report_usage(report.clone()).await), Code::Unavailable);
    assert_eq!(world.engine.report_usage(report).await.unwrap(), Reported::Ok);
    assert_eq!(
        (spent(&world, budget_id).await, recorded(&world, held, budget_id)),
        (60, 60)
    );
}

#[tokio::test]
async fn a_clearing_that_fails_leaves_the_answer_and_the_outbox_alone() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    world.engine.renew(renewal(held)).await.unwrap();
    world.backend.script(Call::Commit, Fault::After(Box::new(|_| ())));
    for _ in 0..4 {
        world.backend.script(Call::Commit, Fault::Down);
    }
    let reported = world.engine.report_usage(usage(held, budget_id, 1)).await.unwrap();
    assert_eq!(reported, Reported::Ok);
    assert_eq!(world.read(held.id).outbox.len(), 1);
}

#[tokio::test]
async fn usage_of_an_unknown_or_foreign_budget_is_recorded_nowhere() {
    let world = World::new();
    let held = world.running(work()).await;
    let unknown = BudgetId::from_uuid(Uuid::from_u128(1));
    let foreign = CreateBudget {
        budget_id: None,
        namespace: Namespace::parse("elsewhere").unwrap(),
        scope: String::new(),
        dimensions: BTreeMap::new(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    let foreign = world.engine.create_budget(foreign).await.unwrap().budget_id;
    let deleted = budget(&world).await;
    world.engine.delete_budget(deleted).await.unwrap();
    for budget_id in [unknown, foreign, deleted] {
        let refused = world.engine.report_usage(usage(held, budget_id, 1)).await;
        assert_eq!(code(refused), Code::BudgetNotFound);
        assert_eq!(recorded(&world, held, budget_id), 0);
    }
    // Whoever has no lease learns nothing about budgets.
    let mut stale = usage(held, unknown, 1);
    stale.command.fence.as_mut().unwrap().lease_epoch += 1;
    assert_eq!(code(world.engine.report_usage(stale).await), Code::StaleLease);
}

#[tokio::test]
async fn a_repeated_report_is_answered_although_its_budget_was_deleted() {
    let world = World::new();
    let (held, budget_id) = (world.running(work()).await, budget(&world).await);
    let report = usage(held, budget_id, 1);
    world.engine.report_usage(report.clone()).await.unwrap();
    world.engine.delete_budget(budget_id).await.unwrap();
    assert_eq!(
        world.engine.report_usage(report).await.unwrap(),
        Reported::AlreadyApplied
    );
    let update = UpdateLimits {
        dimensions: BTreeMap::new(),
    };
    let gone = world.engine.update_limits(On::new(budget_id, update)).await;
    assert_eq!(code(gone), Code::BudgetNotFound);
}

//! What running work reports to its budgets.

use std::collections::BTreeMap;

use ff_core::command::budget::{ChargeBudget, CreateBudget, Reported};
use ff_core::command::claim::Task;
use ff_core::command::lease::{Completed, ReportUsage};
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::name::IdempotencyKey;
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    HOUR, Scene, WORKER, all, budget_of, deltas, fresh, other_namespace, refused, request, submission, tokens, under,
    usage, with_policy,
};

pub(crate) async fn usage_stands_on_the_attempt_and_in_the_budget(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    for _ in 0..2 {
        assert_eq!(scene.report(&task, budget, 2).await.unwrap(), Reported::Ok);
    }
    scene.settle().await;
    assert_eq!(scene.spent(budget).await, 4);
    assert_eq!(on_attempt(&scene, &task, budget).await, 4);
}

pub(crate) async fn usage_is_summed_over_the_attempts_of_an_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let policy = json!({ "budget_ids": [budget], "retry_policy": { "max_retries": 1, "backoff": { "fixed": { "delay_ms": 0 } } } });
    let first = scene.running(with_policy(&policy)).await;
    let named = ReportUsage {
        dedup_key: Some(IdempotencyKey::parse("call-1").unwrap()),
        ..usage(&first, budget, 2)
    };
    for _ in 0..2 {
        send(&scene, &first, named.clone()).await;
    }
    scene.fail(&first, "transient").await.unwrap();
    scene.after(Duration::from_secs(1)).await;
    let second = scene.claim(WORKER).await;
    scene.report(&second, budget, 3).await.unwrap();
    scene.settle().await;
    let view = scene.fabric.get_execution(first.execution_id).await.unwrap();
    assert_eq!(view.usage, deltas(5));
}

pub(crate) async fn a_holder_gets_the_answer_of_the_budget(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let soft = scene.report(&task, budget, 6).await.unwrap();
    assert!(matches!(soft, Reported::SoftBreach { .. }));
    let hard = scene.report(&task, budget, 5).await.unwrap();
    let Reported::HardBreach { first, .. } = hard else {
        panic!("11 of 10 are spent");
    };
    assert_eq!((first.current, first.limit), (11, 10));
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now, "it may go on");
}

pub(crate) async fn a_repeated_usage_report_counts_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let by_key = ReportUsage {
        dedup_key: Some(IdempotencyKey::parse("call-1").unwrap()),
        ..usage(&task, budget, 1)
    };
    let by_request = ReportUsage {
        request_id: request("call-1"),
        ..usage(&task, budget, 2)
    };
    for report in [by_key, by_request] {
        let report = On::new(task.execution_id, report);
        scene.fabric.report_usage(report.clone()).await.unwrap();
        let again = scene.fabric.report_usage(report).await.unwrap();
        assert_eq!(again, Reported::AlreadyApplied);
    }
    scene.settle().await;
    assert_eq!(scene.spent(budget).await, 3);
    assert_eq!(on_attempt(&scene, &task, budget).await, 3);
}

pub(crate) async fn a_report_without_a_name_counts_every_time(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let report = usage(&task, budget, 2);
    for _ in 0..2 {
        assert_eq!(send(&scene, &task, report.clone()).await, Reported::Ok);
    }
    assert_eq!(scene.spent(budget).await, 4);
    assert_eq!(on_attempt(&scene, &task, budget).await, 4);
}

pub(crate) async fn a_report_is_recognised_however_many_come_after_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.fabric.create_budget(budget_of(1_000)).await.unwrap().budget_id;
    let task = scene.running(under(budget)).await;
    let by_key = |amount| ReportUsage {
        dedup_key: key("call-1"),
        ..usage(&task, budget, amount)
    };
    let by_request = |amount| ReportUsage {
        request_id: request("call-1"),
        ..usage(&task, budget, amount)
    };
    for report in [by_key(100), by_request(10)] {
        send(&scene, &task, report).await;
    }
    for _ in 0..20 {
        scene.report(&task, budget, 1).await.unwrap();
    }
    for report in [by_key(100), by_request(10)] {
        assert_eq!(send(&scene, &task, report).await, Reported::AlreadyApplied);
    }
    scene.settle().await;
    assert_eq!(scene.spent(budget).await, 130);
    assert_eq!(on_attempt(&scene, &task, budget).await, 130);
}

pub(crate) async fn a_request_is_of_one_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    for _ in 0..2 {
        let task = scene.running(under(budget)).await;
        let report = ReportUsage {
            request_id: request("call-1"),
            ..usage(&task, budget, 2)
        };
        assert_eq!(send(&scene, &task, report).await, Reported::Ok);
    }
    assert_eq!(scene.spent(budget).await, 4);
}

pub(crate) async fn a_report_another_execution_made_stands_on_the_first_attempt_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let (first, second) = (scene.running(under(budget)).await, scene.running(under(budget)).await);
    let of = |task| ReportUsage {
        dedup_key: key("call-1"),
        ..usage(task, budget, 3)
    };
    assert_eq!(send(&scene, &first, of(&first)).await, Reported::Ok);
    assert_eq!(send(&scene, &second, of(&second)).await, Reported::AlreadyApplied);
    scene.settle().await;
    assert_eq!(on_attempt(&scene, &first, budget).await, 3);
    assert_eq!(on_attempt(&scene, &second, budget).await, 0);
}

pub(crate) async fn a_key_is_recognised_as_long_as_the_policy_says(harness: &dyn Harness) {
    for (window, recognised_after, forgotten_after) in [(1, 0, 2), (48, 47, 49)] {
        let scene = Scene::new(harness);
        let budget = scene.budget().await;
        let policy = json!({ "budget_ids": [budget], "dedup_window_ms": hours(window).as_millis() });
        let report = async || {
            let task = scene.running(with_policy(&policy)).await;
            let report = ReportUsage {
                dedup_key: key("call-1"),
                ..usage(&task, budget, 1)
            };
            let reported = send(&scene, &task, report).await;
            scene.finish(&task).await;
            reported
        };
        assert_eq!(report().await, Reported::Ok);
        scene.after(hours(recognised_after)).await;
        assert_eq!(report().await, Reported::AlreadyApplied, "{window} h");
        scene.after(hours(forgotten_after - recognised_after)).await;
        assert_eq!(report().await, Reported::Ok, "{window} h");
        assert_eq!(scene.spent(budget).await, 2);
    }
}

pub(crate) async fn a_repeated_report_is_answered_after_its_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let report = ReportUsage {
        request_id: request("call-1"),
        ..usage(&task, budget, 3)
    };
    assert_eq!(send(&scene, &task, report.clone()).await, Reported::Ok);
    scene.finish(&task).await;
    assert_eq!(send(&scene, &task, report).await, Reported::AlreadyApplied);
    assert_eq!(scene.spent(budget).await, 3);
    let another = scene.report(&task, budget, 3).await;
    assert_eq!(refused(another), Code::ExecutionNotActive);
}

pub(crate) async fn the_first_breach_of_a_kind_in_an_attempt_is_history(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    for amount in [6, 1, 4, 1] {
        scene.report(&task, budget, amount).await.unwrap();
    }
    scene.settle().await;
    let lines = scene.history(task.execution_id).await.into_iter();
    let breaches: Vec<_> = lines
        .filter(|line| line.what.as_str().ends_with("_breach"))
        .map(|line| (line.what.as_str(), line.attempt_index, line.detail.unwrap()))
        .collect();
    let line = |what, spent: &str| (what, Some(0), format!("budget {budget}: tokens {spent}"));
    assert_eq!(breaches, [line("soft_breach", "6/5"), line("hard_breach", "11/10")]);
}

pub(crate) async fn one_key_stands_for_one_report_whoever_sends_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let dedup_key = Some(IdempotencyKey::parse("call-1").unwrap());
    let report = ReportUsage {
        dedup_key: dedup_key.clone(),
        ..usage(&task, budget, 3)
    };
    scene
        .fabric
        .report_usage(On::new(task.execution_id, report))
        .await
        .unwrap();
    let charge = ChargeBudget {
        deltas: deltas(3),
        dedup_key,
        request_id: None,
    };
    let answer = scene.fabric.charge_budget(On::new(budget, charge)).await.unwrap();
    assert_eq!(answer, Reported::AlreadyApplied);
    assert_eq!(scene.spent(budget).await, 3);
}

pub(crate) async fn usage_of_an_unknown_budget_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let unknown = BudgetId::from_uuid(fresh());
    assert_eq!(refused(scene.report(&task, unknown, 1).await), Code::BudgetNotFound);
    let foreign = CreateBudget {
        namespace: other_namespace(),
        ..budget_of(10)
    };
    let foreign = scene.fabric.create_budget(foreign).await.unwrap().budget_id;
    assert_eq!(refused(scene.report(&task, foreign, 1).await), Code::BudgetNotFound);
    let page = scene
        .fabric
        .list_attempts(On::new(task.execution_id, all()))
        .await
        .unwrap();
    assert!(page.items[0].usage.is_empty());
}

pub(crate) async fn usage_without_amounts_is_refused(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let empty = ReportUsage {
        deltas: BTreeMap::new(),
        ..usage(&task, budget, 1)
    };
    let answer = scene.fabric.report_usage(On::new(task.execution_id, empty)).await;
    assert_eq!(refused(answer), Code::InvalidInput);
}

pub(crate) async fn a_former_holder_reports_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    scene.revoke(task.execution_id).await.unwrap();
    assert_eq!(refused(scene.report(&task, budget, 1).await), Code::LeaseRevoked);
    assert_eq!(scene.spent(budget).await, 0);
}

pub(crate) async fn a_breach_admits_nothing_more(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    scene.submit(under(budget)).await;
    scene.report(&task, budget, 11).await.unwrap();
    assert!(scene.try_claim(WORKER).await.is_none());
}

async fn on_attempt(scene: &Scene<'_>, task: &Task, budget: BudgetId) -> u64 {
    let page = scene
        .fabric
        .list_attempts(On::new(task.execution_id, all()))
        .await
        .unwrap();
    page.items[0].usage[&budget][&tokens()]
}

async fn send(scene: &Scene<'_>, task: &Task, report: ReportUsage) -> Reported {
    let report = On::new(task.execution_id, report);
    scene.fabric.report_usage(report).await.unwrap()
}

fn key(text: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::parse(text).unwrap())
}

fn hours(count: u64) -> Duration {
    Duration::from_millis(HOUR.as_millis() * count)
}

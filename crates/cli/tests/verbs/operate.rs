//! Lanes, budgets, quotas, workers, secrets, events.

use ff_core::command::budget::CreateBudget;
use ff_core::command::lease::Renew;
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::name::{Dimension, ExecutionKind, LaneId, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{Limits, OnHardLimit};
use ff_core::time::Duration;

use super::scene::{Scene, uuid};

fn scene() -> Scene {
    let scene = Scene::empty();
    let limits = Limits {
        soft: Some(80),
        hard: Some(100),
    };
    let budget = CreateBudget {
        budget_id: Some(BudgetId::from_uuid(uuid(0x51))),
        namespace: Namespace::default_namespace(),
        scope: "team-docs".to_owned(),
        dimensions: [(Dimension::parse("tokens").unwrap(), limits)].into(),
        reset_interval: Some(Duration::from_hours(24)),
        on_hard_limit: OnHardLimit::Block,
    };
    let quota = CreateQuotaPolicy {
        quota_policy_id: Some(QuotaPolicyId::from_uuid(uuid(0x61))),
        namespace: Namespace::default_namespace(),
        window: Duration::from_secs(60),
        max_requests_per_window: Some(100),
        max_concurrent: None,
        jitter: Duration::ZERO,
    };
    scene.with(async |engine| {
        engine.create_budget(budget).await.unwrap();
        engine.create_quota_policy(quota).await.unwrap();
    });
    for number in 1..=3 {
        scene.submit(number, "job", |_| ());
    }
    scene.claim("default");
    scene.pass(5);
    scene
}

#[test]
fn budgets_are_watched_and_changed() {
    scene().prints(
        "budget",
        &[
            "budget list",
            "budget charge team-docs tokens=85",
            "budget get team-docs",
            "budget charge team-docs tokens=30",
            "budget list",
            "budget limit team-docs tokens=100:200",
            "budget limit team-docs tokens=many",
            "budget reset 00000051",
            "budget delete team-docs",
            "budget get nobody",
        ],
    );
}

#[test]
fn quotas_are_watched_and_changed() {
    scene().prints(
        "quota",
        &[
            "quota list",
            "quota update 00000061 --at-once 5",
            "quota get 00000061",
            "quota create",
            "quota delete 00000061",
        ],
    );
}

#[test]
fn lanes_are_watched_paused_and_resumed() {
    scene().prints(
        "lanes",
        &[
            "lanes",
            "lane pause default",
            "lane pause default",
            "lanes",
            "explain 00000002",
            "lane drain default",
            "submit job",
            "lane resume default",
            "workers",
            "top",
        ],
    );
}

#[test]
fn what_runs_is_shown_also_behind_very_many_that_do_not() {
    let scene = Scene::empty();
    scene.submit(1, "old", |_| ());
    let task = scene.claim("default");
    // Whatever runs for longer than a moment is kept by its worker.
    scene.pass(1);
    let keep = On::new(
        task.execution_id,
        Renew {
            fence: Some(task.fence),
            ..Renew::default()
        },
    );
    scene.with(async |engine| engine.renew(keep).await.unwrap());
    let wait = CreateExecution {
        lane_id: LaneId::parse("slow").unwrap(),
        ..CreateExecution::new(ExecutionKind::parse("wait").unwrap(), Payload::default())
    };
    for _ in 0..11 {
        let many = vec![wait.clone(); 1_000];
        scene.with(async |engine| engine.create_executions(many).await.unwrap());
    }
    let told = scene.ff(&["top", "--once"]).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(
        told.contains("1 running") && told.contains("waiting: 11000 for a worker"),
        "{told}"
    );
    assert!(
        told.contains("00000001  old") && !told.contains("nothing runs"),
        "{told}"
    );
}

#[test]
fn another_key_signs_after_a_rotation() {
    let scene = scene();
    scene.prints(
        "rotate",
        &[
            "rotate-secret k2 --grace 1h",
            "rotate-secret k3 --secret abc",
            "rotate-secret k:3",
        ],
    );
}

#[test]
fn events_are_told_as_they_happened() {
    let scene = scene();
    scene.prints(
        "events",
        &[
            "events --from oldest --no-follow --execution 00000001",
            "events --from oldest --no-follow --what claimed",
            "events --no-follow --lane nowhere",
            "events --from tomorrow",
        ],
    );
    let followed = scene.json(&[
        "events",
        "--from",
        "oldest",
        "--no-follow",
        "--what",
        "claimed",
        "-o",
        "json",
    ]);
    assert_eq!(followed["what"], "claimed");
}

//! What steps cost: charged with what they left, once.

use ff_core::command::budget::UpdateLimits;
use ff_core::command::claim::Task;
use ff_core::command::steps::{BudgetStanding, BudgetStatus, StepReport, StepUsage};
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::record::{Limits, OnHardLimit};
use ff_core::state::PublicState;
use uuid::Uuid;

use crate::Harness;
use crate::scene::{Scene, WORKER, brought, deltas, done, named, submission, tokens, under};

fn costing(key: &str, budget_id: BudgetId, amount: u64) -> StepReport {
    StepReport {
        usage: vec![StepUsage {
            budget_id,
            deltas: deltas(amount),
        }],
        ..done(key, "1")
    }
}

async fn standing(scene: &Scene<'_>, task: &Task, steps: Vec<StepReport>) -> BudgetStanding {
    let recorded = scene.record(task, steps).await.unwrap();
    let [standing] = &recorded.budgets[..] else {
        panic!("{recorded:?}");
    };
    standing.clone()
}

pub(crate) async fn steps_charge_their_cost_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(submission()).await;
    let steps = vec![costing("a", budget, 2), costing("b", budget, 1)];
    let first = standing(&scene, &task, steps.clone()).await;
    let expected = BudgetStanding {
        budget_id: budget,
        status: BudgetStatus::Ok,
        closed: false,
        parks: false,
        on_hard_limit: Some(OnHardLimit::Block),
    };
    assert_eq!(first, expected);
    assert_eq!(scene.spent(budget).await, 3);
    assert_eq!(
        standing(&scene, &task, steps).await,
        expected,
        "the budget is read for a repetition"
    );
    scene.settle().await;
    assert_eq!(scene.spent(budget).await, 3);
    let shown = scene.steps(task.execution_id).await;
    assert_eq!(shown[0].usage[0].deltas, deltas(2));
    assert_eq!(scene.view(task.execution_id).await.usage[&tokens()], 3);
}

pub(crate) async fn steps_are_told_how_their_budget_stands(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let soft = standing(&scene, &task, vec![costing("a", budget, 6)]).await;
    assert_eq!(
        (soft.status, soft.closed, soft.parks),
        (BudgetStatus::Soft, false, true)
    );
    let full = standing(&scene, &task, vec![costing("b", budget, 4)]).await;
    assert_eq!(
        (full.status, full.closed),
        (BudgetStatus::Soft, true),
        "nothing more is admitted"
    );
    let hard = standing(&scene, &task, vec![costing("c", budget, 1)]).await;
    assert_eq!((hard.status, hard.closed), (BudgetStatus::Hard, true));
    let again = standing(&scene, &task, vec![costing("c", budget, 1)]).await;
    assert_eq!(again, hard, "a lost reply hides no breach");
    scene.fabric.delete_budget(budget).await.unwrap();
    let gone = standing(&scene, &task, vec![costing("c", budget, 1)]).await;
    assert_eq!((gone.status, gone.closed), (BudgetStatus::Gone, false));
}

pub(crate) async fn a_step_is_recorded_whatever_its_budget_says(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let nowhere = BudgetId::from_uuid(Uuid::from_u128(77));
    let task = scene.running(submission()).await;
    let missing = standing(&scene, &task, vec![costing("a", nowhere, 1)]).await;
    assert_eq!((missing.status, missing.on_hard_limit), (BudgetStatus::NotFound, None));
    assert_eq!(named(&scene.steps(task.execution_id).await), [("a", 0)]);
    scene.complete(&task).await.unwrap();
}

pub(crate) async fn steps_of_a_finish_are_charged_too(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(submission()).await;
    let complete = ff_core::command::lease::Complete {
        fence: Some(task.fence),
        result: None,
        steps: vec![costing("a", budget, 4)],
    };
    scene
        .fabric
        .complete(On::new(task.execution_id, complete))
        .await
        .unwrap();
    scene.settle().await;
    assert_eq!(scene.spent(budget).await, 4);
}

pub(crate) async fn work_given_back_at_a_closed_budget_goes_on_where_it_was(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let task = scene.running(under(budget)).await;
    let full = standing(&scene, &task, vec![costing("llm#16", budget, 10)]).await;
    assert!(full.closed && full.parks);
    scene.release(&task).await.unwrap();
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_ne!(scene.state(task.execution_id).await, PublicState::Active);
    let raise = UpdateLimits {
        dimensions: [(
            tokens(),
            Limits {
                soft: None,
                hard: Some(100),
            },
        )]
        .into(),
    };
    scene.fabric.update_limits(On::new(budget, raise)).await.unwrap();
    scene.settle().await;
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("llm#16", 0)]);
    let more = standing(&scene, &next, vec![costing("llm#17", budget, 1)]).await;
    assert_eq!((more.status, more.closed), (BudgetStatus::Ok, false));
    assert_eq!(scene.spent(budget).await, 11);
}

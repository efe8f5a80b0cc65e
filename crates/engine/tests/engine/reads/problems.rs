//! list_problems.

use std::collections::BTreeMap;

use ff_core::command::budget::CreateBudget;
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::BudgetId;
use ff_core::name::Namespace;
use ff_core::policy::Policy;
use ff_core::record::OnHardLimit;
use ff_core::view::ListProblems;
use ff_core::view::ProblemKind;

use crate::reads::stage::{Stage, submission};
use crate::support::claim;

#[tokio::test]
async fn work_blocked_by_what_does_not_exist_is_a_problem_until_it_does() {
    let stage = Stage::new();
    let lost = BudgetId::from_uuid(stage.mint());
    let command = CreateExecution {
        policy: Policy {
            budget_ids: [lost].into(),
            ..Policy::default()
        },
        ..submission()
    };
    let id = stage.submit(&command).await;
    assert_eq!(stage.engine.claim(claim(1, 1)).await.unwrap(), []);
    let problems = stage.engine.list_problems(ListProblems::default()).await.unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].kind, ProblemKind::MissingCause);
    assert_eq!(problems[0].namespace, Some(Namespace::default_namespace()));
    assert_eq!(problems[0].subject, format!("budget {lost}"));
    assert!(problems[0].detail.contains(&id.to_string()), "{problems:?}");
    assert_eq!(
        stage
            .bound_to("other")
            .list_problems(ListProblems::default())
            .await
            .unwrap(),
        []
    );
    let again = CreateBudget {
        budget_id: Some(lost),
        namespace: Namespace::default_namespace(),
        scope: "tests".to_owned(),
        dimensions: BTreeMap::new(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    stage.engine.create_budget(again).await.unwrap();
    assert_eq!(stage.engine.list_problems(ListProblems::default()).await.unwrap(), []);
}

//! A row that cannot be read costs nothing but itself: its lane, its batch and every list of others go on without it, and it is
//! shown to whoever asks what is wrong. Memory keeps no rows that could be damaged.

use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::ListProblems;
use ff_core::view::{ListExecutions, ProblemKind};
use ff_fabric_suite::Harness as _;

use crate::behind::World;

impl World {
    async fn everything_else_goes_on(&self) {
        let engine = &self.harness.engine;
        let damaged = self.submit(1).await;
        let others = [self.submit(2).await, self.submit(3).await];
        let body = self.bodies.read(damaged).await;
        self.bodies.write(damaged, "{\"no").await;
        assert_eq!(self.work_all().await, others, "its lane goes on");
        let reads = others.into_iter().chain([damaged]).map(|id| engine.get_state(id));
        let [first, second, unreadable] = &futures::future::join_all(reads).await[..] else {
            panic!("three were read");
        };
        assert!(first.is_ok() && second.is_ok(), "its batch goes on");
        assert_eq!(unreadable.as_ref().unwrap_err().code, Code::Internal);
        let listed = engine.list_executions(ListExecutions::default()).await.unwrap().items;
        assert_eq!(listed.len(), 2, "lists of others go on");
        // It may have been handed to somebody, whose lease must end first.
        self.harness.advance(Duration::from_secs(11)).await;
        self.audit_everything().await;
        let problems = engine.list_problems(ListProblems::default()).await.unwrap();
        let [problem] = &problems[..] else {
            panic!("one problem, not {problems:?}");
        };
        assert_eq!(problem.kind, ProblemKind::Unreadable);
        assert!(problem.subject.contains(&damaged.to_string()), "{problem:?}");
        self.bodies.write(damaged, &body).await;
        // Longer than anything is pushed back, and than a lease that nobody used.
        self.harness.advance(Duration::from_secs(301)).await;
        self.audit_everything().await;
        self.harness.settle().await;
        assert_eq!(
            engine.get_state(damaged).await.unwrap().public_state,
            PublicState::Waiting
        );
        assert_eq!(engine.list_problems(ListProblems::default()).await.unwrap(), []);
        assert_eq!(self.work_all().await, [damaged], "whoever mends it gets it back");
    }

    async fn audit_everything(&self) {
        for _ in PartitionCounts::default().all(Family::Flow) {
            self.harness.engine.pump_audit().await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_unreadable_row_of_a_file_costs_nothing_but_itself() {
    World::in_a_file().everything_else_goes_on().await;
}

#[tokio::test]
async fn an_unreadable_row_of_a_server_costs_nothing_but_itself() {
    World::on_a_server().await.everything_else_goes_on().await;
}

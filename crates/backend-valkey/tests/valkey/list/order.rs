//! Handing out of more queues than one call looks into.

use ff_backend::Backend;
use ff_backend::reserve::Reserve;
use ff_backend::transaction::Tag;
use ff_core::capability::CapabilitySet;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::name::{LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::record::Execution;
use ff_core::time::Duration;
use uuid::Uuid;

use super::{Scratch, calls_of, execution, moment, template};

/// One queue in each of them.
const PARTITIONS: u64 = 200;

fn claimant(number: usize) -> Claimant {
    let uuid = Uuid::from_u128(number as u128 + 1);
    Claimant {
        worker: WorkerId::parse("worker").unwrap(),
        instance: WorkerInstanceId::parse("instance").unwrap(),
        grant_id: GrantId::from_uuid(uuid),
        lease_id: LeaseId::from_uuid(uuid),
        attempt_id: AttemptId::from_uuid(uuid),
        lease_ttl: Duration::from_secs(30),
        grant_ttl: Duration::from_secs(5),
    }
}

/// The `n`th of many in the partitions' queues.
fn nth(template: &Execution, n: u64, created_ms: u64, priority: u16) -> Execution {
    let partition = u16::try_from(n * 37 % PARTITIONS).unwrap();
    Execution {
        priority,
        ..execution(template, n, partition, moment(created_ms))
    }
}

async fn handed_out(scratch: &Scratch, count: usize) -> Vec<ExecutionId> {
    let ask = Reserve {
        namespace: Namespace::default_namespace(),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::default(),
        closed: Vec::new(),
        mode: HandOut::Lease,
        claimants: (0..count).map(claimant).collect(),
        tag: Tag(7),
    };
    let tasks = scratch.backend.reserve(ask).await.unwrap().tasks;
    tasks.into_iter().map(|task| task.execution.id).collect()
}

#[tokio::test]
async fn what_is_much_older_comes_first_whatever_its_queue() {
    let (scratch, template) = (Scratch::new().await, template());
    let executions: Vec<Execution> = (0..PARTITIONS).map(|n| nth(&template, n, n * 1_000, 0)).collect();
    scratch.write_executions(&executions).await;
    let oldest: Vec<ExecutionId> = executions.iter().map(|execution| execution.id).take(120).collect();
    assert_eq!(handed_out(&scratch, 120).await, oldest);
}

#[tokio::test]
async fn what_is_equally_old_takes_one_call_and_never_overtakes_a_higher_priority() {
    let (scratch, template) = (Scratch::new().await, template());
    let urgent: Vec<Execution> = (0..PARTITIONS * 5)
        .map(|n| nth(&template, n, 1_000 + n / 8, 5))
        .collect();
    let others = (PARTITIONS * 5..PARTITIONS * 6).map(|n| nth(&template, n, 0, 4));
    let all: Vec<Execution> = urgent.iter().cloned().chain(others).collect();
    scratch.write_executions(&all).await;
    let before = calls_of(&scratch, "fcall").await;
    let mut handed = handed_out(&scratch, 60).await;
    assert_eq!(calls_of(&scratch, "fcall").await, before + 1);
    while handed.len() < urgent.len() {
        let wanted = (urgent.len() - handed.len()).min(200);
        handed.extend(handed_out(&scratch, wanted).await);
    }
    handed.sort();
    let mut expected: Vec<ExecutionId> = urgent.iter().map(|execution| execution.id).collect();
    expected.sort();
    assert_eq!(handed, expected);
}

//! What the benchmarks share: work to submit, claimants, and how figures are taken and shown.

pub mod raw;

use std::time::{Duration, Instant};

use ff_backend::load::Snapshot;
use ff_backend::reserve::{Reserve, Task};
use ff_backend::transaction::{Tag, Transaction};
use ff_core::capability::CapabilitySet;
use ff_core::command::lease::Complete;
use ff_core::command::submit::CreateExecution;
use ff_core::id::{AttemptId, ExecutionId, GrantId, LeaseId};
use ff_core::machine::claim::{Claimant, HandOut};
use ff_core::machine::{Context, lease, submit};
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::partition::PartitionCounts;
use ff_core::payload::Payload;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;
use uuid::Uuid;

/// A fresh random tag.
pub fn fresh_tag() -> Tag {
    let (high, _) = Uuid::new_v4().as_u64_pair();
    Tag(high)
}

/// The transaction that submits one execution of `kind` with `input`.
pub fn submission(counts: &PartitionCounts, input: &Payload, now: Timestamp) -> anyhow::Result<Transaction> {
    let uuid = Uuid::now_v7();
    let id = ExecutionId::new(counts.of_execution_uuid(uuid).index, uuid);
    let command = CreateExecution::new(ExecutionKind::parse("bench")?, input.clone());
    let step = submit::create(&command, id, submit::Known::default(), &Context::engine(now))?;
    Ok(Transaction::bind(
        step.draft,
        &Snapshot::empty(id.partition(), now),
        fresh_tag(),
    ))
}

/// Asks for `max` executions of the default lane.
pub fn reservation(max: usize) -> anyhow::Result<Reserve> {
    let claimant = || -> anyhow::Result<Claimant> {
        Ok(Claimant {
            worker: WorkerId::parse("bench")?,
            instance: WorkerInstanceId::parse("bench-1")?,
            grant_id: GrantId::from_uuid(Uuid::new_v4()),
            lease_id: LeaseId::from_uuid(Uuid::new_v4()),
            attempt_id: AttemptId::from_uuid(Uuid::new_v4()),
            lease_ttl: ff_core::limits::LEASE_TTL_DEFAULT,
            grant_ttl: ff_core::limits::GRANT_TTL_DEFAULT,
        })
    };
    Ok(Reserve {
        namespace: Namespace::default_namespace(),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::default(),
        closed: Vec::new(),
        mode: HandOut::Lease,
        claimants: (0..max).map(|_| claimant()).collect::<Result<_, _>>()?,
        tag: fresh_tag(),
    })
}

/// The transaction that completes a task straight against the version it was handed out with.
pub fn completion(task: &Task, now: Timestamp) -> anyhow::Result<Transaction> {
    let execution = &task.execution;
    let lease = execution
        .lease()
        .ok_or_else(|| anyhow::anyhow!("the task has no lease"))?;
    let attempt = execution
        .attempt
        .as_ref()
        .ok_or_else(|| anyhow::anyhow!("the task has no attempt"))?;
    let command = Complete {
        fence: Some(lease.fence(attempt.id)),
        result: None,
        ..Complete::default()
    };
    let step = lease::complete(execution, &command, &Context::engine(now))?;
    let mut snapshot = Snapshot::empty(execution.id.partition(), now);
    let loaded = (Record::from(execution.clone()), task.version);
    snapshot.records.insert(RecordKey::Execution(execution.id), loaded);
    Ok(Transaction::bind(step.draft, &snapshot, fresh_tag()))
}

/// The middle one of several measurements.
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How many of `count` things were done per second since `start`.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn rate(count: usize, start: Instant) -> f64 {
    count as f64 / start.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
}

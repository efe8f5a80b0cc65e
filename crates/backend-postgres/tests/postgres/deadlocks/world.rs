//! The records that everybody writes.

use std::sync::Arc;

use ff_core::command::submit::CreateExecution;
use ff_core::id::{ExecutionId, FlowId, WaitpointId};
use ff_core::machine::Context;
use ff_core::machine::decided::{Draft, Write};
use ff_core::machine::submit::{Known, create};
use ff_core::name::{ExecutionKind, FlowKind, LaneId, Namespace, WaitpointKey};
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::policy::Retention;
use ff_core::record::{
    CounterKey, Definition, Execution, Flow, FlowCounter, Gate, GateState, GroupCounter, Record, RecordKey, Waitpoint,
    WaitpointUse,
};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

/// Partitions that are written to.
pub(super) const PARTITIONS: u16 = 2;
/// Executions of each of them, each with a waitpoint.
const EXECUTIONS: u128 = 4;
/// Flows of each of them, each with a gate.
const FLOWS: u128 = 2;

pub(super) fn executions(partition: Partition) -> Vec<ExecutionId> {
    let id = |number| ExecutionId::new(partition.index, Uuid::from_u128(number));
    (1..=EXECUTIONS).map(id).collect()
}

fn flows(partition: Partition) -> Vec<FlowId> {
    let id = |number| FlowId::from_uuid(Uuid::from_u128(u128::from(partition.index) << 64 | number));
    (1..=FLOWS).map(id).collect()
}

/// Every record of a partition.
pub(super) fn keys(partition: Partition) -> Vec<RecordKey> {
    let executions = executions(partition).into_iter();
    let own = executions.flat_map(|id| [RecordKey::Execution(id), RecordKey::Waitpoint(id, waitpoint_id(id))]);
    let flows = flows(partition).into_iter();
    own.chain(flows.flat_map(|id| [RecordKey::Flow(id), RecordKey::Gate(id)]))
        .collect()
}

/// Every counter of a partition.
pub(super) fn counters(partition: Partition) -> Vec<CounterKey> {
    let executions = executions(partition).into_iter();
    let own = executions.flat_map(|id| {
        [
            CounterKey::Group(id, GroupCounter::Unresolved),
            CounterKey::BufferedSignals(id),
        ]
    });
    let flows = flows(partition).into_iter();
    own.chain(
        flows.flat_map(|id| [FlowCounter::Open, FlowCounter::Members].map(|counter| CounterKey::Flow(id, counter))),
    )
    .collect()
}

fn waitpoint_id(id: ExecutionId) -> WaitpointId {
    WaitpointId::from_uuid(id.uuid())
}

/// A record as it is when it is new.
pub(super) fn fresh(partition: Partition, key: &RecordKey, now: Timestamp) -> Record {
    match key {
        RecordKey::Execution(id) => {
            // Some are members of a flow, which a claim has to look at.
            let flow = flows(partition)
                .into_iter()
                .nth(usize::from(id.uuid().as_u128() % 4 == 1));
            Record::from(member(*id, flow, now))
        }
        RecordKey::Waitpoint(execution_id, id) => Record::from(waitpoint(*id, *execution_id, now)),
        RecordKey::Flow(id) => Record::from(flow(*id, now)),
        RecordKey::Gate(flow_id) => Record::from(Gate {
            flow_id: *flow_id,
            state: GateState::Open,
        }),
        other => panic!("nobody writes {other:?}"),
    }
}

/// What the rules draft for a new execution of a lane.
pub(crate) fn submission(id: ExecutionId, lane: LaneId, now: Timestamp) -> Draft {
    let command = CreateExecution {
        lane_id: lane,
        ..CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::binary("input"))
    };
    let created = create(&command, id, Known::default(), &Context::engine(now));
    created.unwrap().draft
}

fn member(id: ExecutionId, flow: Option<FlowId>, now: Timestamp) -> Execution {
    let draft = submission(id, LaneId::default_lane(), now);
    let execution = draft.writes.into_iter().find_map(|write| match write {
        Write::Create {
            record: Record::Execution(execution),
            ..
        } => Some(*execution),
        _ => None,
    });
    let execution = execution.expect("a submission is an execution");
    let definition = Arc::new(Definition {
        flow,
        ..(*execution.definition).clone()
    });
    Execution {
        definition,
        ..execution
    }
}

fn waitpoint(id: WaitpointId, execution_id: ExecutionId, now: Timestamp) -> Waitpoint {
    let expires_at = now + Duration::from_hours(1);
    Waitpoint {
        id,
        execution_id,
        key: WaitpointKey::parse("key").unwrap(),
        created_at: now,
        updated_at: now,
        usage: WaitpointUse::Pending { expires_at },
        buffered: 0,
        carried: Default::default(),
    }
}

fn flow(id: FlowId, now: Timestamp) -> Flow {
    Flow {
        id,
        namespace: Namespace::default_namespace(),
        kind: FlowKind::parse("graph").unwrap(),
        tags: Arc::default(),
        content_digest: "digest".to_owned(),
        created_at: now,
        opened_at: Some(now),
        updated_at: now,
        graph_revision: 0,
        retention: Retention::For(Duration::from_hours(1)),
        cancellation: None,
        populated: false,
        in_use: false,
        ended_at: None,
        opening: false,
        cancelling: false,
        delete_requested: false,
        deleting: false,
        carried: Default::default(),
    }
}

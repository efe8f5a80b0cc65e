//! nothing → waiting, delayed or waiting_children: create_execution.

use std::sync::Arc;

use super::change::history_line;
use super::context::{Context, Settings};
use super::decided::{Decided, Draft, count_member};
use crate::command::submit::{CreateExecution, Created, LaneState};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::id::ExecutionId;
use crate::limits;
use crate::record::{
    AttemptKind, BlobKey, Counts, Definition, Delay, DelayReason, Dependencies, Execution, FollowUps, Happening,
    IdempotencyScope, Journal, NextClaim, Phase, Record, ReportLog, RequestLog, Runnable, SubmissionKeyRecord, Tags,
};
use crate::state::public_state;
use crate::time::earliest;
use crate::trace::{TRACE_TAG, TraceParent};

/// What was loaded for a submission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    /// The execution that has its id already.
    pub existing: Option<&'a Execution>,
    /// The execution its key stands for already.
    pub key: Option<&'a SubmissionKeyRecord>,
    /// The state of its lane.
    pub lane: LaneState,
}

/// Submits an execution under `id`. A repetition is recognised by its id or its key and answered with the first one.
///
/// A member of a flow gets its membership from [`super::member`], in the same transaction.
pub fn create(
    command: &CreateExecution,
    id: ExecutionId,
    known: Known<'_>,
    context: &Context,
) -> Result<Decided<Created>, Rejection> {
    validate(command, &context.settings)?;
    let content_digest = content_digest(command);
    if let Some(duplicate) = duplicate(id, &content_digest, known)? {
        return Ok(Decided::unchanged(duplicate));
    }
    check_deadline(command, context)?;
    if !known.lane.accepts() {
        return Err(Code::LaneNotAccepting.because(format!("lane {} takes no new work", command.lane_id)));
    }
    let execution = new_execution(command, id, content_digest, context);
    let mut draft = Draft {
        limits_queues: true,
        ..Draft::default()
    };
    draft
        .history
        .push(history_line(&execution, context.now, Happening::Created, context, None));
    draft.blobs.push((BlobKey::Input(id), command.input.clone()));
    if let Some(key) = submission_key(command, &execution) {
        draft.create_for(Record::SubmissionKey(key), execution.definition.policy.dedup_window());
    }
    if let Some(flow) = command.flow_id {
        count_member(&mut draft, flow, None, Some(public_state(&execution)));
    }
    draft.create(execution);
    Ok(Decided {
        outcome: Created::Created { execution_id: id },
        draft,
    })
}

/// Digest of everything a submission says but its id.
pub fn content_digest(command: &CreateExecution) -> String {
    let said = (
        (
            &command.namespace,
            &command.lane_id,
            &command.execution_kind,
            &command.creator_identity,
        ),
        (
            command.priority,
            &command.tags,
            &command.policy,
            &command.input.content_type,
        ),
        (command.delay_until, command.execution_deadline_at),
        (command.flow_id, &command.depends_on, command.edge_group_policy),
    );
    let said = serde_json::to_vec(&said).expect("plain data with text keys always has a JSON form");
    Digest::of("submission", [&said[..], &command.input.bytes]).to_string()
}

/// Refuses a submission that is wrong whatever stands in the store.
pub fn validate(command: &CreateExecution, settings: &Settings) -> Result<(), Rejection> {
    check_one_id(command)?;
    check_not_ours("lane", command.lane_id.as_str())?;
    check_not_ours("execution kind", command.execution_kind.as_str())?;
    command.policy.validate()?;
    check_tags(&command.tags)?;
    check_priority(command.priority)?;
    let max = settings.payload_bytes_max;
    if command.input.len() > max {
        let length = command.input.len();
        return Err(Code::PayloadTooLarge.because(format!("input has {length} bytes, more than {max}")));
    }
    if command.flow_id.is_none() && (!command.depends_on.is_empty() || command.edge_group_policy.is_some()) {
        return Err(Code::InvalidInput.because("depends_on and edge_group_policy need a flow_id"));
    }
    if command.flow_id.is_none() && command.parent_fence.is_some() {
        return Err(Code::InvalidInput.because("parent_fence needs the flow_id of its execution's flow"));
    }
    Ok(())
}

/// Refuses a submission that names itself twice.
pub(super) fn check_one_id(command: &CreateExecution) -> Result<(), Rejection> {
    if command.execution_id.is_some() && command.execution_uuid.is_some() {
        return Err(
            Code::InvalidInput.because("execution_id and execution_uuid exclude each other: leave one of them out")
        );
    }
    Ok(())
}

/// Refuses a name that is kept for work of the engine's own.
pub(crate) fn check_not_ours(what: &str, name: &str) -> Result<(), Rejection> {
    if name.starts_with('_') {
        let detail = format!("{what} {name:?} begins with _, which is kept for FlowFabric itself: take another name");
        return Err(Code::InvalidInput.because(detail));
    }
    Ok(())
}

/// Looked at only for what is new: a repetition may come when the deadline of the first one has passed.
fn check_deadline(command: &CreateExecution, context: &Context) -> Result<(), Rejection> {
    let deadline = command.execution_deadline_at;
    if deadline.is_some_and(|deadline| deadline.has_come(context.now)) {
        return Err(Code::InvalidInput.because("execution_deadline_at has passed already"));
    }
    Ok(())
}

/// Refuses tags that could not be stored or listed by.
pub fn check_tags(tags: &Tags) -> Result<(), Rejection> {
    if tags.len() > limits::TAGS_MAX {
        return Err(Code::InvalidInput.because(format!("{} tags, more than {}", tags.len(), limits::TAGS_MAX)));
    }
    for (key, value) in tags {
        if !is_tag_key(key) {
            let detail = format!("tag key {key:?} must match [a-z][a-z0-9_.-]{{0,127}}");
            return Err(Code::InvalidTagKey.because(detail));
        }
        if value.len() > limits::TAG_VALUE_BYTES_MAX {
            return Err(Code::InvalidInput.because(format!("the value of tag {key} has more than 1,024 bytes")));
        }
    }
    Ok(())
}

fn is_tag_key(key: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'-');
    key.len() <= 128 && key.bytes().next().is_some_and(|b| b.is_ascii_lowercase()) && key.bytes().all(allowed)
}

/// Refuses a priority outside 0–9,000.
pub fn check_priority(priority: u16) -> Result<(), Rejection> {
    if priority > limits::PRIORITY_MAX {
        return Err(Code::InvalidInput.because(format!("priority {priority} is above {}", limits::PRIORITY_MAX)));
    }
    Ok(())
}

fn duplicate(id: ExecutionId, content_digest: &str, known: Known<'_>) -> Result<Option<Created>, Rejection> {
    if let Some(key) = known.key {
        return Ok(Some(Created::Duplicate {
            execution_id: key.execution_id,
            content_differs: key.content_digest != content_digest,
        }));
    }
    match known.existing {
        None => Ok(None),
        Some(existing) if existing.definition.content_digest == content_digest => Ok(Some(Created::Duplicate {
            execution_id: id,
            content_differs: false,
        })),
        Some(_) => Err(Code::AlreadyExists.because(format!("execution {id} exists with other content"))),
    }
}

/// Where a submission's key is unique: in its flow, or among the solo executions of its namespace.
pub fn idempotency_scope(command: &CreateExecution) -> IdempotencyScope {
    match command.flow_id {
        Some(flow) => IdempotencyScope::Flow(flow),
        None => IdempotencyScope::Namespace(command.namespace.clone()),
    }
}

fn submission_key(command: &CreateExecution, execution: &Execution) -> Option<SubmissionKeyRecord> {
    Some(SubmissionKeyRecord {
        scope: idempotency_scope(command),
        key: command.idempotency_key.clone()?,
        execution_id: execution.id,
        content_digest: execution.definition.content_digest.clone(),
        carried: Default::default(),
    })
}

/// The tags of a submission with the trace it came in. It is not part of what was submitted: a repetition comes in another
/// trace. A trace the submission names itself, or for which there is no room, stays as it is.
fn traced(tags: &Tags, trace: Option<&TraceParent>) -> Tags {
    let mut tags = tags.clone();
    if let Some(trace) = trace
        && !tags.contains_key(TRACE_TAG)
        && tags.len() < limits::TAGS_MAX
    {
        tags.insert(TRACE_TAG.to_owned(), trace.as_str().to_owned());
    }
    tags
}

fn new_execution(command: &CreateExecution, id: ExecutionId, content_digest: String, context: &Context) -> Execution {
    let now = context.now;
    let policy = &command.policy;
    let relative = policy
        .timeout_policy
        .as_ref()
        .and_then(|timeout| timeout.execution_deadline);
    let dependencies = (!command.depends_on.is_empty() || command.edge_group_policy.is_some()).then(|| Dependencies {
        policy: command.edge_group_policy.unwrap_or_default(),
        fixed: !command.depends_on.is_empty(),
        waiting: !command.depends_on.is_empty(),
        unsatisfied: command.depends_on.len() as u64,
        no_results: true,
    });
    Execution {
        id,
        definition: Arc::new(Definition {
            namespace: command.namespace.clone(),
            lane: command.lane_id.clone(),
            kind: command.execution_kind.clone(),
            creator: command.creator_identity.clone(),
            created_at: now,
            flow: command.flow_id,
            idempotency_key: command.idempotency_key.clone(),
            execution_deadline_at: command.execution_deadline_at,
            policy: policy.clone(),
            content_digest,
            input_bytes: command.input.len() as u64,
        }),
        priority: command.priority,
        tags: Arc::new(traced(&command.tags, context.trace.as_ref())),
        updated_at: now,
        deadline_at: earliest([relative.map(|relative| now + relative), command.execution_deadline_at]),
        phase: Phase::Runnable(Runnable {
            next_claim: NextClaim {
                attempt_index: 0,
                kind: AttemptKind::Initial,
                continues: false,
                tier: 0,
                timeout: policy.attempt_timeout(0),
                resumed: false,
                revoked: false,
            },
            delay: command
                .delay_until
                .filter(|until| !until.has_come(now))
                .map(|until| Delay {
                    until,
                    reason: DelayReason::Requested,
                }),
            block: None,
            grant: None,
        }),
        hold: None,
        unopened: false,
        dependencies,
        lease_epoch: 0,
        ended_lease: None,
        attempt: None,
        counts: Counts::default(),
        success: None,
        progress: None,
        usage: Default::default(),
        steps: Journal::default(),
        pending_waitpoints: Vec::new(),
        resumed: None,
        requests: RequestLog::default(),
        reports: ReportLog::default(),
        outbox: Vec::new(),
        follow_ups: FollowUps::default(),
        carried: Default::default(),
    }
}

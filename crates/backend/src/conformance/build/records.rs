//! Records written out by hand, with every field set to something that could get lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ff_core::capability::CapabilitySet;
use ff_core::command::submit::CreateExecution;
use ff_core::digest::{Digest, LeaseDigest};
use ff_core::id::{
    AttemptId, BudgetId, EdgeId, EffectId, ExecutionId, FlowId, GrantId, LeaseId, QuotaPolicyId, SignalId,
    SuspensionId, WaitpointId,
};
use ff_core::machine::decided::ClosedReason;
use ff_core::machine::index::{Entry, entries, native_entries};
use ff_core::name::{
    Category, DataRef, Dimension, FlowKind, IdempotencyKey, Identity, Namespace, RequestId, SignalName, StepKey,
    WaitpointKey, WorkerId, WorkerInstanceId,
};
use ff_core::policy::{
    Backoff, FallbackPolicy, FallbackTier, Never, Policy, Retention, RetryPolicy, RoutingRequirements, StreamPolicy,
    SuspensionPolicy, TimeoutPolicy,
};
use ff_core::record::{
    Attempt, AttemptEnd, AttemptEndState, AttemptKind, Block, BreachKind, BudgetStop, CancelFlowPolicy, CancelSource,
    Cause, Counts, Definition, Delay, DelayReason, Dependencies, DependencyKind, Distinct, Edge, EdgeGroupPolicy,
    EdgeState, Effect, EffectKind, EndedLease, Execution, Failure, Flow, FlowCancellation, FollowUps, Forgotten, Gate,
    GateState, Grant, Hold, IdempotencyScope, Journal, Lease, LeaseEnd, LeaseOperation, Matcher, NextClaim,
    NodeProgress, OnSatisfied, Outcome, OutcomeKind, PendingWaitpoint, Phase, Progress, ReasonCode, Record, ReportLog,
    RequestLog, RequestOutcome, ResumeCondition, Resumed, ResumedBy, Runnable, Signal, SignalEffect, SignalKeyRecord,
    Step, StepKind, StepSignal, StepState, StepUnderWay, StopRequest, SubmissionKeyRecord, Success, Suspension, Tags,
    TimeoutBehavior, UsageIdentity, WaitStep, Waitpoint, WaitpointRef, WaitpointUse,
};
use ff_core::time::{Duration, Timestamp};

use super::Store;

/// Every list that a record stands in.
pub(crate) fn all_entries(record: &Record) -> impl Iterator<Item = Entry> + use<> {
    entries(record).into_iter().chain(native_entries(record))
}

/// A fresh flow with nothing special about it.
pub(crate) fn flow(id: FlowId, now: Timestamp) -> Flow {
    Flow {
        id,
        namespace: Namespace::default_namespace(),
        kind: FlowKind::parse("conformance").expect("a kind"),
        tags: Arc::default(),
        content_digest: "digest".to_owned(),
        created_at: now,
        opened_at: Some(now),
        updated_at: now,
        graph_revision: 0,
        retention: Retention::For(Duration::from_hours(24)),
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

/// An edge of a flow.
pub(crate) fn edge(id: EdgeId, flow_id: FlowId, ends: (ExecutionId, ExecutionId), state: EdgeState) -> Edge {
    Edge {
        id,
        flow_id,
        upstream: ends.0,
        downstream: ends.1,
        kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
        state,
        join: EdgeGroupPolicy::AllOf,
        graph_revision: 1,
        created_at: Timestamp::from_millis(1),
        carried: Default::default(),
    }
}

/// A waitpoint of an execution that no suspension has used.
pub(crate) fn waitpoint(id: WaitpointId, execution_id: ExecutionId, expires_at: Timestamp) -> Waitpoint {
    Waitpoint {
        id,
        execution_id,
        key: WaitpointKey::parse("key").expect("a key"),
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(2),
        usage: WaitpointUse::Pending { expires_at },
        buffered: 0,
        carried: Default::default(),
    }
}

/// A signal to an execution.
pub(crate) fn signal(id: SignalId, execution_id: ExecutionId) -> Signal {
    Signal {
        id,
        execution_id,
        waitpoint_id: None,
        name: SignalName::parse("größe:模型").expect("a name"),
        category: "category \u{0} of any kind".to_owned(),
        source_type: String::new(),
        source_identity: Identity::parse("somebody").expect("an identity"),
        source_verified: true,
        correlation_id: Some("\"quoted\" \\ {} ' ;".to_owned()),
        idempotency_key: Some(key("signal")),
        accepted_at: Timestamp::MAX,
        effect: SignalEffect::AppendedToWaitpoint,
        payload_bytes: (1 << 53) - 1,
        buffered_after: Some((1 << 53) - 1),
        carried: Default::default(),
    }
}

/// A step with everything set.
pub(crate) fn step(execution_id: ExecutionId) -> Step {
    let dimension = Dimension::parse("tokens").expect("a dimension");
    let budget_id = BudgetId::from_uuid(execution_id.uuid());
    Step {
        execution_id,
        key: StepKey::parse("größe/llm#3").expect("a key"),
        seq: (1 << 53) - 1,
        kind: StepKind::Wait,
        state: StepState::Failed,
        attempt_index: u32::MAX,
        lease_epoch: 7,
        recorded_at: Timestamp::MAX,
        started_at: Some(Timestamp::from_millis(1)),
        output_bytes: Some(3),
        content_digest: "digest".to_owned(),
        input_digest: Some("\"quoted\" \\ {}".to_owned()),
        failure: Some(Failure {
            reason: "größe".to_owned(),
            category: Category::permanent(),
        }),
        usage: BTreeMap::from([(budget_id, BTreeMap::from([(dimension, u64::from(u32::MAX))]))]),
        until: Some(Timestamp::MAX),
        resumed_by: Some(ResumedBy::Timeout),
        signals: vec![StepSignal {
            signal_id: SignalId::from_uuid(execution_id.uuid()),
            waitpoint_key: Some(WaitpointKey::parse("pay").expect("a key")),
        }],
        child: Some(execution_id),
        carried: Default::default(),
    }
}

/// One record of every kind, and an execution in every phase, all at home.
pub(crate) async fn every_record(store: &Store<'_>) -> Vec<Record> {
    let base = store.submit(store.command()).await;
    let again = |phase| {
        let id = store.id();
        Record::from(Execution {
            id,
            phase,
            ..full(&base, store)
        })
    };
    let waiting = Record::from(Execution {
        id: store.id(),
        ..base.clone()
    });
    let execution_id = store.id();
    let flow_id = FlowId::from_uuid(store.uuid());
    let mut records = vec![
        waiting,
        again(Phase::Runnable(runnable(store))),
        again(Phase::Active(lease(store))),
        again(Phase::Suspended(suspension(store))),
        again(Phase::Terminal(outcome())),
        Record::Attempt(execution_id, Box::new(attempt(store))),
        Record::from(signal(SignalId::from_uuid(store.uuid()), execution_id)),
        Record::from(full_flow(flow_id)),
        Record::from(Gate {
            flow_id,
            state: GateState::Sealed,
        }),
        Record::from(step(execution_id)),
        Record::SignalKey(SignalKeyRecord {
            execution_id,
            key: key("signal"),
            signal_id: SignalId::from_uuid(store.uuid()),
            carried: Default::default(),
        }),
    ];
    records.extend(submission_keys(store, flow_id));
    records.extend(edges(store, flow_id));
    records.extend(waitpoints(store, execution_id));
    records
}

/// `base` with everything set that any phase may carry.
fn full(base: &Execution, store: &Store<'_>) -> Execution {
    Execution {
        priority: 9_000,
        tags: Arc::new(tags()),
        updated_at: Timestamp::from_millis(1_700_000_000_001),
        deadline_at: Some(Timestamp::MAX),
        hold: Some(Hold {
            since: Timestamp::from_millis(3),
            reason: Some("größe".to_owned()),
        }),
        unopened: true,
        dependencies: Some(Dependencies {
            policy: EdgeGroupPolicy::Quorum {
                k: 3,
                on_satisfied: OnSatisfied::CancelRemaining,
            },
            fixed: true,
            waiting: true,
            unsatisfied: 7,
            no_results: true,
        }),
        lease_epoch: (1 << 53) - 1,
        ended_lease: Some(EndedLease {
            digest: LeaseDigest::of(LeaseId::from_uuid(store.uuid())),
            epoch: 4,
            attempt_id: AttemptId::from_uuid(store.uuid()),
            end: LeaseEnd::FlowCancelled {
                instead_of: LeaseOperation::WaitChildren,
            },
        }),
        attempt: Some(attempt(store)),
        counts: Counts {
            retries: 1,
            reclaims: 2,
            replays: 3,
            unconfirmed_returns: 4,
            signals: 5,
        },
        success: Some(Success {
            result_bytes: Some(7),
            superseded: true,
        }),
        progress: Some(Progress {
            pct: Some(100),
            message: Some("\u{1f980}".to_owned()),
            at: Timestamp::from_millis(5),
        }),
        usage: [(Dimension::parse("tokens").expect("a dimension"), (1 << 53) - 1)].into(),
        steps: Journal {
            count: 3,
            bytes: 1 << 26,
            next_seq: (1 << 53) - 1,
            forgotten: vec![Forgotten {
                from: 1,
                before: 7,
                failed_only: true,
            }],
            spawned: true,
        },
        pending_waitpoints: vec![pending(store)],
        resumed: Some(Resumed {
            suspension_id: SuspensionId::from_uuid(store.uuid()),
            signals: vec![SignalId::from_uuid(store.uuid())],
            step_seq: Some(3),
            at: Timestamp::from_millis(6),
            by: ResumedBy::Operator,
            asked: Some(Digest::of("anything", ["at all"])),
        }),
        requests: requests(store),
        reports: reports(store),
        outbox: effects(store),
        definition: Arc::new(Definition {
            namespace: base.definition.namespace.clone(),
            lane: base.definition.lane.clone(),
            kind: base.definition.kind.clone(),
            creator: Some(Identity::parse("größe").expect("an identity")),
            created_at: base.definition.created_at,
            flow: None,
            idempotency_key: Some(key("submission")),
            execution_deadline_at: Some(Timestamp::MAX),
            policy: policy(store),
            content_digest: "digest".to_owned(),
            input_bytes: (1 << 53) - 1,
        }),
        carried: Default::default(),
        id: base.id,
        phase: base.phase.clone(),
        follow_ups: FollowUps {
            resolve_edges: true,
            cancel_siblings: true,
            reopen_edges: true,
        },
    }
}

fn policy(store: &Store<'_>) -> Policy {
    Policy {
        retry_policy: Some(RetryPolicy {
            max_retries: 7,
            backoff: Backoff::Exponential {
                initial_delay: Duration::from_millis(1),
                max_delay: Duration::from_millis(2),
                multiplier: 1.5,
                jitter: true,
            },
            retryable_categories: Some([Category::infra_crash()].into()),
        }),
        timeout_policy: Some(TimeoutPolicy {
            attempt_timeout: Some(Duration::from_millis(3)),
            execution_deadline: Some(Duration::from_millis(4)),
        }),
        suspension_policy: Some(SuspensionPolicy {
            default_timeout: Some(Duration::from_millis(5)),
            timeout_behavior: Some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
        }),
        fallback_policy: Some(FallbackPolicy {
            tiers: vec![FallbackTier {
                provider: "one".to_owned(),
                model: "large".to_owned(),
                timeout: Some(Duration::from_millis(6)),
            }],
        }),
        max_reclaim_count: Some(8),
        max_replay_count: Some(9),
        budget_ids: [BudgetId::from_uuid(store.uuid())].into(),
        quota_policy_id: Some(QuotaPolicyId::from_uuid(store.uuid())),
        routing_requirements: RoutingRequirements {
            required_capabilities: CapabilitySet::parse(["gpu"]).expect("capabilities"),
        },
        dedup_window: Some(Duration::from_millis(10)),
        stream_policy: Some(StreamPolicy {
            retention_maxlen: 11,
            retention_ttl: Some(Duration::from_millis(12)),
        }),
        retention: Some(Retention::Forever(Never::Never)),
        max_signals_per_execution: Some(13),
    }
}

/// A phase in which an execution is listed by other lists: `which` of six. What may be handed out is in the phase `eligible`.
pub(crate) fn phase(store: &Store<'_>, which: u64, cause: Cause, eligible: &Phase) -> Phase {
    let block = Block {
        cause,
        detail: "full".to_owned(),
        generation: 1,
        since: Timestamp::from_millis(1),
    };
    match (which, eligible) {
        (0, Phase::Runnable(runnable)) => Phase::Runnable(Runnable {
            block: Some(block),
            ..runnable.clone()
        }),
        (1, _) => Phase::Active(lease(store)),
        (4, _) => Phase::Active(Lease {
            expires_at: Timestamp::MAX,
            ..lease(store)
        }),
        (2, _) => Phase::Suspended(Suspension {
            reason_code: ReasonCode::WaitingForApproval,
            ..suspension(store)
        }),
        (3, _) => Phase::Terminal(outcome()),
        _ => eligible.clone(),
    }
}

fn runnable(store: &Store<'_>) -> Runnable {
    Runnable {
        next_claim: NextClaim {
            attempt_index: 9,
            kind: AttemptKind::Reclaim,
            continues: true,
            tier: 2,
            timeout: Some(Duration::from_millis(1)),
            resumed: true,
            revoked: true,
        },
        delay: Some(Delay {
            until: Timestamp::MAX,
            reason: DelayReason::ResumeDelay,
        }),
        block: Some(Block {
            cause: Cause::Quota(QuotaPolicyId::from_uuid(store.uuid())),
            detail: "full".to_owned(),
            generation: 11,
            since: Timestamp::from_millis(7),
        }),
        grant: Some(Grant {
            id: GrantId::from_uuid(store.uuid()),
            worker: worker(),
            instance: instance(),
            expires_at: Timestamp::from_millis(8),
            admitted: true,
            reclaim: true,
        }),
    }
}

fn lease(store: &Store<'_>) -> Lease {
    Lease {
        id: LeaseId::from_uuid(store.uuid()),
        epoch: 12,
        worker: worker(),
        instance: instance(),
        acquired_at: Timestamp::from_millis(9),
        expires_at: Timestamp::from_millis(10),
        ttl: Duration::from_hours(24),
        timeout_at: Some(Timestamp::from_millis(11)),
        confirmed: true,
        reclaim_at: Some(Timestamp::from_millis(12)),
        grant: Some(GrantId::from_uuid(store.uuid())),
        stops: vec![BudgetStop {
            budget_id: BudgetId::from_uuid(store.uuid()),
            generation: (1 << 53) - 1,
            request: StopRequest {
                reason: "enough".to_owned(),
                cancel_at: Timestamp::from_millis(13),
            },
        }],
        doing: vec![StepUnderWay {
            step: "llm#4".to_owned(),
            started_at: Timestamp::from_millis(14),
        }],
    }
}

fn suspension(store: &Store<'_>) -> Suspension {
    let key = WaitpointKey::parse("approval").expect("a key");
    let condition = ResumeCondition::AllOf(vec![
        ResumeCondition::Single {
            waitpoint_key: key.clone(),
            matcher: Matcher::Any,
        },
        ResumeCondition::Count {
            n: 2,
            distinct: Distinct::Sources,
            matcher: Some(Matcher::ByName(SignalName::parse("yes").expect("a name"))),
            waitpoints: vec![key],
        },
    ]);
    Suspension {
        id: SuspensionId::from_uuid(store.uuid()),
        waitpoints: vec![pending(store).waitpoint],
        condition,
        progress: vec![
            NodeProgress(BTreeSet::from(["a".to_owned(), "b".to_owned()])),
            NodeProgress::default(),
        ],
        matched: vec![SignalId::from_uuid(store.uuid())],
        reason_code: ReasonCode::WaitingForToolResult,
        since: Timestamp::from_millis(14),
        timeout_at: Some(Timestamp::from_millis(15)),
        timeout_behavior: TimeoutBehavior::Escalate,
        resume_delay: Duration::from_millis(16),
        escalated: true,
        step: Some(WaitStep {
            key: StepKey::parse("review#0").expect("a key"),
            seq: 2,
            signals: vec![StepSignal {
                signal_id: SignalId::from_uuid(store.uuid()),
                waitpoint_key: Some(WaitpointKey::parse("k").expect("a key")),
            }],
        }),
    }
}

fn outcome() -> Outcome {
    Outcome {
        kind: OutcomeKind::Cancelled,
        at: Timestamp::from_millis(17),
        failure: Some(failure()),
        reason: Some(String::new()),
        cancel_source: Some(CancelSource::SystemTimeout),
        delete_at: Some(Timestamp::MAX),
        deleting: false,
    }
}

/// An attempt with everything set.
pub(crate) fn attempt(store: &Store<'_>) -> Attempt {
    let dimension = Dimension::parse("tokens").expect("a dimension");
    Attempt {
        index: u32::MAX,
        id: AttemptId::from_uuid(store.uuid()),
        kind: AttemptKind::Replay,
        worker: worker(),
        instance: instance(),
        lease_epoch: 3,
        started_at: Timestamp::from_millis(18),
        leased: Duration::from_hours(1_000),
        tier: 1,
        usage: BTreeMap::from([(
            BudgetId::from_uuid(store.uuid()),
            BTreeMap::from([(dimension.clone(), (1 << 53) - 1)]),
        )]),
        breached: [(BudgetId::from_uuid(store.uuid()), dimension, BreachKind::Soft)].into(),
        end: Some(AttemptEnd {
            at: Timestamp::from_millis(19),
            state: AttemptEndState::InterruptedReclaimed,
            closed: ClosedReason::Reclaimed,
            failure: Some(failure()),
        }),
        carried: Default::default(),
    }
}

fn failure() -> Failure {
    Failure {
        reason: "line one\nline two\u{0}".to_owned(),
        category: Category::infra_crash(),
    }
}

fn full_flow(id: FlowId) -> Flow {
    let cancellation = FlowCancellation {
        policy: CancelFlowPolicy::FlowOnly,
        reason: "enough".to_owned(),
        at: Timestamp::from_millis(20),
        member_count: 100_000,
    };
    Flow {
        tags: Arc::new(tags()),
        graph_revision: (1 << 53) - 1,
        cancellation: Some(cancellation),
        populated: true,
        in_use: true,
        opening: true,
        cancelling: true,
        delete_requested: true,
        deleting: true,
        ended_at: Some(Timestamp::from_millis(21)),
        ..flow(id, Timestamp::from_millis(22))
    }
}

fn submission_keys(store: &Store<'_>, flow_id: FlowId) -> Vec<Record> {
    let scopes = [
        IdempotencyScope::Namespace(Namespace::default_namespace()),
        IdempotencyScope::Flow(flow_id),
    ];
    let record = |scope| {
        Record::SubmissionKey(SubmissionKeyRecord {
            scope,
            key: key("submission"),
            execution_id: store.id(),
            content_digest: "digest".to_owned(),
            carried: Default::default(),
        })
    };
    scopes.map(record).into()
}

fn edges(store: &Store<'_>, flow_id: FlowId) -> Vec<Record> {
    let states = [
        EdgeState::Staged,
        EdgeState::Unresolved,
        EdgeState::Satisfied,
        EdgeState::Failed,
    ];
    let full = |state| Edge {
        kind: DependencyKind::AnyTerminal,
        data_passing_ref: Some(DataRef::parse("input").expect("a name")),
        join: EdgeGroupPolicy::AnyOf {
            on_satisfied: OnSatisfied::LetRun,
        },
        ..edge(
            EdgeId::from_uuid(store.uuid()),
            flow_id,
            (store.id(), store.id()),
            state,
        )
    };
    states.map(|state| Record::from(full(state))).into()
}

fn waitpoints(store: &Store<'_>, execution_id: ExecutionId) -> Vec<Record> {
    let suspension_id = SuspensionId::from_uuid(store.uuid());
    let usages = [
        WaitpointUse::Pending {
            expires_at: Timestamp::MAX,
        },
        WaitpointUse::Suspension(suspension_id),
        WaitpointUse::NeverCommitted,
        WaitpointUse::Consumed,
    ];
    let full = |usage| Waitpoint {
        usage,
        buffered: 7,
        ..waitpoint(WaitpointId::from_uuid(store.uuid()), execution_id, Timestamp::MAX)
    };
    usages.map(|usage| Record::from(full(usage))).into()
}

fn pending(store: &Store<'_>) -> PendingWaitpoint {
    PendingWaitpoint {
        waitpoint: WaitpointRef {
            id: WaitpointId::from_uuid(store.uuid()),
            key: WaitpointKey::parse("approval").expect("a key"),
            created_at: Timestamp::from_millis(23),
        },
        expires_at: Timestamp::from_millis(24),
    }
}

fn reports(store: &Store<'_>) -> ReportLog {
    let mut log = ReportLog::default();
    log.remember(BudgetId::from_uuid(store.uuid()), &UsageIdentity::Key(key("usage")));
    log
}

fn requests(store: &Store<'_>) -> RequestLog {
    let mut log = RequestLog::default();
    let request = |text| RequestId::parse(text).ok();
    let revoked = RequestOutcome::Revoked {
        lease_epoch: (1 << 53) - 1,
    };
    log.remember(request("first").as_ref(), revoked);
    let suspension_id = SuspensionId::from_uuid(store.uuid());
    log.remember(request("first").as_ref(), RequestOutcome::Resumed { suspension_id });
    log.remember(
        request("second").as_ref(),
        RequestOutcome::PendingWaitpoint(pending(store)),
    );
    log
}

fn effects(store: &Store<'_>) -> Vec<Effect> {
    let slot = EffectKind::ReleaseSlot {
        quota_policy_id: QuotaPolicyId::from_uuid(store.uuid()),
        grant_id: GrantId::from_uuid(store.uuid()),
    };
    let usage = EffectKind::ReportUsage {
        budget_id: BudgetId::from_uuid(store.uuid()),
        deltas: BTreeMap::from([(Dimension::parse("cents").expect("a dimension"), 0)]),
        attempt_index: 3,
        identity: UsageIdentity::Call(store.id(), RequestId::parse("usage").expect("a request id")),
    };
    [slot, usage]
        .map(|kind| Effect {
            id: EffectId::from_uuid(store.uuid()),
            kind,
        })
        .into()
}

fn tags() -> Tags {
    Tags::from([
        ("empty".to_owned(), String::new()),
        ("team".to_owned(), "a=b, c:d \u{1f980}".to_owned()),
    ])
}

/// A submission with `tag`.
pub(crate) fn tagged(command: CreateExecution, tag: (&str, &str)) -> CreateExecution {
    CreateExecution {
        tags: Tags::from([(tag.0.to_owned(), tag.1.to_owned())]),
        ..command
    }
}

pub(super) fn worker() -> WorkerId {
    WorkerId::parse("arbeiter-ü").expect("a worker")
}

pub(super) fn instance() -> WorkerInstanceId {
    WorkerInstanceId::parse("arbeiter-ü/1").expect("an instance")
}

/// An idempotency key.
pub(crate) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).expect("a key")
}

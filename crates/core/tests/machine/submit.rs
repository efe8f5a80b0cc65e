//! create_execution: repetitions, limits, and everything a submission writes.

use crate::running::{MINUTE, SECOND, code, policy};
use crate::support::{START, submission};
use ff_core::command::lease::Holder;
use ff_core::command::submit::{CreateExecution, Created, DependsOn, LaneState};
use ff_core::error::{Code, Rejection};
use ff_core::id::{AttemptId, ExecutionId, FlowId, LeaseId};
use ff_core::limits::TAGS_MAX;
use ff_core::machine::decided::Write;
use ff_core::machine::submit::{Known, content_digest, create};
use ff_core::machine::{Context, Decided, Draft, Settings};
use ff_core::name::{ContentType, ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{
    Actor, AttemptKind, BlobKey, CounterKey, Counts, Delay, DelayReason, EdgeGroupPolicy, Execution, Fence,
    FlowCounter, Happening, HistorySubject, IdempotencyScope, NextClaim, OnSatisfied, Record, SubmissionKeyRecord,
    Tags,
};
use ff_core::state::{PublicState, public_state};
use ff_core::time::{Duration, Timestamp};
use ff_core::trace::{TRACE_TAG, TraceParent};
use serde_json::json;
use uuid::Uuid;

const ID: ExecutionId = ExecutionId::new(7, Uuid::from_u128(1));
const OTHER: ExecutionId = ExecutionId::new(7, Uuid::from_u128(2));
const FLOW: FlowId = FlowId::from_uuid(Uuid::from_u128(3));

fn plain() -> CreateExecution {
    submission().unwrap()
}

fn keyed() -> CreateExecution {
    CreateExecution {
        idempotency_key: Some(IdempotencyKey::parse("order-1").unwrap()),
        ..plain()
    }
}

fn at(now: Timestamp) -> Context {
    Context {
        actor: Actor::Client(Identity::parse("alice").unwrap()),
        ..Context::engine(now)
    }
}

fn submit(command: &CreateExecution, known: Known<'_>) -> Result<Decided<Created>, Rejection> {
    create(command, ID, known, &at(START))
}

fn accepted(command: &CreateExecution) -> Draft {
    let decided = submit(command, Known::default()).unwrap();
    assert_eq!(decided.outcome, Created::Created { execution_id: ID });
    decided.draft
}

fn created(command: &CreateExecution) -> Execution {
    accepted(command).execution(ID).cloned().unwrap()
}

fn key_record(draft: &Draft) -> Option<(SubmissionKeyRecord, Option<Duration>)> {
    draft.writes.iter().find_map(|write| match write {
        Write::Create {
            record: Record::SubmissionKey(key),
            ttl,
        } => Some((key.clone(), *ttl)),
        _ => None,
    })
}

fn depends_on(upstream: ExecutionId) -> DependsOn {
    DependsOn {
        edge_id: None,
        upstream,
        dependency_kind: Default::default(),
        data_passing_ref: None,
    }
}

/// Every way in which a submission can say something else.
fn variations() -> Vec<CreateExecution> {
    vec![
        CreateExecution {
            namespace: Namespace::parse("other").unwrap(),
            ..plain()
        },
        CreateExecution {
            lane_id: LaneId::parse("other").unwrap(),
            ..plain()
        },
        CreateExecution {
            execution_kind: ExecutionKind::parse("other").unwrap(),
            ..plain()
        },
        CreateExecution {
            input: Payload::binary("other"),
            ..plain()
        },
        CreateExecution {
            input: Payload {
                content_type: ContentType::json(),
                ..plain().input
            },
            ..plain()
        },
        CreateExecution { priority: 1, ..plain() },
        CreateExecution {
            creator_identity: Some(Identity::parse("bob").unwrap()),
            ..plain()
        },
        CreateExecution {
            tags: Tags::from([("a".to_owned(), "b".to_owned())]),
            ..plain()
        },
        CreateExecution {
            policy: policy(&json!({"max_replay_count": 1})),
            ..plain()
        },
        CreateExecution {
            delay_until: Some(START + MINUTE),
            ..plain()
        },
        CreateExecution {
            execution_deadline_at: Some(START + MINUTE),
            ..plain()
        },
        CreateExecution {
            flow_id: Some(FLOW),
            ..plain()
        },
        CreateExecution {
            flow_id: Some(FLOW),
            depends_on: vec![depends_on(OTHER)],
            ..plain()
        },
        CreateExecution {
            flow_id: Some(FLOW),
            edge_group_policy: Some(EdgeGroupPolicy::AnyOf {
                on_satisfied: OnSatisfied::LetRun,
            }),
            ..plain()
        },
    ]
}

#[test]
fn the_digest_of_a_submission_covers_everything_it_says_but_its_names() {
    let mut digests: Vec<_> = variations().iter().map(content_digest).collect();
    digests.push(content_digest(&plain()));
    let said = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), said);
    let named = CreateExecution {
        execution_id: Some(OTHER),
        ..keyed()
    };
    assert_eq!(content_digest(&named), content_digest(&plain()));
}

#[test]
fn the_same_submission_under_the_same_id_is_a_duplicate_that_changes_nothing() {
    let existing = created(&plain());
    let known = Known {
        existing: Some(&existing),
        ..Known::default()
    };
    let duplicate = Created::Duplicate {
        execution_id: ID,
        content_differs: false,
    };
    assert_eq!(submit(&plain(), known).unwrap(), Decided::unchanged(duplicate));
    for other in variations() {
        assert_eq!(code(submit(&other, known)), Code::AlreadyExists);
    }
}

#[test]
fn a_key_answers_with_its_first_execution_and_says_whether_the_content_differs() {
    let (key, _) = key_record(&accepted(&keyed())).unwrap();
    let known = Known {
        key: Some(&key),
        ..Known::default()
    };
    let answer = |command: &CreateExecution| create(command, OTHER, known, &at(START)).unwrap();
    let duplicate = |content_differs| {
        Decided::unchanged(Created::Duplicate {
            execution_id: ID,
            content_differs,
        })
    };
    assert_eq!(answer(&keyed()), duplicate(false));
    let differing = CreateExecution { priority: 5, ..keyed() };
    assert_eq!(answer(&differing), duplicate(true));
}

#[test]
fn a_key_comes_before_an_id() {
    let (key, _) = key_record(&accepted(&keyed())).unwrap();
    let other = Execution {
        id: OTHER,
        ..created(&variations()[0])
    };
    let known = Known {
        existing: Some(&other),
        key: Some(&key),
        ..Known::default()
    };
    let outcome = create(&keyed(), OTHER, known, &at(START)).unwrap().outcome;
    assert!(matches!(outcome, Created::Duplicate { execution_id: ID, .. }));
}

#[test]
fn a_repetition_is_recognised_after_its_deadline_has_passed() {
    let command = CreateExecution {
        execution_deadline_at: Some(START + MINUTE),
        ..plain()
    };
    let existing = created(&command);
    let known = Known {
        existing: Some(&existing),
        ..Known::default()
    };
    let outcome = create(&command, ID, known, &at(START + MINUTE)).unwrap().outcome;
    assert!(matches!(outcome, Created::Duplicate { execution_id: ID, .. }));
}

#[test]
fn a_repetition_is_recognised_on_a_lane_that_takes_no_new_work() {
    let existing = created(&plain());
    let known = Known {
        existing: Some(&existing),
        lane: LaneState::Disabled,
        ..Known::default()
    };
    assert!(submit(&plain(), known).is_ok());
}

#[test]
fn a_key_is_kept_for_the_dedup_window_and_not_as_long_as_its_execution() {
    let (key, ttl) = key_record(&accepted(&keyed())).unwrap();
    let expected = SubmissionKeyRecord {
        scope: IdempotencyScope::Namespace(Namespace::parse("default").unwrap()),
        key: IdempotencyKey::parse("order-1").unwrap(),
        execution_id: ID,
        content_digest: content_digest(&keyed()),
        carried: Default::default(),
    };
    assert_eq!((key, ttl), (expected, Some(Duration::from_hours(24))));
    let short = CreateExecution {
        policy: policy(&json!({"dedup_window_ms": 5000, "retention_ms": "never"})),
        ..keyed()
    };
    assert_eq!(key_record(&accepted(&short)).unwrap().1, Some(Duration::from_secs(5)));
    assert_eq!(key_record(&accepted(&plain())), None);
}

#[test]
fn a_key_is_unique_in_the_flow_of_a_member_and_in_the_namespace_of_a_solo() {
    let tenant = Namespace::parse("tenant").unwrap();
    let solo = CreateExecution {
        namespace: tenant.clone(),
        ..keyed()
    };
    let member = CreateExecution {
        flow_id: Some(FLOW),
        ..solo.clone()
    };
    let scope = |command: &CreateExecution| key_record(&accepted(command)).unwrap().0.scope;
    assert_eq!(scope(&solo), IdempotencyScope::Namespace(tenant));
    assert_eq!(scope(&member), IdempotencyScope::Flow(FLOW));
}

#[test]
fn draining_and_disabled_lanes_take_no_new_work() {
    for (lane, accepts) in [
        (LaneState::Active, true),
        (LaneState::Paused, true),
        (LaneState::Draining, false),
        (LaneState::Disabled, false),
    ] {
        let known = Known {
            lane,
            ..Known::default()
        };
        let result = submit(&plain(), known).map_err(|rejection| rejection.code);
        let refused = (!accepts).then_some(Code::LaneNotAccepting);
        assert_eq!(result.err(), refused, "{lane:?}");
    }
}

#[test]
fn active_and_draining_lanes_hand_out() {
    let hands_out = [
        LaneState::Active,
        LaneState::Paused,
        LaneState::Draining,
        LaneState::Disabled,
    ]
    .map(LaneState::hands_out);
    assert_eq!(hands_out, [true, false, true, false]);
}

fn tagged(tags: Tags) -> Option<Code> {
    let command = CreateExecution { tags, ..plain() };
    submit(&command, Known::default()).err().map(|rejection| rejection.code)
}

fn tag(key: &str, value: &str) -> Tags {
    Tags::from([(key.to_owned(), value.to_owned())])
}

#[test]
fn names_that_begin_with_an_underscore_are_the_engines_own() {
    let lane = |name: &str| CreateExecution {
        lane_id: LaneId::parse(name).unwrap(),
        ..plain()
    };
    let kind = |name: &str| CreateExecution {
        execution_kind: ExecutionKind::parse(name).unwrap(),
        ..plain()
    };
    for ours in [lane("_webhooks"), kind("_deliver")] {
        assert_eq!(code(submit(&ours, Known::default())), Code::InvalidInput);
    }
    accepted(&lane("a_b"));
    accepted(&kind("a_b"));
}

#[test]
fn an_execution_has_at_most_64_tags() {
    let tags = |n: u32| (0..n).map(|i| (format!("k{i}"), String::new())).collect();
    assert_eq!(tagged(tags(64)), None);
    assert_eq!(tagged(tags(65)), Some(Code::InvalidInput));
}

#[test]
fn a_tag_key_starts_with_a_letter_and_is_lower_case() {
    for good in ["a", "z9", "a_b.c-d", &"k".repeat(128)] {
        assert_eq!(tagged(tag(good, "v")), None, "{good}");
    }
    for bad in [
        "",
        "9a",
        "_a",
        ".a",
        "-a",
        "A",
        "aB",
        "a b",
        "a/b",
        "ä",
        "aä",
        &"k".repeat(129),
    ] {
        assert_eq!(tagged(tag(bad, "v")), Some(Code::InvalidTagKey), "{bad}");
    }
}

#[test]
fn a_tag_value_has_at_most_1024_bytes() {
    assert_eq!(tagged(tag("a", &"v".repeat(1_024))), None);
    assert_eq!(tagged(tag("a", &"v".repeat(1_025))), Some(Code::InvalidInput));
    assert_eq!(tagged(tag("a", &"ä".repeat(513))), Some(Code::InvalidInput));
}

#[test]
fn a_priority_is_at_most_9000() {
    let prioritised = |priority| CreateExecution { priority, ..plain() };
    assert_eq!(created(&prioritised(9_000)).priority, 9_000);
    assert_eq!(code(submit(&prioritised(9_001), Known::default())), Code::InvalidInput);
}

#[test]
fn an_input_is_at_most_as_large_as_the_settings_say() {
    let of = |length: usize| CreateExecution {
        input: Payload::binary(vec![0; length]),
        ..plain()
    };
    assert_eq!(created(&of(1024 * 1024)).definition.input_bytes, 1024 * 1024);
    let large = submit(&of(1024 * 1024 + 1), Known::default());
    assert_eq!(code(large), Code::PayloadTooLarge);
    let context = Context {
        settings: Settings {
            payload_bytes_max: 3,
            ..Settings::default()
        },
        ..at(START)
    };
    assert!(create(&of(3), ID, Known::default(), &context).is_ok());
    assert_eq!(
        code(create(&of(4), ID, Known::default(), &context)),
        Code::PayloadTooLarge
    );
}

#[test]
fn a_deadline_must_lie_in_the_future() {
    let until = |moment| CreateExecution {
        execution_deadline_at: Some(moment),
        ..plain()
    };
    for past in [START, START - SECOND] {
        assert_eq!(code(submit(&until(past), Known::default())), Code::InvalidInput);
    }
    let next = START + Duration::from_millis(1);
    assert_eq!(created(&until(next)).deadline_at, Some(next));
}

#[test]
fn a_delay_that_is_over_is_none() {
    let delay = |until| {
        let command = CreateExecution {
            delay_until: Some(until),
            ..plain()
        };
        created(&command).runnable().unwrap().delay.clone()
    };
    assert_eq!(delay(START - SECOND), None);
    assert_eq!(delay(START), None);
    let requested = Delay {
        until: START + SECOND,
        reason: DelayReason::Requested,
    };
    assert_eq!(delay(START + SECOND), Some(requested));
}

#[test]
fn dependencies_and_their_policy_need_a_flow() {
    let depending = CreateExecution {
        depends_on: vec![depends_on(OTHER)],
        ..plain()
    };
    let joining = CreateExecution {
        edge_group_policy: Some(EdgeGroupPolicy::default()),
        ..plain()
    };
    for command in [depending, joining] {
        assert_eq!(code(submit(&command, Known::default())), Code::InvalidInput);
        let flow_id = Some(FLOW);
        accepted(&CreateExecution { flow_id, ..command });
    }
}

#[test]
fn a_submission_keeps_what_it_says() {
    let command = CreateExecution {
        namespace: Namespace::parse("tenant").unwrap(),
        lane_id: LaneId::parse("gpu").unwrap(),
        priority: 7,
        creator_identity: Some(Identity::parse("bob").unwrap()),
        tags: tag("a", "b"),
        policy: policy(&json!({"max_replay_count": 1})),
        execution_deadline_at: Some(START + MINUTE),
        ..keyed()
    };
    let execution = created(&command);
    let definition = &execution.definition;
    assert_eq!(
        (&definition.namespace, &definition.lane),
        (&command.namespace, &command.lane_id)
    );
    assert_eq!(
        (&definition.kind, &definition.creator),
        (&command.execution_kind, &command.creator_identity)
    );
    assert_eq!((definition.created_at, execution.updated_at), (START, START));
    assert_eq!(
        (&definition.policy, &definition.idempotency_key),
        (&command.policy, &command.idempotency_key)
    );
    assert_eq!(definition.execution_deadline_at, command.execution_deadline_at);
    assert_eq!((definition.input_bytes, definition.flow), (5, None));
    assert_eq!(definition.content_digest, content_digest(&command));
    assert_eq!((execution.priority, &*execution.tags), (7, &command.tags));
}

#[test]
fn a_new_execution_has_done_nothing_yet() {
    let execution = created(&plain());
    let first = NextClaim {
        attempt_index: 0,
        kind: AttemptKind::Initial,
        continues: false,
        tier: 0,
        timeout: None,
        resumed: false,
        revoked: false,
    };
    let runnable = execution.runnable().unwrap();
    assert_eq!(runnable.next_claim, first);
    assert_eq!((&runnable.block, &runnable.grant), (&None, &None));
    assert_eq!((execution.lease_epoch, execution.counts), (0, Counts::default()));
    assert!(execution.attempt.is_none() && execution.outbox.is_empty() && !execution.follow_ups.any());
    assert!(execution.dependencies.is_none() && !execution.unopened && execution.hold.is_none());
}

#[test]
fn a_submission_writes_its_record_its_input_and_a_line_of_history() {
    let draft = accepted(&plain());
    assert_eq!(draft.writes.len(), 1);
    assert!(matches!(&draft.writes[0], Write::Create { ttl: None, .. }));
    assert_eq!(draft.blobs, [(BlobKey::Input(ID), Payload::binary("input"))]);
    let [line] = &draft.history[..] else {
        panic!("{:?}", draft.history)
    };
    assert_eq!(
        (line.subject, line.what),
        (HistorySubject::Execution(ID), Happening::Created)
    );
    assert_eq!((line.at, &line.actor), (START, &at(START).actor));
    assert_eq!(
        (line.lane.as_ref(), line.kind.as_str()),
        (Some(&plain().lane_id), "kind")
    );
    assert_eq!(
        (line.attempt_index, line.lease_epoch, &line.detail),
        (None, None, &None)
    );
    assert!(
        draft.limits_queues,
        "a submission may be refused for opening one queue too many"
    );
    assert!(draft.increments.is_empty() && draft.nudges.is_empty() && draft.not_after.is_none());
}

#[test]
fn a_member_is_counted_in_its_flow_where_it_stands() {
    let member = CreateExecution {
        flow_id: Some(FLOW),
        ..plain()
    };
    let counter = |counter| (CounterKey::Flow(FLOW, counter), 1);
    for (command, state) in [
        (member.clone(), PublicState::Waiting),
        (
            CreateExecution {
                delay_until: Some(START + SECOND),
                ..member.clone()
            },
            PublicState::Delayed,
        ),
        (
            CreateExecution {
                depends_on: vec![depends_on(OTHER)],
                ..member
            },
            PublicState::WaitingChildren,
        ),
    ] {
        let draft = accepted(&command);
        let expected = [FlowCounter::State(state), FlowCounter::Members, FlowCounter::Open].map(counter);
        assert_eq!(draft.increments, expected);
        assert_eq!(draft.history[0].flow_id, Some(FLOW));
    }
}

#[test]
fn a_parent_needs_the_flow_it_spawns_into() {
    let fence = Fence {
        lease_id: LeaseId::from_uuid(Uuid::from_u128(8)),
        lease_epoch: 1,
        attempt_id: AttemptId::from_uuid(Uuid::from_u128(9)),
    };
    let spawned = CreateExecution {
        parent_fence: Some(Holder {
            execution_id: OTHER,
            fence,
        }),
        ..plain()
    };
    assert_eq!(code(submit(&spawned, Known::default())), Code::InvalidInput);
    let member = CreateExecution {
        flow_id: Some(FLOW),
        ..spawned
    };
    assert!(submit(&member, Known::default()).is_ok());
}

#[test]
fn dependencies_hold_a_member_back_and_fix_their_policy() {
    let member = CreateExecution {
        flow_id: Some(FLOW),
        edge_group_policy: Some(EdgeGroupPolicy::AnyOf {
            on_satisfied: OnSatisfied::LetRun,
        }),
        ..plain()
    };
    let free = created(&member).dependencies.unwrap();
    assert_eq!((free.fixed, free.waiting, free.unsatisfied), (false, false, 0));
    assert_eq!(Some(free.policy), member.edge_group_policy);
    let depends_on = vec![depends_on(OTHER), depends_on(ID)];
    let execution = created(&CreateExecution { depends_on, ..member });
    let held = execution.dependencies.clone().unwrap();
    assert_eq!((held.fixed, held.waiting, held.unsatisfied), (true, true, 2));
    assert_eq!(public_state(&execution), PublicState::WaitingChildren);
}

#[test]
fn a_submission_carries_the_trace_it_came_in() {
    let trace = |text| Context {
        trace: Some(TraceParent::parse(text).unwrap()),
        ..at(START)
    };
    let first = trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let second = trace("00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01");
    let tags_of = |command: &CreateExecution, context: &Context| {
        let decided = create(command, ID, Known::default(), context).unwrap();
        decided.draft.execution(ID).unwrap().clone()
    };
    let execution = tags_of(&plain(), &first);
    assert_eq!(execution.tags[TRACE_TAG], first.trace.as_ref().unwrap().as_str());
    assert!(!tags_of(&plain(), &at(START)).tags.contains_key(TRACE_TAG));

    let known = Known {
        existing: Some(&execution),
        ..Known::default()
    };
    let repeated = create(&plain(), ID, known, &second).unwrap().outcome;
    let duplicate = Created::Duplicate {
        execution_id: ID,
        content_differs: false,
    };
    assert_eq!(repeated, duplicate, "a repetition comes in another trace");

    let own = CreateExecution {
        tags: [(TRACE_TAG.to_owned(), "its own".to_owned())].into(),
        ..plain()
    };
    assert_eq!(tags_of(&own, &first).tags[TRACE_TAG], "its own");
    let full = CreateExecution {
        tags: (0..TAGS_MAX)
            .map(|number| (format!("tag{number}"), String::new()))
            .collect(),
        ..plain()
    };
    assert_eq!(tags_of(&full, &first).tags.len(), TAGS_MAX);
}

#[test]
fn what_records_no_step_stores_no_byte_for_steps() {
    let stored = serde_json::to_value(created(&plain())).unwrap();
    let fields: Vec<&String> = stored.as_object().unwrap().keys().collect();
    let of_steps = |field: &&&String| field.contains("step") || field.contains("journal");
    assert_eq!(fields.iter().filter(of_steps).count(), 0, "{fields:?}");
}

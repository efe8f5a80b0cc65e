//! Recording steps: their places, their content, and how many there may be.

use std::collections::BTreeMap;

use ff_core::command::flow::ReplayExecution;
use ff_core::command::lease::{Complete, DelayUntil, Fail, LetGo, Release};
use ff_core::command::steps::{ProgressNote, RecordSteps, RecordedSteps, StepReport, StepStatus, StepUsage};
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::error::{Code, Rejection};
use ff_core::id::{EffectId, WaitpointId};
use ff_core::limits::{OUTBOX_MAX, STEP_OUTPUT_BYTES_DEFAULT, STEPS_DEFAULT};
use ff_core::machine::decided::Write;
use ff_core::machine::replay::{Past, replay};
use ff_core::machine::steps::{self, Around};
use ff_core::machine::suspend::{self, Early};
use ff_core::machine::{Context, Draft, fail, lease};
use ff_core::name::{Category, Dimension, StepKey, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{
    BlobKey, Execution, Forgotten, Journal, ReasonCode, Record, ResumeCondition, Step, StepKind, StepState,
    TimeoutBehavior,
};
use ff_core::time::Duration;
use serde_json::json;
use uuid::Uuid;

use crate::running::{Case, MINUTE, SECOND, budget_id, code};

fn key(text: &str) -> StepKey {
    StepKey::parse(text).unwrap()
}

fn done(text: &str, output: &'static str) -> StepReport {
    StepReport::done(key(text), Some(Payload::binary(output)))
}

fn recording(case: &Case, steps: Vec<StepReport>) -> RecordSteps {
    RecordSteps {
        fence: Some(case.fence()),
        steps,
        progress: None,
    }
}

fn record(case: &mut Case, reports: Vec<StepReport>) -> Result<RecordedSteps, Rejection> {
    let command = recording(case, reports);
    case.act(|execution, context| steps::record(execution, &command, context))
}

fn places(recorded: &RecordedSteps) -> Vec<(u64, StepStatus)> {
    recorded.steps.iter().map(|step| (step.seq, step.status)).collect()
}

#[test]
fn a_step_has_a_place_of_its_own_and_its_output_stands_there() {
    let mut case = Case::new().leased();
    let first = record(&mut case, vec![done("a", "1"), done("b", "22")]).unwrap();
    assert_eq!(places(&first), [(0, StepStatus::Recorded), (1, StepStatus::Recorded)]);
    let blobs = [
        (BlobKey::Step(case.id, 0), Payload::binary("1")),
        (BlobKey::Step(case.id, 1), Payload::binary("22")),
    ];
    assert_eq!(case.draft.blobs, blobs);
    let again = record(&mut case, vec![done("a", "1"), done("c", "333")]).unwrap();
    assert_eq!(places(&again), [(0, StepStatus::Already), (2, StepStatus::Recorded)]);
    let journal = case.execution().steps;
    assert_eq!((journal.count, journal.bytes, journal.next_seq), (3, 6, 3));
    let step = &case.store.steps(case.id)[2];
    assert_eq!(
        (step.attempt_index, step.lease_epoch),
        (0, case.execution().lease_epoch)
    );
}

#[test]
fn every_part_of_the_content_tells_one_step_from_another() {
    let mut case = Case::new().leased();
    record(&mut case, vec![done("a", "1")]).unwrap();
    let other_type = Payload {
        content_type: ff_core::name::ContentType::json(),
        ..Payload::binary("1")
    };
    for other in [
        done("a", "2"),
        StepReport {
            output: Some(other_type),
            ..done("a", "1")
        },
        StepReport {
            output: None,
            ..done("a", "1")
        },
        StepReport {
            state: StepState::Started,
            output: None,
            ..done("a", "1")
        },
        StepReport {
            input_digest: Some("d".to_owned()),
            ..done("a", "1")
        },
    ] {
        let refused = record(&mut case, vec![other.clone()]);
        assert_eq!(code(refused), Code::StepConflict, "{other:?}");
    }
    let later = StepReport {
        started_at: Some(case.now()),
        ..done("a", "1")
    };
    let again = record(&mut case, vec![later]).unwrap();
    assert_eq!(
        places(&again),
        [(0, StepStatus::Already)],
        "when it began is no content"
    );
}

#[test]
fn one_that_replaces_another_takes_its_count_and_gives_back_its_bytes() {
    let mut case = Case::new().leased();
    record(&mut case, vec![done("a", "12345")]).unwrap();
    let replacing = StepReport {
        replaces_seq: Some(0),
        ..done("a", "1")
    };
    let replaced = record(&mut case, vec![replacing]).unwrap();
    assert_eq!(places(&replaced), [(1, StepStatus::Recorded)]);
    let journal = case.execution().steps;
    assert_eq!((journal.count, journal.bytes, journal.next_seq), (1, 1, 2));
}

#[test]
fn what_a_replay_has_forgotten_is_recorded_again() {
    let mut case = Case::new().leased();
    record(&mut case, vec![done("a", "1"), done("b", "2")]).unwrap();
    let mut execution = case.execution();
    execution.steps = Journal {
        count: 1,
        bytes: 1,
        forgotten: vec![Forgotten {
            from: 1,
            before: 2,
            failed_only: false,
        }],
        ..execution.steps
    };
    let command = recording(&case, vec![done("a", "1"), done("b", "other")]);
    let decided = steps::record(&execution, &command, &case.context()).unwrap();
    assert_eq!(
        places(&decided.outcome),
        [(0, StepStatus::Already), (2, StepStatus::Recorded)]
    );
    let after = &decided.draft.execution(case.id).unwrap().steps;
    assert_eq!((after.count, after.bytes), (2, 6));
}

#[test]
fn what_does_not_fit_is_refused_whole_and_says_how_much_room_there_is() {
    let case = Case::new().leased();
    let with = |count, bytes| {
        let mut execution = case.execution();
        execution.steps = Journal {
            count,
            bytes,
            next_seq: count,
            forgotten: Vec::new(),
            spawned: false,
        };
        execution
    };
    let try_two = |count, bytes| {
        let command = recording(&case, vec![done("a", "1"), done("b", "22")]);
        steps::record(&with(count, bytes), &command, &case.context())
    };
    assert!(try_two(STEPS_DEFAULT - 2, STEP_OUTPUT_BYTES_DEFAULT - 3).is_ok());
    for (count, bytes, steps_left, bytes_left) in [
        (STEPS_DEFAULT - 1, 0, 1, STEP_OUTPUT_BYTES_DEFAULT),
        (0, STEP_OUTPUT_BYTES_DEFAULT - 2, STEPS_DEFAULT, 2),
    ] {
        let refused = try_two(count, bytes).unwrap_err();
        assert_eq!(refused.code, Code::StepLimitExceeded);
        assert_eq!(
            (&refused.fields["steps_left"], &refused.fields["bytes_left"]),
            (&steps_left.into(), &bytes_left.into())
        );
    }
}

#[test]
fn recording_confirms_and_renews_the_lease() {
    let mut case = Case::new().leased();
    case.pass(SECOND);
    let recorded = record(&mut case, vec![done("a", "1")]).unwrap();
    let lease = case.lease_record();
    assert!(lease.confirmed);
    assert_eq!(recorded.expires_at, case.now() + lease.ttl);
    assert_eq!(lease.expires_at, recorded.expires_at);
}

#[test]
fn progress_comes_along() {
    let mut case = Case::new().leased();
    let mut command = recording(&case, vec![done("a", "1")]);
    command.progress = Some(ProgressNote {
        pct: Some(40),
        message: Some("half".to_owned()),
    });
    case.act(|execution, context| steps::record(execution, &command, context))
        .unwrap();
    assert_eq!(case.execution().progress.unwrap().pct, Some(40));
    command.progress = Some(ProgressNote {
        pct: Some(101),
        message: None,
    });
    command.steps = vec![done("b", "1")];
    let refused = case.act(|execution, context| steps::record(execution, &command, context));
    assert_eq!(code(refused), Code::InvalidInput);
    assert_eq!(case.store.steps(case.id).len(), 1, "or nothing of it");
}

/// What is left of a task that recorded `a` with the way it let go.
fn let_go_with(act: impl FnOnce(&mut Case, Vec<StepReport>)) -> Vec<Step> {
    let mut case = Case::new().leased();
    act(&mut case, vec![done("a", "1")]);
    assert_eq!(case.execution().steps.count, 1);
    case.store.steps(case.id)
}

#[test]
fn every_way_to_let_a_task_go_records_steps_with_it() {
    let released = let_go_with(|case, steps| {
        let command = Release {
            fence: Some(case.fence()),
            steps,
        };
        case.act(|execution, context| lease::release(execution, &command, context))
            .unwrap();
    });
    let completed = let_go_with(|case, steps| {
        let command = Complete {
            fence: Some(case.fence()),
            result: None,
            steps,
        };
        case.act(|execution, context| lease::complete(execution, &command, context))
            .unwrap();
    });
    let failed = let_go_with(|case, steps| {
        let command = Fail {
            fence: Some(case.fence()),
            reason: "no".to_owned(),
            category: Category::parse("transient").unwrap(),
            retry_after: None,
            steps,
        };
        case.act(|execution, context| fail::fail(execution, &command, context))
            .unwrap();
    });
    for steps in [released, completed, failed] {
        assert_eq!(steps.iter().map(|step| step.key.as_str()).collect::<Vec<_>>(), ["a"]);
    }
}

fn sleep(case: &mut Case, name: &str, until: ff_core::time::Timestamp) -> Result<LetGo, Rejection> {
    sleep_after(case, vec![done("before", "1")], name, until)
}

fn sleep_after(
    case: &mut Case,
    steps: Vec<StepReport>,
    name: &str,
    until: ff_core::time::Timestamp,
) -> Result<LetGo, Rejection> {
    let command = DelayUntil {
        fence: Some(case.fence()),
        until,
        steps,
        step: Some(key(name)),
    };
    case.act(|execution, context| lease::delay(execution, &command, context))
}

#[test]
fn a_delay_with_a_name_is_a_sleep_that_is_done() {
    let mut case = Case::new().leased();
    let until = case.now() + MINUTE;
    sleep(&mut case, "cool#0", until).unwrap();
    let steps = case.store.steps(case.id);
    assert_eq!(
        steps.iter().map(|step| step.kind).collect::<Vec<_>>(),
        [StepKind::Run, StepKind::Sleep]
    );
    assert_eq!((steps[1].state, steps[1].until), (StepState::Done, Some(until)));
    case.pass(MINUTE);
    case.pump();
    case.lease();
    let later = case.now() + MINUTE;
    sleep(&mut case, "cool#0", later).unwrap();
    let again = case.store.steps(case.id);
    assert_eq!(again, steps, "it stays as it was recorded");
    case.pass(MINUTE);
    case.pump();
    case.lease();
    let refused = sleep_after(&mut case, Vec::new(), "before", later);
    assert_eq!(code(refused), Code::StepConflict, "the name of something else");
}

#[test]
fn a_wait_that_time_ended_counts_when_its_execution_is_replayed_in_the_same_moment() {
    let mut case = Case::with_policy(&json!({"timeout_policy": {"execution_deadline_ms": 3_600_000}})).leased();
    let command = Suspend {
        fence: Some(case.fence()),
        waitpoints: vec![WaitpointChoice::Fresh {
            waitpoint_key: WaitpointKey::parse("k").unwrap(),
            waitpoint_id: Some(WaitpointId::from_uuid(Uuid::from_u128(1))),
        }],
        resume_condition: ResumeCondition::TimeoutOnly,
        reason_code: ReasonCode::WaitingForCallback,
        timeout_at: Some(case.now() + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::AutoResumeWithTimeoutSignal),
        resume_delay: Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        steps: Vec::new(),
        step: Some(key("reply#0")),
    };
    let early = Early {
        waitpoints: &[],
        signals: &[],
    };
    let suspended = suspend::suspend(&case.execution(), &command, early, &case.context()).unwrap();
    let execution = written(&suspended.draft);
    case.pass(Duration::from_hours(2));
    let past = Past {
        archived: false,
        has_failed_edges: false,
        steps: Vec::new(),
    };
    let replayed = replay(&execution, &ReplayExecution::default(), &past, &case.context()).unwrap();
    let is_step = |write: &&Write| {
        matches!(
            write,
            Write::Create {
                record: Record::Step(_),
                ..
            }
        )
    };
    assert_eq!(replayed.draft.writes.iter().filter(is_step).count(), 1);
    assert_eq!(written(&replayed.draft).steps.count, 1);
}

/// The execution that a draft writes.
fn written(draft: &Draft) -> Execution {
    let execution = draft.writes.iter().find_map(|write| match write {
        Write::Put(Record::Execution(execution)) => Some((**execution).clone()),
        _ => None,
    });
    execution.expect("it is written")
}

#[test]
fn the_name_of_a_sleep_stands_nowhere_else_in_its_call() {
    let mut case = Case::new().leased();
    let until = case.now() + MINUTE;
    assert_eq!(code(sleep(&mut case, "before", until)), Code::InvalidInput);
    assert!(case.store.steps(case.id).is_empty());
}

fn cost(budget: u128, tokens: u64) -> StepUsage {
    StepUsage {
        budget_id: budget_id(budget),
        deltas: BTreeMap::from([(Dimension::parse("tokens").unwrap(), tokens)]),
    }
}

fn costing(text: &str, usage: Vec<StepUsage>) -> StepReport {
    StepReport {
        usage,
        ..done(text, "1")
    }
}

/// What waits in the outbox: the budget, and its tokens.
fn sent(case: &Case) -> Vec<(ff_core::id::BudgetId, u64)> {
    let execution = case.execution();
    let reports = execution.outbox.iter().map(|effect| match &effect.kind {
        ff_core::record::EffectKind::ReportUsage { budget_id, deltas, .. } => (*budget_id, deltas.values().sum()),
        other => panic!("{other:?}"),
    });
    reports.collect()
}

#[test]
fn what_steps_cost_is_one_effect_for_each_budget_and_paid_once() {
    let mut case = Case::new().leased();
    let reports = vec![
        costing("a", vec![cost(1, 10), cost(2, 1)]),
        costing("b", vec![cost(1, 5)]),
        done("c", "1"),
    ];
    record(&mut case, reports.clone()).unwrap();
    assert_eq!(sent(&case), [(budget_id(1), 15), (budget_id(2), 1)]);
    let attempt = case.execution().attempt.unwrap();
    assert_eq!(attempt.usage[&budget_id(1)].values().sum::<u64>(), 15);
    record(&mut case, reports).unwrap();
    assert_eq!(sent(&case).len(), 2, "what is recorded is paid");
    assert_eq!(case.store.steps(case.id)[0].usage.len(), 2);
}

/// What names the cost of a step that is recorded now.
fn effect_of(case: &Case, report: StepReport) -> EffectId {
    let command = recording(case, vec![report]);
    let decided = steps::record(&case.execution(), &command, &case.context()).unwrap();
    let after = decided.draft.execution(case.id).unwrap();
    after.outbox.last().expect("it costs something").id
}

#[test]
fn what_a_step_costs_is_the_same_effect_wherever_its_place_is() {
    let mut case = Case::new().leased();
    let report = || costing("a", vec![cost(1, 10)]);
    let first = effect_of(&case, report());
    assert_ne!(effect_of(&case, costing("b", vec![cost(1, 10)])), first);
    record(&mut case, vec![done("before", "1")]).unwrap();
    assert_eq!(effect_of(&case, report()), first);
    let recorded = record(&mut case, vec![report()]).unwrap();
    let again = StepReport {
        replaces_seq: Some(recorded.steps[0].seq),
        output: done("a", "2").output,
        ..report()
    };
    assert_ne!(
        effect_of(&case, again),
        first,
        "one that replaces another is paid as well"
    );
}

#[test]
fn a_budget_that_is_not_there_is_not_charged_but_the_step_is_recorded() {
    let case = Case::new().leased();
    let command = recording(&case, vec![costing("a", vec![cost(1, 10), cost(2, 1)])]);
    let context = Context {
        steps: Around {
            missing_budgets: [budget_id(1)].into(),
            ..Around::default()
        },
        ..case.context()
    };
    let decided = steps::record(&case.execution(), &command, &context).unwrap();
    assert_eq!(decided.outcome.steps[0].status, StepStatus::Recorded);
    let after = decided.draft.execution(case.id).unwrap();
    assert_eq!(after.outbox.len(), 1);
}

#[test]
fn steps_that_cost_wait_while_too_much_is_unsent() {
    let mut case = Case::new().leased();
    for n in 0..OUTBOX_MAX {
        record(&mut case, vec![costing(&format!("s{n}"), vec![cost(1, 1)])]).unwrap();
    }
    let refused = record(&mut case, vec![costing("more", vec![cost(1, 1)])]);
    assert_eq!(code(refused), Code::Unavailable);
    record(&mut case, vec![done("free", "1")]).unwrap();
}

#[test]
fn steps_of_one_call_charge_a_few_budgets_only() {
    let mut case = Case::new().leased();
    let all = |n| (1..=n).map(|budget| cost(budget, 1)).collect();
    assert_eq!(
        code(record(&mut case, vec![costing("a", all(17))])),
        Code::BatchTooLarge
    );
    record(&mut case, vec![costing("a", all(16))]).unwrap();
}

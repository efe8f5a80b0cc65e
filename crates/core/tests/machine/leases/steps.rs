//! Recording steps: their places, their content, and how many there may be.

use std::collections::BTreeMap;

use ff_core::command::steps::{RecordSteps, RecordedSteps, StepReport, StepStatus};
use ff_core::error::{Code, Rejection};
use ff_core::limits::{STEP_OUTPUT_BYTES_MAX, STEPS_MAX};
use ff_core::machine::decided::Write;
use ff_core::machine::steps::{self, KnownSteps};
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Forgotten, Journal, Record, Step, StepKind, StepState};

use crate::running::{Case, SECOND, code};

/// The steps that were written so far.
#[derive(Default)]
struct Recorded(BTreeMap<StepKey, Step>);

impl KnownSteps for Recorded {
    fn step(&self, key: &StepKey) -> Option<&Step> {
        self.0.get(key)
    }
}

fn done(key: &str, output: &'static str) -> StepReport {
    StepReport {
        key: StepKey::parse(key).unwrap(),
        kind: StepKind::Run,
        state: StepState::Done,
        output: Some(Payload::binary(output)),
        failure: None,
        input_digest: None,
        replaces_seq: None,
        started_at: None,
    }
}

/// Records, and remembers what was written.
fn record(case: &mut Case, known: &mut Recorded, reports: Vec<StepReport>) -> Result<RecordedSteps, Rejection> {
    let command = RecordSteps {
        fence: Some(case.fence()),
        steps: reports,
    };
    let recorded = case.act(|execution, context| steps::record(execution, &command, known, context))?;
    for write in &case.draft.writes {
        if let Write::Put(Record::Step(step))
        | Write::Create {
            record: Record::Step(step),
            ..
        } = write
        {
            known.0.insert(step.key.clone(), (**step).clone());
        }
    }
    Ok(recorded)
}

fn places(recorded: &RecordedSteps) -> Vec<(u64, StepStatus)> {
    recorded.steps.iter().map(|step| (step.seq, step.status)).collect()
}

#[test]
fn a_step_has_a_place_of_its_own_and_its_output_stands_there() {
    let (mut case, mut known) = (Case::new().leased(), Recorded::default());
    let first = record(&mut case, &mut known, vec![done("a", "1"), done("b", "22")]).unwrap();
    assert_eq!(places(&first), [(0, StepStatus::Recorded), (1, StepStatus::Recorded)]);
    let blobs = [
        (BlobKey::Step(case.id, 0), Payload::binary("1")),
        (BlobKey::Step(case.id, 1), Payload::binary("22")),
    ];
    assert_eq!(case.draft.blobs, blobs);
    let again = record(&mut case, &mut known, vec![done("a", "1"), done("c", "333")]).unwrap();
    assert_eq!(places(&again), [(0, StepStatus::Already), (2, StepStatus::Recorded)]);
    let journal = case.execution().steps;
    assert_eq!((journal.count, journal.bytes, journal.next_seq), (3, 6, 3));
    let step = &known.0[&StepKey::parse("c").unwrap()];
    assert_eq!(
        (step.attempt_index, step.lease_epoch),
        (0, case.execution().lease_epoch)
    );
}

#[test]
fn every_part_of_the_content_tells_one_step_from_another() {
    let (mut case, mut known) = (Case::new().leased(), Recorded::default());
    record(&mut case, &mut known, vec![done("a", "1")]).unwrap();
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
        let refused = record(&mut case, &mut known, vec![other.clone()]);
        assert_eq!(code(refused), Code::StepConflict, "{other:?}");
    }
    let later = StepReport {
        started_at: Some(case.now()),
        ..done("a", "1")
    };
    let again = record(&mut case, &mut known, vec![later]).unwrap();
    assert_eq!(
        places(&again),
        [(0, StepStatus::Already)],
        "when it began is no content"
    );
}

#[test]
fn one_that_replaces_another_takes_its_count_and_gives_back_its_bytes() {
    let (mut case, mut known) = (Case::new().leased(), Recorded::default());
    record(&mut case, &mut known, vec![done("a", "12345")]).unwrap();
    let replacing = StepReport {
        replaces_seq: Some(0),
        ..done("a", "1")
    };
    let replaced = record(&mut case, &mut known, vec![replacing]).unwrap();
    assert_eq!(places(&replaced), [(1, StepStatus::Recorded)]);
    let journal = case.execution().steps;
    assert_eq!((journal.count, journal.bytes, journal.next_seq), (1, 1, 2));
}

#[test]
fn what_a_replay_has_forgotten_is_recorded_again() {
    let (mut case, mut known) = (Case::new().leased(), Recorded::default());
    record(&mut case, &mut known, vec![done("a", "1"), done("b", "2")]).unwrap();
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
    let command = RecordSteps {
        fence: Some(case.fence()),
        steps: vec![done("a", "1"), done("b", "other")],
    };
    let context = case.context();
    let decided = steps::record(&execution, &command, &known, &context).unwrap();
    assert_eq!(
        places(&decided.outcome),
        [(0, StepStatus::Already), (2, StepStatus::Recorded)]
    );
    let after = &decided.draft.execution(case.id).unwrap().steps;
    assert_eq!((after.count, after.bytes), (2, 6));
}

#[test]
fn what_does_not_fit_is_refused_whole_and_says_how_much_room_there_is() {
    let (case, known) = (Case::new().leased(), Recorded::default());
    let with = |count, bytes| {
        let mut execution = case.execution();
        execution.steps = Journal {
            count,
            bytes,
            next_seq: count,
            forgotten: Vec::new(),
        };
        execution
    };
    let try_two = |count, bytes| {
        let command = RecordSteps {
            fence: Some(case.fence()),
            steps: vec![done("a", "1"), done("b", "22")],
        };
        steps::record(&with(count, bytes), &command, &known, &case.context())
    };
    assert!(try_two(STEPS_MAX - 2, STEP_OUTPUT_BYTES_MAX - 3).is_ok());
    for (count, bytes, steps_left, bytes_left) in [
        (STEPS_MAX - 1, 0, 1, STEP_OUTPUT_BYTES_MAX),
        (0, STEP_OUTPUT_BYTES_MAX - 2, STEPS_MAX, 2),
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
    let (mut case, mut known) = (Case::new().leased(), Recorded::default());
    case.pass(SECOND);
    let recorded = record(&mut case, &mut known, vec![done("a", "1")]).unwrap();
    let lease = case.lease_record();
    assert!(lease.confirmed);
    assert_eq!(recorded.expires_at, case.now() + lease.ttl);
    assert_eq!(lease.expires_at, recorded.expires_at);
}

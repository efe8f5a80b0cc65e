//! Progress, results and failures.

use ff_core::command::lease::{Complete, Fail, Failed, UpdateProgress};
use ff_core::error::{Code, Rejection};
use ff_core::machine::lease::complete;
use ff_core::machine::{Settings, fail, lease};
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Happening, Progress};
use serde_json::json;

use crate::running::{Case, SECOND, code};
use crate::support::START;

pub(crate) fn progress(case: &mut Case, pct: Option<u8>, message: Option<String>) -> Result<(), Rejection> {
    let command = UpdateProgress {
        fence: Some(case.fence()),
        progress: ff_core::command::steps::ProgressNote { pct, message },
    };
    case.act(|execution, context| lease::update_progress(execution, &command, context))
}

#[test]
fn progress_is_0_to_100_with_a_message_of_at_most_4_kib() {
    let mut case = Case::new().leased();
    case.pass(SECOND);
    for pct in [0, 100] {
        progress(&mut case, Some(pct), Some("m".repeat(4_096))).unwrap();
        let said = Progress {
            pct: Some(pct),
            message: Some("m".repeat(4_096)),
            at: START + SECOND,
        };
        assert_eq!(case.execution().progress, Some(said));
    }
    assert_eq!(code(progress(&mut case, Some(101), None)), Code::InvalidInput);
    let long = Some("m".repeat(4_097));
    assert_eq!(code(progress(&mut case, None, long)), Code::InvalidInput);
}

#[test]
fn a_result_is_kept_beside_the_record_and_at_most_as_large_as_the_settings_say() {
    let mut case = Case::new().leased();
    case.store.settings = Settings {
        payload_bytes_max: 3,
        ..Settings::default()
    };
    let fence = Some(case.fence());
    let with_result = |bytes: &'static [u8]| Complete {
        fence,
        result: Some(Payload::binary(bytes)),
        ..Complete::default()
    };
    let large = case.act(|execution, context| complete(execution, &with_result(b"four"), context));
    assert_eq!(code(large), Code::PayloadTooLarge);
    case.act(|execution, context| complete(execution, &with_result(b"yes"), context))
        .unwrap();
    assert_eq!(case.draft.blobs, [(BlobKey::Result(case.id), Payload::binary("yes"))]);
    let ended = case.draft.execution(case.id).unwrap();
    assert_eq!(ended.result_bytes(), Some(3));
}

#[test]
fn an_end_without_a_result_says_so_whatever_an_earlier_run_left() {
    let mut case = Case::new().leased();
    let command = Complete {
        fence: Some(case.fence()),
        result: None,
        ..Complete::default()
    };
    case.act(|execution, context| complete(execution, &command, context))
        .unwrap();
    let ended = case.draft.execution(case.id).unwrap();
    assert_eq!(ended.success.map(|success| success.result_bytes), Some(None));
    assert_eq!(ended.result_bytes(), None);
}

#[test]
fn a_failure_reason_has_at_most_4_kib() {
    let mut case = Case::new().leased();
    let command = |length: usize, case: &Case| Fail {
        fence: Some(case.fence()),
        reason: "r".repeat(length),
        category: "mine".parse().unwrap(),
        retry_after: None,
        steps: Vec::new(),
    };
    let (long, short) = (command(4_097, &case), command(4_096, &case));
    let refused = case.act(|execution, context| fail::fail(execution, &long, context));
    assert_eq!(code(refused), Code::InvalidInput);
    let failed = case.act(|execution, context| fail::fail(execution, &short, context));
    assert_eq!(failed.unwrap(), Failed::TerminalFailed);
}

#[test]
fn a_line_says_why_and_when_an_attempt_is_retried() {
    let mut case = Case::with_policy(&json!({"retry_policy": {}})).leased();
    case.fail("transient").unwrap();
    let line = case.history.pop().unwrap();
    let again = START + SECOND;
    assert_eq!(line.what, Happening::RetryScheduled);
    assert_eq!(line.detail, Some(format!("it broke; again at {again}")));
}

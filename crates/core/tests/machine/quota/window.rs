//! Places in the sliding window.

use super::*;

#[test]
fn a_place_counts_for_exactly_one_window() {
    let mut quota = with_rate(1);
    assert_eq!(admit(&mut quota, 1, 500), QuotaAdmission::Admitted);
    let full = QuotaAdmission::WindowFull {
        taken: 1,
        max_requests_per_window: 1,
        window: Duration::from_millis(WINDOW),
        retry_after: Some(Duration::from_millis(1)),
        generation: 1,
    };
    assert_eq!(admit(&mut quota, 2, 500 + WINDOW - 1), full);
    assert_eq!(admit(&mut quota, 2, 500 + WINDOW), QuotaAdmission::Admitted);
}

#[test]
fn an_attempt_takes_one_place_under_however_many_grants() {
    let mut quota = with_rate(1);
    admit(&mut quota, 1, 1);
    release(&mut quota, 1, 2);
    let again = Admit {
        grant_id: grant(99),
        ..ask(1)
    };
    assert_eq!(quota::admit(&mut quota, &again, at(3)), QuotaAdmission::Admitted);
    let next_attempt = Admit {
        grant_id: grant(100),
        attempt_index: 1,
        ..ask(1)
    };
    assert!(is_refused(quota::admit(&mut quota, &next_attempt, at(4))));
}

#[test]
fn an_attempt_that_continues_needs_no_place_even_when_its_own_has_left_the_window() {
    let mut quota = created(&definition(1, 1));
    admit(&mut quota, 1, 0);
    release(&mut quota, 1, 1);
    admit(&mut quota, 2, WINDOW);
    release(&mut quota, 2, WINDOW);
    let continued = Admit {
        grant_id: grant(99),
        continues: true,
        ..ask(1)
    };
    assert_eq!(
        quota::admit(&mut quota, &continued, at(WINDOW + 1)),
        QuotaAdmission::Admitted
    );
    assert_eq!(quota::view(&quota, at(WINDOW + 1)).requests_in_window, 1);
}

#[test]
fn what_is_refused_took_nothing() {
    let mut quota = created(&definition(1, 2));
    admit(&mut quota, 1, 0);
    assert!(matches!(admit(&mut quota, 2, 1), QuotaAdmission::WindowFull { .. }));
    assert_eq!(quota::headroom(&quota, at(1)).slots, Some(1));

    let mut quota = created(&definition(2, 1));
    admit(&mut quota, 1, 0);
    assert!(matches!(admit(&mut quota, 2, 1), QuotaAdmission::CapFull { .. }));
    assert_eq!(quota::headroom(&quota, at(1)).places, Some(1));
}

#[test]
fn a_refusal_waits_for_the_oldest_place_plus_jitter() {
    let jitter = Duration::from_millis(100);
    let mut quota = created(&CreateQuotaPolicy {
        jitter,
        ..definition(2, None)
    });
    admit(&mut quota, 1, 1_000);
    admit(&mut quota, 2, 2_000);
    let wait = |quota: &mut Quota, dice| match quota::admit(quota, &Admit { dice, ..ask(3) }, at(3_000)) {
        QuotaAdmission::WindowFull { retry_after, .. } => retry_after.unwrap().as_millis(),
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(&mut quota, 0), 8_000);
    assert_eq!(wait(&mut quota, 100), 8_100);
    assert_eq!(wait(&mut quota, 101), 8_000);
}

#[test]
fn a_limit_of_zero_admits_none_and_promises_no_end() {
    for mut quota in [with_rate(0), with_cap(0)] {
        let answer = admit(&mut quota, 1, 1);
        let (QuotaAdmission::CapFull { retry_after, .. } | QuotaAdmission::WindowFull { retry_after, .. }) = answer
        else {
            panic!("{answer:?}")
        };
        assert_eq!((retry_after, quota::due_at(&quota)), (None, None));
        assert_eq!(quota::headroom(&quota, at(1)).fits(), Some(0));
    }
}

#[test]
fn what_no_longer_counts_is_not_kept() {
    let mut quota = created(&definition(9, 9));
    admit(&mut quota, 1, 0);
    release(&mut quota, 1, 1);
    release(&mut quota, 2, 1);
    admit(&mut quota, 3, 60_001);
    let mut fresh = created(&definition(9, 9));
    admit(&mut fresh, 3, 60_001);
    assert_eq!(quota.usage, fresh.usage);
}

#[test]
fn without_limits_everybody_is_admitted() {
    let mut quota = created(&definition(None, None));
    assert!((0..500).all(|number| admit(&mut quota, number, 1) == QuotaAdmission::Admitted));
    assert_eq!(quota::headroom(&quota, at(1)).fits(), None);
}

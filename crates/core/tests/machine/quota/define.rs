//! What a policy may look like, and when two are the same.

use super::*;

#[test]
fn a_repeated_creation_is_recognised_even_after_its_limits_changed() {
    let command = definition(5, 3);
    let mut slot = Some(created(&command));
    update(slot.as_mut().unwrap(), set_cap(9), 1);
    assert_eq!(quota::create(&mut slot, ID, &command, at(2)), Ok(QuotaCreated::Exists));
    assert_eq!(slot.unwrap().policy.max_concurrent, Some(9));
}

#[test]
fn an_id_stands_for_one_definition_also_after_it_was_deleted() {
    let command = definition(5, 3);
    let mut slot = Some(created(&command));
    let jitter = Duration::from_millis(1);
    for other in [
        definition(6, 3),
        definition(5, None),
        CreateQuotaPolicy {
            jitter,
            ..command.clone()
        },
    ] {
        assert_eq!(
            quota::create(&mut slot, ID, &other, at(1)).unwrap_err().code,
            Code::AlreadyExists
        );
    }
    quota::delete(slot.as_mut().unwrap(), at(1));
    assert_eq!(
        quota::create(&mut slot, ID, &command, at(2)).unwrap_err().code,
        Code::AlreadyExists
    );
}

#[test]
fn windows_are_checked_however_they_come_in() {
    for window in [0, 999, quota::WINDOW_MAX.as_millis() + 1].map(Duration::from_millis) {
        let command = CreateQuotaPolicy {
            window,
            ..definition(1, 1)
        };
        assert_eq!(
            quota::create(&mut None, ID, &command, at(0)).unwrap_err().code,
            Code::InvalidInput
        );
        let mut quota = with_rate(1);
        let command = UpdateQuotaPolicy {
            window: Some(window),
            ..UpdateQuotaPolicy::default()
        };
        assert_eq!(
            quota::update(&mut quota, &command, at(1)).unwrap_err().code,
            Code::InvalidInput
        );
        assert_eq!(quota, with_rate(1));
    }
}

#[test]
fn an_update_changes_what_it_names_and_moves_the_generation_if_it_changes_anything() {
    let mut quota = created(&definition(5, 3));
    assert_eq!(update(&mut quota, set_cap(3), 1), Updated::Unchanged);
    assert_eq!(quota.policy.generation, 1);
    let remove_rate = UpdateQuotaPolicy {
        max_requests_per_window: LimitChange::Remove,
        ..UpdateQuotaPolicy::default()
    };
    assert_eq!(update(&mut quota, remove_rate, 1), Updated::Now);
    let QuotaPolicy {
        max_requests_per_window,
        max_concurrent,
        generation,
        ..
    } = quota.policy;
    assert_eq!(
        (max_requests_per_window, max_concurrent, generation),
        (None, Some(3), 2)
    );
}

#[test]
fn a_deleted_policy_limits_nothing_and_answers_not_found() {
    let mut quota = created(&definition(0, 0));
    admit(&mut quota, 1, 1);
    assert_eq!(quota::delete(&mut quota, at(2)), Deleted::Now);
    assert_eq!(quota::delete(&mut quota, at(2)), Deleted::Already);
    assert_eq!(quota.policy.generation, 2);
    assert_eq!(admit(&mut quota, 2, 3), QuotaAdmission::Unlimited);
    assert_eq!(release(&mut quota, 2, 4), SlotReleased::Unknown);
    assert_eq!(
        quota::update(&mut quota, &set_cap(1), at(5)).unwrap_err().code,
        Code::QuotaPolicyNotFound
    );
    assert_eq!(
        (quota::due_at(&quota), quota::headroom(&quota, at(5))),
        (Some(at(2)), Headroom::UNLIMITED)
    );
}

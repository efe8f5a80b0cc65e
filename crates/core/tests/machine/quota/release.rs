//! What waits for room.

use super::*;

#[test]
fn a_refusal_marks_where_the_work_will_wait() {
    let mut quota = with_rate(1);
    admit(&mut quota, 1, 0);
    admit(&mut quota, 2, 0);
    assert_eq!(
        quota.policy.blocked_in.partitions().collect::<Vec<_>>(),
        [Partition::flow(2)]
    );
    assert!(quota.policy.continuing_in.is_empty());
}

#[test]
fn waiting_work_is_due_when_the_window_moves() {
    let mut quota = with_rate(2);
    admit(&mut quota, 1, 1_000);
    admit(&mut quota, 2, 2_000);
    assert_eq!(quota::due_at(&quota), None, "nothing waits");
    admit(&mut quota, 3, 3_000);
    assert_eq!(quota::due_at(&quota), Some(at(11_000)));
    assert_eq!(quota::advance(&mut quota, at(10_999)), None);
    let release = quota::advance(&mut quota, at(11_000)).unwrap();
    assert_eq!((release.round, release.room.fits()), (2, Some(1)));
    assert_eq!(
        (release.partitions, quota.policy.generation),
        (vec![Partition::flow(3)], 2)
    );
}

#[test]
fn waiting_work_is_due_when_a_slot_is_freed() {
    let mut quota = with_cap(1);
    admit(&mut quota, 1, 1);
    admit(&mut quota, 2, 2);
    assert_eq!(quota::due_at(&quota), None);
    release(&mut quota, 1, 3);
    assert_eq!(quota::due_at(&quota), Some(at(3)));
    assert_eq!(quota::advance(&mut quota, at(3)).unwrap().room.slots, Some(1));
}

#[test]
fn waiting_work_is_due_when_a_limit_is_raised() {
    let mut quota = with_cap(0);
    admit(&mut quota, 1, 1);
    update(&mut quota, set_cap(4), 5);
    assert_eq!(quota::due_at(&quota), Some(at(5)));
    assert_eq!(quota::advance(&mut quota, at(5)).unwrap().room.fits(), Some(4));
}

#[test]
fn nobody_is_released_into_room_that_is_promised() {
    let mut quota = with_cap(2);
    admit_all(&mut quota, 1..=5);
    release(&mut quota, 1, 10);
    assert_eq!(quota::advance(&mut quota, at(10)).unwrap().room.fits(), Some(1));
    assert_eq!(
        quota::due_at(&quota),
        Some(at(1_010)),
        "the released one has a second to come"
    );
    release(&mut quota, 2, 20);
    assert_eq!(
        quota::advance(&mut quota, at(20)).unwrap().room.fits(),
        Some(1),
        "one more slot, one more released"
    );
    assert_eq!(quota::advance(&mut quota, at(20)), None);
    admit(&mut quota, 3, 30);
    admit(&mut quota, 4, 30);
    assert_eq!(quota::due_at(&quota), None, "both came");
    release(&mut quota, 3, 40);
    assert_eq!(quota::due_at(&quota), Some(at(40)), "and kept nothing for themselves");
}

#[test]
fn room_whose_taker_never_came_is_handed_out_again() {
    let mut quota = with_cap(1);
    admit_all(&mut quota, 1..=3);
    release(&mut quota, 1, 10);
    quota::advance(&mut quota, at(10)).unwrap();
    assert_eq!(quota::advance(&mut quota, at(1_009)), None);
    assert_eq!(quota::advance(&mut quota, at(1_010)).unwrap().room.fits(), Some(1));
}

#[test]
fn an_empty_partition_is_forgotten_unless_it_was_marked_since() {
    let mut quota = with_cap(1);
    admit_all(&mut quota, 1..=3);
    release(&mut quota, 1, 2);
    let round = quota::advance(&mut quota, at(3)).unwrap().round;
    admit(&mut quota, 4, 4);
    assert!(is_refused(admit(&mut quota, 3, 5)));
    for index in [2, 3] {
        quota::forget_blocked(&mut quota.policy, Partition::flow(index), round);
    }
    assert_eq!(
        quota.policy.blocked_in.partitions().collect::<Vec<_>>(),
        [Partition::flow(3)]
    );
}

#[test]
fn work_that_continues_waits_for_a_slot_and_not_for_the_window() {
    let mut quota = created(&definition(1, 1));
    admit(&mut quota, 1, 0);
    let continued = Admit {
        continues: true,
        ..ask(2)
    };
    assert!(is_refused(quota::admit(&mut quota, &continued, at(1))));
    release(&mut quota, 1, 2);
    assert_eq!(quota::due_at(&quota), Some(at(2)));
    let found = quota::advance(&mut quota, at(2)).unwrap();
    let mut room = found.room;
    assert!(!room.take(false) && room.take(true) && !room.take(true));

    quota::forget_continuing(&mut quota.policy, Partition::flow(2), found.round);
    assert_eq!(
        quota::due_at(&quota),
        Some(at(WINDOW)),
        "new attempts wait for the window"
    );
}

#[test]
fn refusals_name_the_rate_or_the_cap() {
    let detail = |quota: &mut Quota| match judge_quota(ID, Some(&admit(quota, 2, 1_000))) {
        Verdict::Refused(refusal) => {
            assert_eq!((refusal.cause, refusal.generation), (Cause::Quota(ID), 1));
            refusal.detail
        }
        other => panic!("{other:?}"),
    };
    let (mut rate, mut cap) = (with_rate(1), with_cap(1));
    admit(&mut rate, 1, 0);
    admit(&mut cap, 1, 0);
    assert_eq!(
        detail(&mut rate),
        format!("quota policy {ID}: rate 1/1 requests in 10000 ms, room in 9000 ms")
    );
    assert_eq!(detail(&mut cap), format!("quota policy {ID}: cap 1/1 leases"));
}

#[test]
fn a_late_grant_is_dropped_and_a_lost_policy_keeps_its_work_waiting() {
    assert_eq!(judge_quota(ID, Some(&QuotaAdmission::Late)), Verdict::Dropped);
    assert_eq!(judge_quota(ID, Some(&QuotaAdmission::Unlimited)), Verdict::Admitted);
    assert_eq!(
        judge_quota(ID, Some(&QuotaAdmission::AlreadyAdmitted)),
        Verdict::Admitted
    );
    assert!(matches!(judge_quota(ID, None), Verdict::Refused(_)));
}

#[test]
fn a_policy_is_stored_as_it_is() {
    let mut quota = with_cap(0);
    admit(&mut quota, 300, 1);
    let json = serde_json::to_string(&quota.policy).unwrap();
    assert_eq!(serde_json::from_str::<QuotaPolicy>(&json).unwrap(), quota.policy);
}

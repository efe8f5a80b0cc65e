//! Slots: one per grant, given back once.

use super::*;

#[test]
fn a_grant_takes_one_slot_however_often_it_asks() {
    let mut quota = with_cap(2);
    assert_eq!(admit(&mut quota, 1, 1), QuotaAdmission::Admitted);
    assert_eq!(admit(&mut quota, 1, 2), QuotaAdmission::AlreadyAdmitted);
    assert_eq!(quota::view(&quota, at(2)).in_use, 1);
    assert_eq!(admit(&mut quota, 2, 3), QuotaAdmission::Admitted);
    let full = QuotaAdmission::CapFull {
        in_use: 2,
        max_concurrent: 2,
        retry_after: Some(quota::CAP_RETRY_AFTER),
        generation: 1,
    };
    assert_eq!(admit(&mut quota, 3, 4), full);
    assert_eq!(
        admit(&mut quota, 1, 5),
        QuotaAdmission::AlreadyAdmitted,
        "also when the cap is full"
    );
}

#[test]
fn a_freed_slot_goes_to_the_next_and_moves_the_generation() {
    let mut quota = with_cap(1);
    admit(&mut quota, 1, 1);
    assert_eq!(release(&mut quota, 1, 2), SlotReleased::Freed);
    assert_eq!((quota.policy.generation, quota.policy.generation_at), (2, at(2)));
    assert_eq!(admit(&mut quota, 2, 3), QuotaAdmission::Admitted);
}

#[test]
fn a_grant_released_before_it_asked_is_late_for_as_long_as_grants_live() {
    let mut quota = with_cap(5);
    assert_eq!(release(&mut quota, 1, 1_000), SlotReleased::Unknown);
    assert_eq!(quota.policy.generation, 1, "nothing became free");
    assert_eq!(admit(&mut quota, 1, 60_999), QuotaAdmission::Late);
    assert_eq!(quota.usage.slots.len(), 0);
    admit(&mut quota, 2, 61_000);
    assert_eq!(admit(&mut quota, 1, 61_000), QuotaAdmission::Admitted);
}

#[test]
fn without_a_cap_slots_are_counted_for_the_day_there_is_one() {
    let mut quota = with_rate(100);
    admit(&mut quota, 1, 1);
    admit(&mut quota, 2, 1);
    update(&mut quota, set_cap(2), 2);
    assert!(is_refused(admit(&mut quota, 3, 3)));
}

#[test]
fn a_lowered_cap_waits_until_enough_are_gone() {
    let mut quota = with_cap(3);
    (1..=3).for_each(|number| assert_eq!(admit(&mut quota, number, 1), QuotaAdmission::Admitted));
    update(&mut quota, set_cap(1), 2);
    release(&mut quota, 1, 3);
    release(&mut quota, 2, 3);
    assert!(is_refused(admit(&mut quota, 4, 4)));
    release(&mut quota, 3, 5);
    assert_eq!(admit(&mut quota, 4, 6), QuotaAdmission::Admitted);
}

#[test]
fn slots_older_than_any_grant_are_listed_page_by_page() {
    let mut quota = with_cap(9);
    for (number, now) in [(1, 0), (2, 1), (3, 0)] {
        admit(&mut quota, number, now);
    }
    let listed = |after: Option<GrantId>, limit, now| -> Vec<GrantId> {
        let slots = quota::slots_to_check(&quota, after, limit, at(now));
        slots.into_iter().map(|(grant_id, _)| grant_id).collect()
    };
    assert_eq!(listed(None, 10, 59_999), []);
    assert_eq!(listed(None, 10, 60_000), [grant(1), grant(3)]);
    assert_eq!(listed(None, 1, 60_001), [grant(1)]);
    assert_eq!(listed(Some(grant(1)), 10, 60_001), [grant(2), grant(3)]);
}

#[test]
fn a_slot_is_held_by_the_grant_and_then_by_its_lease() {
    let mut world = World::new();
    let policy = Policy {
        quota_policy_id: Some(ID),
        ..Policy::default()
    };
    let id = world
        .submit(&CreateExecution {
            policy,
            ..submission().unwrap()
        })
        .unwrap();
    let claimant = world.claimant().unwrap();
    let holds = |world: &World, grant_id| holds_slot(&world.execution(id).unwrap(), grant_id);
    assert!(!holds(&world, claimant.grant_id));
    world.reserve(id, &claimant, HandOut::Lease).unwrap();
    assert!(holds(&world, claimant.grant_id) && !holds(&world, grant(1_000)));
    world
        .decide(id, |execution, context| claim::lease(execution, &claimant, context))
        .unwrap();
    assert!(world.execution(id).unwrap().lease().is_some() && holds(&world, claimant.grant_id));
    world.wait(Duration::from_secs(60));
    world
        .decide(id, |execution, context| Ok(time::advance(execution, context)))
        .unwrap();
    assert!(!holds(&world, claimant.grant_id));
}

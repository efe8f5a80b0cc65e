//! Whatever is called in whatever order.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Admit { execution: u16, attempt: u32, grant: u8 },
    Release { grant: u8 },
    Cap(u64),
    Advance,
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..6u16, 0..2u32, 0..24u8).prop_map(|(execution, attempt, grant)| Act::Admit { execution, attempt, grant }),
        3 => (0..24u8).prop_map(|grant| Act::Release { grant }),
        1 => (0..5u64).prop_map(Act::Cap),
        2 => Just(Act::Advance),
        4 => (1..4_000u64).prop_map(Act::Wait),
    ]
}

proptest! {
    #[test]
    fn no_sequence_of_calls_breaks_a_limit(
        rate in 0..4u64, cap in 0..4u64, acts in prop::collection::vec(act(), 1..120),
    ) {
        let mut quota = created(&definition(rate, cap));
        let (mut now, mut cap) = (0, cap);
        let mut held: BTreeMap<u8, u64> = BTreeMap::new();
        let mut buried: BTreeMap<u8, u64> = BTreeMap::new();
        let mut places: BTreeMap<(u16, u32), u64> = BTreeMap::new();
        let mut starts: Vec<u64> = Vec::new();
        for act in acts {
            let before = quota.clone();
            let room = quota::headroom(&quota, at(now));
            match act {
                Act::Admit { execution, attempt, grant: number } => {
                    let id = ExecutionId::new(execution, Uuid::from_u128(execution.into()));
                    let ask = Admit { grant_id: grant(number.into()), execution_id: id, attempt_index: attempt, ..ask(0) };
                    let late = buried.get(&number).is_some_and(|until| now < *until);
                    let placed = places.get(&(execution, attempt)).is_some_and(|taken| now < taken + WINDOW);
                    let fits = room.slots != Some(0) && (placed || room.places != Some(0));
                    match quota::admit(&mut quota, &ask, at(now)) {
                        QuotaAdmission::Late => prop_assert!(late),
                        QuotaAdmission::AlreadyAdmitted => prop_assert!(!late && held.contains_key(&number)),
                        QuotaAdmission::Admitted => {
                            prop_assert!(!late && fits && held.insert(number, now).is_none());
                            if !placed {
                                places.insert((execution, attempt), now);
                                starts.push(now);
                            }
                        }
                        QuotaAdmission::Unlimited => prop_assert!(false, "the policy was not deleted"),
                        refused => {
                            prop_assert!(is_refused(refused) && !late && !fits && !held.contains_key(&number));
                            let waits = quota.policy.blocked_in.partitions().any(|marked| marked == id.partition());
                            prop_assert!(waits);
                        }
                    }
                    let allowed = cap.max(before.usage.slots.len() as u64);
                    prop_assert!(quota.usage.slots.len() as u64 <= allowed, "never above the cap by an admission");
                }
                Act::Release { grant: number } => {
                    let freed = quota::release(&mut quota, grant(number.into()), at(now)) == SlotReleased::Freed;
                    prop_assert_eq!(freed, held.remove(&number).is_some());
                    prop_assert_eq!(quota.policy.generation > before.policy.generation, freed);
                    if !freed {
                        buried.insert(number, now + 60_000);
                    }
                }
                Act::Cap(new) => {
                    let changed = update(&mut quota, set_cap(new), now) == Updated::Now;
                    prop_assert_eq!(quota.policy.generation > before.policy.generation, changed);
                    cap = new;
                }
                Act::Advance => {
                    let due = quota::due_at(&quota).is_some_and(|due| due.has_come(at(now)));
                    let release = quota::advance(&mut quota, at(now));
                    prop_assert_eq!(release.is_some(), due);
                    if let Some(release) = release {
                        prop_assert!(release.room.fits() > Some(0) && release.room.fits() <= room.fits());
                        prop_assert!(quota.policy.generation > before.policy.generation);
                        prop_assert_eq!(quota::advance(&mut quota, at(now)), None, "one release at a time");
                    }
                }
                Act::Wait(millis) => now += millis,
            }
            prop_assert_eq!(quota.usage.slots.len(), held.len());
            let in_window = starts.iter().filter(|start| now < **start + WINDOW).count() as u64;
            prop_assert_eq!(quota::view(&quota, at(now)).requests_in_window, in_window);
            prop_assert!(in_window <= rate);
            // Whenever work waits and there is unpromised room, the pump is told.
            let waits = !quota.policy.blocked_in.is_empty() && quota.policy.promise.is_none();
            if waits && quota::headroom(&quota, at(now)).fits() > Some(0) {
                prop_assert!(quota::due_at(&quota).is_some_and(|due| due.has_come(at(now))));
            }
        }
        for start in &starts {
            let together = starts.iter().filter(|other| (*start..start + WINDOW).contains(other)).count() as u64;
            prop_assert!(together <= rate, "in any window");
        }
    }
}

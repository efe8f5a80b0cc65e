//! Whatever is called in whatever order.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Report { tokens: u64, cents: u64, key: u8 },
    Reset,
    Limit { hard: u64 },
    Mark(u16),
    Advance,
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..20u64, 0..3u64, 0..6u8).prop_map(|(tokens, cents, key)| Act::Report { tokens, cents, key }),
        1 => Just(Act::Reset),
        1 => (0..40u64).prop_map(|hard| Act::Limit { hard }),
        1 => (0..4u16).prop_map(Act::Mark),
        2 => Just(Act::Advance),
        2 => (1..1_500u64).prop_map(Act::Wait),
    ]
}

proptest! {
    #[test]
    fn usage_is_the_sum_of_accepted_reports_since_the_last_reset(acts in prop::collection::vec(act(), 1..60)) {
        let mut budget = resetting_every(1_000);
        let (mut now, mut seen) = (0, BTreeSet::new());
        let (mut tokens, mut cents, mut period) = (0, 0, 0);
        for act in acts {
            let before = budget.clone();
            if let Act::Wait(millis) = act {
                now += millis;
                continue;
            }
            // The rhythm is known: whatever is called first in a new second finds the reset due.
            let recorded = !matches!(&act, Act::Mark(_)) && !matches!(&act, Act::Report { key, .. } if seen.contains(key));
            if recorded && now / 1_000 > period {
                (tokens, cents, period) = (0, 0, now / 1_000);
            }
            match act {
                Act::Report { tokens: more_tokens, cents: more_cents, key } => {
                    let report = usage([("tokens", more_tokens), ("cents", more_cents)]);
                    let repeated = !seen.insert(key);
                    let answer = budget::report_usage(&mut budget, &report, if repeated { &[None] } else { &[] }, at(now)).unwrap().outcome;
                    prop_assert_eq!(answer == Reported::AlreadyApplied, repeated);
                    if !repeated {
                        (tokens, cents) = (tokens + more_tokens, cents + more_cents);
                        let over = budget.breached_by().is_some();
                        prop_assert_eq!(matches!(answer, Reported::HardBreach { .. }), over);
                    }
                }
                Act::Reset => {
                    reset(&mut budget, at(now));
                    (tokens, cents) = (0, 0);
                    prop_assert!(budget.generation > before.generation);
                }
                Act::Limit { hard } => {
                    let changed = raise(&mut budget, "tokens", limits(None, hard), at(now)) == Updated::Now;
                    prop_assert!(!changed || budget.generation > before.generation);
                }
                Act::Mark(partition) => budget::mark_blocked(&mut budget, Partition::flow(partition)),
                Act::Advance => {
                    let work = budget::advance(&mut budget, at(now));
                    let open = budget.closed_by().is_none();
                    prop_assert_eq!(work.release.is_some(), open && !budget.blocked_in.is_empty());
                    prop_assert!(budget.next_reset_at.unwrap() > at(now));
                }
                Act::Wait(_) => {}
            }
            prop_assert_eq!(budget.spent(&dimension("tokens")), tokens);
            prop_assert_eq!(budget.spent(&dimension("cents")), cents);
            prop_assert!(budget.generation >= before.generation);
            prop_assert_eq!(budget.next_reset_at.unwrap().as_millis() % 1_000, 0, "the rhythm holds");
        }
    }
}

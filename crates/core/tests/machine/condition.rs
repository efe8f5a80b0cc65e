//! Resume conditions: which are refused, and when one holds.

use std::collections::BTreeSet;

use crate::support::START;
use crate::waiting::{key, name, single};
use ff_core::command::waitpoint::RequiredNames;
use ff_core::error::{Code, Rejection};
use ff_core::id::{ExecutionId, SignalId};
use ff_core::machine::condition::{
    Arrival, Counted, Surroundings, count, holds, nothing_seen, required_names, validate,
};
use ff_core::name::{Identity, WaitpointKey};
use ff_core::record::{Distinct, Matcher, NodeProgress, ResumeCondition, Signal, SignalEffect};
use proptest::prelude::*;
use uuid::Uuid;

fn all_of(parts: impl IntoIterator<Item = ResumeCondition>) -> ResumeCondition {
    ResumeCondition::AllOf(parts.into_iter().collect())
}

fn counting(n: u32, distinct: Distinct, waitpoints: &[&str]) -> ResumeCondition {
    ResumeCondition::Count {
        n,
        distinct,
        matcher: None,
        waitpoints: waitpoints.iter().map(|waitpoint| key(waitpoint)).collect(),
    }
}

/// Judges a condition of a suspension with waitpoints a, b and c and no timeout.
fn judge(condition: &ResumeCondition) -> Result<(), Rejection> {
    let keys = ["a", "b", "c"].map(key);
    let around = Surroundings {
        waitpoint_keys: keys.iter().collect(),
        times_out: false,
    };
    validate(condition, &around)
}

fn fault(condition: &ResumeCondition) -> String {
    let refused = judge(condition).unwrap_err();
    assert_eq!(refused.code, Code::InvalidCondition);
    let path = refused.fields["path"].as_str().unwrap().to_owned();
    assert!(refused.detail.starts_with(&path), "{refused}");
    path
}

#[test]
fn a_fault_is_named_by_its_path() {
    let nested = |part| all_of([single("a"), all_of([part])]);
    let within = "resume_condition.all_of[1].all_of[0]";
    for (part, path) in [
        (single("x"), "single.waitpoint_key"),
        (all_of([]), "all_of"),
        (counting(1, Distinct::Signals, &[]), "count.waitpoints"),
        (counting(1, Distinct::Signals, &["a", "x"]), "count.waitpoints[1]"),
        (counting(1, Distinct::Signals, &["a", "a"]), "count.waitpoints[1]"),
        (counting(0, Distinct::Signals, &["a"]), "count.n"),
        (counting(1_001, Distinct::Signals, &["a"]), "count.n"),
        (counting(3, Distinct::Waitpoints, &["a", "b"]), "count.n"),
    ] {
        assert_eq!(fault(&nested(part)), format!("{within}.{path}"));
    }
    assert_eq!(fault(&single("x")), "resume_condition.single.waitpoint_key");
}

#[test]
fn well_formed_conditions_pass() {
    let conditions = [
        single("a"),
        ResumeCondition::OperatorOnly,
        counting(1_000, Distinct::Signals, &["a"]),
        counting(1_000, Distinct::Sources, &["a"]),
        counting(3, Distinct::Waitpoints, &["a", "b", "c"]),
        all_of([single("a"), counting(2, Distinct::Signals, &["b", "c"])]),
    ];
    for condition in conditions {
        assert_eq!(judge(&condition), Ok(()), "{condition:?}");
    }
}

#[test]
fn conditions_nest_four_deep() {
    let deep = |times| (0..times).fold(single("a"), |inner, _| all_of([inner]));
    assert_eq!(judge(&deep(3)), Ok(()));
    assert_eq!(
        fault(&deep(4)),
        "resume_condition.all_of[0].all_of[0].all_of[0].all_of[0]"
    );
}

#[test]
fn a_condition_has_at_most_a_hundred_parts() {
    let wide = |parts| all_of(std::iter::repeat_n(single("a"), parts));
    assert_eq!(judge(&wide(100)), Ok(()));
    assert_eq!(fault(&wide(101)), "resume_condition");
}

#[test]
fn timeout_only_needs_a_timeout() {
    assert_eq!(fault(&ResumeCondition::TimeoutOnly), "resume_condition");
    let around = Surroundings {
        times_out: true,
        ..Surroundings::default()
    };
    assert_eq!(validate(&ResumeCondition::TimeoutOnly, &around), Ok(()));
}

#[test]
fn what_no_signal_meets_stands_alone() {
    for lonely in [ResumeCondition::OperatorOnly, ResumeCondition::TimeoutOnly] {
        assert_eq!(
            fault(&all_of([single("a"), lonely.clone()])),
            "resume_condition.all_of[1]"
        );
        assert!(!holds(&lonely, &nothing_seen(&lonely)));
    }
}

#[test]
fn a_waitpoint_requires_the_names_its_condition_asks_for() {
    let by_name = |waitpoint: &str, signal: &str| ResumeCondition::Single {
        waitpoint_key: key(waitpoint),
        matcher: Matcher::ByName(name(signal)),
    };
    let condition = all_of([
        by_name("a", "x"),
        by_name("a", "y"),
        by_name("b", "z"),
        counting(2, Distinct::Signals, &["b"]),
    ]);
    let names = BTreeSet::from([name("x"), name("y")]);
    assert_eq!(required_names(&condition, &key("a")), RequiredNames::Names(names));
    assert_eq!(required_names(&condition, &key("b")), RequiredNames::Any);
    assert_eq!(required_names(&condition, &key("c")), RequiredNames::Nothing);
}

/// A signal as it matters to a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    at: usize,
    name: usize,
    /// Whether somebody vouches for it, and who it is.
    source: (usize, usize),
}

const KEYS: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 2] = ["go", "stop"];

fn arrival(id: usize, sent: &Sent) -> (WaitpointKey, Signal) {
    let signal = Signal {
        id: SignalId::from_uuid(Uuid::from_u128(id as u128)),
        execution_id: ExecutionId::new(0, Uuid::nil()),
        waitpoint_id: None,
        name: name(NAMES[sent.name]),
        category: String::new(),
        source_type: "person".to_owned(),
        source_identity: Identity::parse(["ann", "ben"][sent.source.1]).unwrap(),
        source_verified: sent.source.0 == 1,
        correlation_id: None,
        idempotency_key: None,
        accepted_at: START,
        effect: SignalEffect::AppendedToWaitpoint,
        payload_bytes: 0,
        buffered_after: None,
        carried: Default::default(),
    };
    (key(KEYS[sent.at]), signal)
}

fn deliver(condition: &ResumeCondition, progress: &mut [NodeProgress], arrival: &(WaitpointKey, Signal)) -> Counted {
    let arrival = Arrival {
        waitpoint_key: &arrival.0,
        signal: &arrival.1,
    };
    count(condition, progress, arrival)
}

#[test]
fn each_part_counts_its_own_and_stores_no_more_than_it_needs() {
    let condition = all_of([single("a"), counting(2, Distinct::Signals, &["a"])]);
    let mut progress = nothing_seen(&condition);
    let sent = |name| Sent {
        at: 0,
        name,
        source: (0, 0),
    };
    let arrivals: Vec<_> = [1, 0, 0]
        .map(sent)
        .iter()
        .enumerate()
        .map(|(id, sent)| arrival(id, sent))
        .collect();
    assert_eq!(deliver(&condition, &mut progress, &arrivals[0]), Counted::Forward);
    assert!(!holds(&condition, &progress));
    assert_eq!(deliver(&condition, &mut progress, &arrivals[1]), Counted::Forward);
    assert!(holds(&condition, &progress));
    assert_eq!(deliver(&condition, &mut progress, &arrivals[2]), Counted::Known);
    assert_eq!(progress.iter().map(|seen| seen.0.len()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_signal_elsewhere_or_of_another_name_is_not_asked_for() {
    let condition = single("a");
    let mut progress = nothing_seen(&condition);
    for sent in [
        Sent {
            at: 1,
            name: 0,
            source: (0, 0),
        },
        Sent {
            at: 0,
            name: 1,
            source: (0, 0),
        },
    ] {
        assert_eq!(
            deliver(&condition, &mut progress, &arrival(0, &sent)),
            Counted::NotAsked
        );
    }
    assert!(!holds(&condition, &progress));
}

/// What the interface promises, said without progress: collect everything that matches and count what is different.
fn holds_for_all(condition: &ResumeCondition, arrivals: &[(WaitpointKey, Signal)]) -> bool {
    let matches = |matcher: Option<&Matcher>, signal: &Signal| match matcher {
        Some(Matcher::ByName(name)) => signal.name == *name,
        Some(Matcher::ByNames(names)) => names.contains(&signal.name),
        Some(Matcher::Any) | None => true,
    };
    match condition {
        ResumeCondition::OperatorOnly | ResumeCondition::TimeoutOnly => false,
        ResumeCondition::AllOf(parts) => parts.iter().all(|part| holds_for_all(part, arrivals)),
        ResumeCondition::Single { waitpoint_key, matcher } => arrivals
            .iter()
            .any(|(at, signal)| at == waitpoint_key && matches(Some(matcher), signal)),
        ResumeCondition::Count {
            n,
            distinct,
            matcher,
            waitpoints,
        } => {
            let counted = arrivals
                .iter()
                .filter(|(at, signal)| waitpoints.contains(at) && matches(matcher.as_ref(), signal));
            let different: BTreeSet<String> = counted
                .map(|(at, signal)| match distinct {
                    Distinct::Waitpoints => at.to_string(),
                    Distinct::Signals => signal.id.to_string(),
                    Distinct::Sources if signal.source_verified => format!("verified {}", signal.source_identity),
                    Distinct::Sources => "somebody".to_owned(),
                })
                .collect();
            different.len() >= *n as usize
        }
    }
}

fn any_sent() -> impl Strategy<Value = Sent> {
    (0..3usize, 0..2usize, (0..2usize, 0..2usize)).prop_map(|(at, name, source)| Sent { at, name, source })
}

fn any_matcher() -> impl Strategy<Value = Matcher> {
    prop_oneof![
        Just(Matcher::Any),
        (0..2usize).prop_map(|index| Matcher::ByName(name(NAMES[index])))
    ]
}

fn any_distinct() -> impl Strategy<Value = Distinct> {
    prop_oneof![
        Just(Distinct::Waitpoints),
        Just(Distinct::Signals),
        Just(Distinct::Sources)
    ]
}

fn any_condition() -> impl Strategy<Value = ResumeCondition> {
    let single = (0..3usize, any_matcher()).prop_map(|(at, matcher)| ResumeCondition::Single {
        waitpoint_key: key(KEYS[at]),
        matcher,
    });
    let waitpoints = prop::sample::subsequence(KEYS.to_vec(), 1..=3);
    let count = (1..4u32, any_distinct(), prop::option::of(any_matcher()), waitpoints);
    let count = count.prop_map(|(n, distinct, matcher, waitpoints)| ResumeCondition::Count {
        n: if distinct == Distinct::Waitpoints {
            n.min(u32::try_from(waitpoints.len()).unwrap())
        } else {
            n
        },
        distinct,
        matcher,
        waitpoints: waitpoints.into_iter().map(key).collect(),
    });
    prop_oneof![single, count].prop_recursive(2, 8, 3, |part| {
        prop::collection::vec(part, 1..4).prop_map(ResumeCondition::AllOf)
    })
}

proptest! {
    #[test]
    fn a_condition_holds_exactly_when_all_that_arrived_says_so(
        condition in any_condition(),
        sent in prop::collection::vec(any_sent(), 0..10),
    ) {
        prop_assert_eq!(judge(&condition), Ok(()));
        let arrivals: Vec<_> = sent.iter().enumerate().map(|(id, sent)| arrival(id, sent)).collect();
        let mut progress = nothing_seen(&condition);
        for (index, arrival) in arrivals.iter().enumerate() {
            deliver(&condition, &mut progress, arrival);
            prop_assert_eq!(holds(&condition, &progress), holds_for_all(&condition, &arrivals[..=index]));
        }
    }

    #[test]
    fn the_order_of_signals_does_not_matter(
        condition in any_condition(),
        (sent, shuffled) in prop::collection::vec(any_sent(), 0..10).prop_flat_map(|sent| {
            let numbered: Vec<_> = sent.into_iter().enumerate().collect();
            (Just(numbered.clone()), Just(numbered).prop_shuffle())
        }),
    ) {
        let held = |order: &[(usize, Sent)]| {
            let mut progress = nothing_seen(&condition);
            for (id, sent) in order {
                deliver(&condition, &mut progress, &arrival(*id, sent));
            }
            holds(&condition, &progress)
        };
        prop_assert_eq!(held(&sent), held(&shuffled));
    }

    #[test]
    fn a_repeated_signal_adds_nothing(
        condition in any_condition(),
        sent in prop::collection::vec(any_sent(), 1..6),
    ) {
        let mut progress = nothing_seen(&condition);
        for (id, sent) in sent.iter().enumerate() {
            let arrival = arrival(id, sent);
            deliver(&condition, &mut progress, &arrival);
            let before = progress.clone();
            prop_assert_ne!(deliver(&condition, &mut progress, &arrival), Counted::Forward);
            prop_assert_eq!(&progress, &before);
        }
    }
}

//! Resume conditions: whether one is well formed, what a signal adds to it, and whether it holds.
//!
//! `all_of` is the only way to join parts, so a condition is its *leaves*: each asks for a number of different things at
//! some waitpoints and counts its own. A condition holds when every leaf has all it asks for. `operator_only` and
//! `timeout_only` have no leaf, no signal meets them, and so they stand alone.

use std::collections::BTreeSet;
use std::slice;

use crate::command::waitpoint::RequiredNames;
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::limits::{CONDITION_COUNT_MAX, CONDITION_DEPTH_MAX, CONDITION_LEAVES_MAX, CONDITION_NAMES_MAX};
use crate::name::WaitpointKey;
use crate::record::{Distinct, Matcher, NodeProgress, ResumeCondition, Signal};

/// What a condition is judged against.
#[derive(Clone, Debug, Default)]
pub struct Surroundings<'a> {
    /// The waitpoints of the suspension.
    pub waitpoint_keys: BTreeSet<&'a WaitpointKey>,
    /// Whether the suspension times out.
    pub times_out: bool,
}

/// Refuses a condition that is malformed or could never hold: `invalid_condition` with the path of the fault.
pub fn validate(condition: &ResumeCondition, around: &Surroundings<'_>) -> Result<(), Rejection> {
    const ROOT: &str = "resume_condition";
    check_node(condition, ROOT, 1, around)?;
    if leaves(condition).len() > CONDITION_LEAVES_MAX {
        return Err(fault(ROOT, format!("has more than {CONDITION_LEAVES_MAX} parts")));
    }
    Ok(())
}

fn check_node(node: &ResumeCondition, path: &str, depth: usize, around: &Surroundings<'_>) -> Result<(), Rejection> {
    if depth > CONDITION_DEPTH_MAX {
        return Err(fault(path, format!("nests deeper than {CONDITION_DEPTH_MAX}")));
    }
    match node {
        ResumeCondition::Single { waitpoint_key, matcher } => {
            check_matcher(Some(matcher), &format!("{path}.single.matcher"))?;
            check_key(waitpoint_key, &format!("{path}.single.waitpoint_key"), around)
        }
        ResumeCondition::OperatorOnly | ResumeCondition::TimeoutOnly if depth > 1 => Err(fault(
            path,
            "operator_only and timeout_only cannot be part of all_of: no signal meets them",
        )),
        ResumeCondition::TimeoutOnly if !around.times_out => Err(fault(path, "timeout_only needs timeout_at")),
        ResumeCondition::OperatorOnly | ResumeCondition::TimeoutOnly => Ok(()),
        ResumeCondition::AllOf(parts) if parts.is_empty() => Err(fault(&format!("{path}.all_of"), "is empty")),
        ResumeCondition::AllOf(parts) => parts
            .iter()
            .enumerate()
            .try_for_each(|(index, part)| check_node(part, &format!("{path}.all_of[{index}]"), depth + 1, around)),
        ResumeCondition::Count {
            n,
            distinct,
            matcher,
            waitpoints,
        } => {
            check_matcher(matcher.as_ref(), &format!("{path}.count.matcher"))?;
            check_count(*n, *distinct, waitpoints, &format!("{path}.count"), around)
        }
    }
}

fn check_matcher(matcher: Option<&Matcher>, path: &str) -> Result<(), Rejection> {
    match matcher {
        Some(Matcher::ByNames(names)) if !(1..=CONDITION_NAMES_MAX).contains(&names.len()) => {
            let detail = format!("has {} names, not 1 to {CONDITION_NAMES_MAX}", names.len());
            Err(fault(&format!("{path}.by_names"), detail))
        }
        _ => Ok(()),
    }
}

fn check_count(
    n: u32,
    distinct: Distinct,
    waitpoints: &[WaitpointKey],
    path: &str,
    around: &Surroundings<'_>,
) -> Result<(), Rejection> {
    if waitpoints.is_empty() {
        return Err(fault(&format!("{path}.waitpoints"), "is empty"));
    }
    for (index, key) in waitpoints.iter().enumerate() {
        let path = format!("{path}.waitpoints[{index}]");
        check_key(key, &path, around)?;
        if waitpoints[..index].contains(key) {
            return Err(fault(&path, format!("names {key} twice")));
        }
    }
    if !(1..=CONDITION_COUNT_MAX).contains(&n) {
        return Err(fault(
            &format!("{path}.n"),
            format!("is {n}, not between 1 and {CONDITION_COUNT_MAX}"),
        ));
    }
    if distinct == Distinct::Waitpoints && n as usize > waitpoints.len() {
        let there = waitpoints.len();
        return Err(fault(
            &format!("{path}.n"),
            format!("asks for {n} different waitpoints of {there}"),
        ));
    }
    Ok(())
}

fn check_key(key: &WaitpointKey, path: &str, around: &Surroundings<'_>) -> Result<(), Rejection> {
    if !around.waitpoint_keys.contains(key) {
        return Err(fault(path, format!("{key} is no waitpoint of this suspension")));
    }
    Ok(())
}

fn fault(path: &str, detail: impl std::fmt::Display) -> Rejection {
    Code::InvalidCondition
        .because(format!("{path}: {detail}"))
        .with("path", path)
}

/// A signal at the waitpoint it arrived at.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Where.
    pub waitpoint_key: &'a WaitpointKey,
    /// What.
    pub signal: &'a Signal,
}

/// What a signal meant to a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// It brought a part of the condition forward.
    Forward,
    /// The condition asks for such signals, but this one adds nothing to what it has.
    Known,
    /// No part of the condition asks for it.
    NotAsked,
}

/// What a condition has seen before any signal: nothing, for each of its leaves.
pub fn nothing_seen(condition: &ResumeCondition) -> Vec<NodeProgress> {
    vec![NodeProgress::default(); leaves(condition).len()]
}

/// Counts a signal in every leaf that asks for it. A leaf that has all it asks for takes no more, so that what is stored
/// stays bounded.
pub fn count(condition: &ResumeCondition, progress: &mut [NodeProgress], arrival: Arrival<'_>) -> Counted {
    let mut counted = Counted::NotAsked;
    for (leaf, seen) in leaves(condition).iter().zip(progress) {
        if !leaf.asks_for(arrival) {
            continue;
        }
        if !leaf.is_full(seen) && seen.0.insert(leaf.entry(arrival)) {
            counted = Counted::Forward;
        } else if counted == Counted::NotAsked {
            counted = Counted::Known;
        }
    }
    counted
}

/// Whether every leaf has what it asks for.
pub fn holds(condition: &ResumeCondition, progress: &[NodeProgress]) -> bool {
    let leaves = leaves(condition);
    let full = leaves
        .iter()
        .zip(progress)
        .filter(|(leaf, seen)| leaf.is_full(seen))
        .count();
    !leaves.is_empty() && full == leaves.len()
}

/// The names a condition asks for at one waitpoint.
pub fn required_names(condition: &ResumeCondition, waitpoint_key: &WaitpointKey) -> RequiredNames {
    let mut names = BTreeSet::new();
    for leaf in leaves(condition)
        .iter()
        .filter(|leaf| leaf.waitpoints.contains(waitpoint_key))
    {
        match leaf.matcher {
            Some(Matcher::ByName(name)) => names.extend([name.clone()]),
            Some(Matcher::ByNames(any)) => names.extend(any.iter().cloned()),
            Some(Matcher::Any) | None => return RequiredNames::Any,
        }
    }
    if names.is_empty() {
        RequiredNames::Nothing
    } else {
        RequiredNames::Names(names)
    }
}

/// A part of a condition that asks for signals.
struct Leaf<'c> {
    n: usize,
    distinct: Distinct,
    /// Only signals like this; absent: any.
    matcher: Option<&'c Matcher>,
    waitpoints: &'c [WaitpointKey],
}

impl Leaf<'_> {
    fn asks_for(&self, arrival: Arrival<'_>) -> bool {
        let name = &arrival.signal.name;
        let matches = match self.matcher {
            Some(Matcher::ByName(wanted)) => wanted == name,
            Some(Matcher::ByNames(any)) => any.contains(name),
            Some(Matcher::Any) | None => true,
        };
        matches && self.waitpoints.contains(arrival.waitpoint_key)
    }

    fn is_full(&self, seen: &NodeProgress) -> bool {
        seen.0.len() >= self.n
    }

    /// What makes this arrival different from others.
    fn entry(&self, arrival: Arrival<'_>) -> String {
        let signal = arrival.signal;
        match self.distinct {
            Distinct::Waitpoints => arrival.waitpoint_key.to_string(),
            Distinct::Signals => signal.id.to_string(),
            Distinct::Sources if signal.source_verified => {
                Digest::of("signal source", [signal.source_identity.as_str()]).key()
            }
            // A sender may say that it is anybody, so all of these are one.
            Distinct::Sources => "unverified".to_owned(),
        }
    }
}

/// The leaves in reading order.
fn leaves(condition: &ResumeCondition) -> Vec<Leaf<'_>> {
    match condition {
        ResumeCondition::OperatorOnly | ResumeCondition::TimeoutOnly => Vec::new(),
        ResumeCondition::AllOf(parts) => parts.iter().flat_map(leaves).collect(),
        ResumeCondition::Single { waitpoint_key, matcher } => vec![Leaf {
            n: 1,
            distinct: Distinct::Signals,
            matcher: Some(matcher),
            waitpoints: slice::from_ref(waitpoint_key),
        }],
        ResumeCondition::Count {
            n,
            distinct,
            matcher,
            waitpoints,
        } => vec![Leaf {
            n: *n as usize,
            distinct: *distinct,
            matcher: matcher.as_ref(),
            waitpoints,
        }],
    }
}

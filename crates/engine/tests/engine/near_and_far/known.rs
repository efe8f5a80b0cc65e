//! What a caller remembers of what it was told: ids, tokens and leases, and which of them go together.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::support::Luck;

/// Fields that name something that was made.
const NAMES: [&str; 21] = [
    "execution_id",
    "flow_id",
    "budget_id",
    "quota_policy_id",
    "edge_id",
    "upstream",
    "downstream",
    "waitpoint_id",
    "waitpoint_token",
    "waitpoint_key",
    "suspension_id",
    "signal_id",
    "lease_id",
    "lease_epoch",
    "attempt_id",
    "attempt_index",
    "grant",
    "worker_id",
    "worker_instance_id",
    "incarnation",
    "name",
];

/// What a worker shows of its lease.
pub(super) const FENCE: [&str; 3] = ["lease_id", "lease_epoch", "attempt_id"];

/// Facts that are remembered: the last ones.
const FACTS_MAX: usize = 60;

/// How many of those that will do are thought of.
const RECENT: usize = 5;

/// Names that were told together.
type Fact = Map<String, Value>;

/// Everything that is remembered.
#[derive(Default)]
pub(super) struct Known {
    facts: Vec<Fact>,
    /// Where pages go on.
    cursors: Vec<Value>,
}

/// Whether a field names something that was made.
pub(super) fn is_name(field: &str) -> bool {
    NAMES.contains(&field)
}

impl Known {
    /// Remembers what was asked for and what was answered, together.
    pub(super) fn learn(&mut self, asked: &Map<String, Value>, answered: &Value) {
        let about = names(asked);
        let mut told = Vec::new();
        collect(answered, &about, &mut told);
        if told.is_empty() {
            told.push(about);
        }
        self.facts.extend(told.into_iter().filter(|fact| !fact.is_empty()));
        let surplus = self.facts.len().saturating_sub(FACTS_MAX);
        self.facts.drain(..surplus);
        if let Some(next) = answered.get("next").filter(|next| next.is_string()) {
            self.cursors.push(next.clone());
        }
    }

    /// Whether a lease is known that is not over.
    pub(super) fn has_lease(&self) -> bool {
        self.facts
            .iter()
            .any(|fact| FENCE.iter().all(|name| fact.contains_key(*name)))
    }

    /// A lease is over: what was told with it is still there.
    pub(super) fn forget_lease(&mut self, lease_id: Option<&Value>) {
        let of_lease = self
            .facts
            .iter_mut()
            .filter(|fact| lease_id.is_some() && fact.get("lease_id") == lease_id);
        of_lease.for_each(|fact| FENCE.iter().for_each(|name| drop(fact.remove(*name))));
    }

    /// Something that has all these names, or as many as anything has.
    pub(super) fn fact(&self, wanted: &BTreeSet<&str>, luck: &mut Luck) -> Option<&Fact> {
        let count = |fact: &Fact| wanted.iter().filter(|name| fact.contains_key(**name)).count();
        let most = self.facts.iter().map(count).max().filter(|most| *most > 0)?;
        // What was told long ago may be over.
        let best = self.facts.iter().rev().filter(|fact| count(fact) == most);
        let best: Vec<&Fact> = best.take(RECENT).collect();
        luck.of(&best)
    }

    /// Any value a field of this name had, beside this one if it had.
    pub(super) fn value(&self, name: &str, beside: Option<(&str, &Value)>, luck: &mut Luck) -> Option<Value> {
        let fits = |fact: &&Fact| beside.is_none_or(|(name, value)| fact.get(name) == Some(value));
        let values: Vec<&Value> = self
            .facts
            .iter()
            .filter(fits)
            .filter_map(|fact| fact.get(name))
            .collect();
        luck.of(&values).cloned()
    }

    /// Where some page goes on.
    pub(super) fn cursor(&self, luck: &mut Luck) -> Option<Value> {
        let cursors: Vec<&Value> = self.cursors.iter().rev().take(8).collect();
        luck.of(&cursors).cloned()
    }
}

fn names(fields: &Map<String, Value>) -> Fact {
    let named = fields.iter().filter(|(name, value)| is_name(name) && !value.is_null());
    named.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Every object in an answer that names something, with what is known around it.
fn collect(answered: &Value, around: &Fact, told: &mut Vec<Fact>) {
    match answered {
        Value::Object(fields) => {
            let own = names(fields);
            let mut fact = around.clone();
            fact.extend(own.clone());
            if !own.is_empty() {
                told.push(fact.clone());
            }
            fields.values().for_each(|value| collect(value, &fact, told));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, around, told)),
        _ => {}
    }
}

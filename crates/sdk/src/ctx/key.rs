//! What steps are called: `scope/name#n`, or `scope/name[key]`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::digest::Digest;
use ff_core::name::{STEP_KEY_BYTES_MAX, StepKey};

use crate::task_error::TaskError;

/// The longest name of a step.
const NAME_BYTES_MAX: usize = 128;
/// Digits of a digest that stands for a key that does not fit.
const DIGEST_DIGITS: usize = 32;

/// Where steps are counted: the handler itself, or a branch of it.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// What stands before every name, with its slash.
    prefix: String,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// The next number of each name.
    next: HashMap<String, u32>,
    /// What was called and has not ended, in the order of the calls.
    open: Vec<Open>,
    /// How many have ended.
    ended: u64,
    last_ticket: u64,
}

#[derive(Debug)]
struct Open {
    ticket: u64,
    label: String,
    /// How many had ended when this was called.
    ended_before: u64,
}

/// One call of something that has a key. Dropped, it has ended.
#[derive(Debug)]
pub(crate) struct Call {
    scope: Arc<Scope>,
    ticket: u64,
    name: String,
    label: String,
    number: Option<u32>,
    /// The call under way that makes the number of this one a matter of luck.
    ambiguous_with: Option<String>,
}

impl Scope {
    /// A branch, which counts for itself.
    pub(crate) fn branch(&self, name: &str) -> Self {
        let prefix = format!("{}{}/", self.prefix, fitting(name, NAME_BYTES_MAX));
        Self {
            prefix,
            calls: Mutex::default(),
        }
    }

    /// Notes a call under the next number of its name.
    pub(crate) fn call(self: &Arc<Self>, name: &str) -> Call {
        let mut calls = self.calls();
        let next = calls.next.entry(name.to_owned()).or_default();
        let number = *next;
        *next += 1;
        let label = format!("{}{name}#{number}", self.prefix);
        let ended = calls.ended;
        let overtaken = calls.open.iter().find(|open| open.ended_before < ended);
        let ambiguous_with = overtaken.map(|open| open.label.clone());
        calls.last_ticket += 1;
        let ticket = calls.last_ticket;
        calls.open.push(Open {
            ticket,
            label: label.clone(),
            ended_before: ended,
        });
        drop(calls);
        Call {
            scope: Arc::clone(self),
            ticket,
            name: name.to_owned(),
            label,
            number: Some(number),
            ambiguous_with,
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Call {
    /// Goes by this key instead of a number, which the next call of the name gets.
    pub(crate) fn by_key(&mut self, key: &str) {
        let room = STEP_KEY_BYTES_MAX.saturating_sub(self.scope.prefix.len() + self.name.len() + 2);
        self.label = format!("{}{}[{}]", self.scope.prefix, self.name, fitting(key, room));
        self.ambiguous_with = None;
        let mut calls = self.scope.calls();
        if let Some(open) = calls.open.iter_mut().find(|open| open.ticket == self.ticket) {
            open.label.clone_from(&self.label);
        }
        let Some(number) = self.number.take() else { return };
        // Only the last number can be given back; a call that came in between keeps its own.
        if let Some(next) = calls.next.get_mut(&self.name).filter(|next| **next == number + 1) {
            *next = number;
        }
    }

    /// What it is called in messages.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// The key, or why there is none.
    pub(crate) fn key(&self) -> Result<StepKey, TaskError> {
        check_name(&self.name)?;
        if let Some(other) = &self.ambiguous_with {
            return Err(TaskError::permanent(format!(
                "ambiguous step: {} was called while {other} is under way and after another step had ended, so that its number \
                 depends on which branch is faster; give each branch ctx.scope(id), or each call .key(id)",
                self.label
            )));
        }
        StepKey::parse(&self.label).map_err(|refusal| TaskError::permanent(format!("{}: {refusal}", self.label)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut calls = self.scope.calls();
        calls.open.retain(|open| open.ticket != self.ticket);
        calls.ended += 1;
    }
}

fn check_name(name: &str) -> Result<(), TaskError> {
    let is_letter = |letter: char| !letter.is_whitespace() && !letter.is_control() && !"#[]/".contains(letter);
    if (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_letter) {
        return Ok(());
    }
    Err(TaskError::permanent(format!(
        "{name:?} is no name of a step: it has 1 to {NAME_BYTES_MAX} bytes without '#', '[', ']', '/' and whitespace"
    )))
}

/// The user's own key as a part of a step's, or a digest of it where it does not fit.
fn fitting(key: &str, bytes_max: usize) -> String {
    let is_letter = |letter: char| !letter.is_whitespace() && !letter.is_control() && !"#[]/".contains(letter);
    if (1..=bytes_max).contains(&key.len()) && key.chars().all(is_letter) {
        return key.to_owned();
    }
    let mut digits = Digest::of("key of a step", [key]).to_string();
    digits.truncate(DIGEST_DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Arc<Scope> {
        Arc::default()
    }

    fn key(call: &Call) -> String {
        call.key().unwrap().to_string()
    }

    #[test]
    fn calls_of_a_name_are_numbered_when_they_are_made() {
        let scope = scope();
        let burst: Vec<Call> = (0..3).map(|_| scope.call("llm")).collect();
        let keys: Vec<String> = burst.iter().map(key).collect();
        assert_eq!(keys, ["llm#0", "llm#1", "llm#2"]);
        drop(burst);
        assert_eq!(key(&scope.call("llm")), "llm#3");
        assert_eq!(key(&scope.call("tool")), "tool#0");
    }

    #[test]
    fn a_key_stands_instead_of_a_number_and_gives_it_back() {
        let scope = scope();
        let mut keyed = scope.call("tool");
        keyed.by_key("call-7");
        assert_eq!(key(&keyed), "tool[call-7]");
        assert_eq!(key(&scope.call("tool")), "tool#0");
        let mut odd = scope.call("tool");
        odd.by_key("two words");
        let odd = key(&odd);
        assert_eq!(odd.len(), "tool[]".len() + DIGEST_DIGITS, "{odd}");
    }

    #[test]
    fn branches_count_for_themselves() {
        let scope = scope();
        let (first, second) = (Arc::new(scope.branch("a")), Arc::new(scope.branch("b")));
        let inner = Arc::new(first.branch("c/d"));
        assert_eq!(key(&first.call("x")), "a/x#0");
        assert_eq!(key(&second.call("x")), "b/x#0");
        assert!(key(&inner.call("x")).starts_with("a/"), "{}", key(&inner.call("x")));
    }

    #[test]
    fn a_number_that_depends_on_which_branch_is_faster_is_refused() {
        let scope = scope();
        let (slow, fast) = (scope.call("fetch"), scope.call("fetch"));
        drop(fast);
        let parse = scope.call("parse");
        let error = parse.key().unwrap_err().to_string();
        assert!(error.contains("parse#0") && error.contains("fetch#0"), "{error}");
        drop(parse);
        let mut keyed = scope.call("parse");
        keyed.by_key("1");
        assert_eq!(key(&keyed), "parse[1]");
        drop((slow, keyed));
        key(&scope.call("parse"));
    }

    #[test]
    fn loops_pass() {
        let scope = scope();
        for turn in 0..5 {
            let call = scope.call("llm");
            assert_eq!(key(&call), format!("llm#{turn}"));
        }
    }

    #[test]
    fn a_name_that_could_be_taken_for_a_key_is_refused() {
        let scope = scope();
        for bad in ["", "a#1", "a/b", "a[b", "a]", "two words", &"x".repeat(129)] {
            assert!(scope.call(bad).key().unwrap_err().is_permanent(), "{bad:?}");
        }
    }
}

//! In which lists a record stands, and in which order.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::running::{Case, SECOND, budget_id, policy};
use crate::support::submission;
use ff_core::command::operator::SetTags;
use ff_core::command::submit::CreateExecution;
use ff_core::id::ExecutionId;
use ff_core::machine::index::{Entry, Index, Order, entries};
use ff_core::machine::operator;
use ff_core::machine::placement::Score;
use ff_core::name::Namespace;
use ff_core::record::{Cause, Execution, Hold, Phase, Record, Tags};
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

fn lists(execution: &Execution) -> Vec<Index> {
    let entries = entries(&Record::Execution(Box::new(execution.clone())));
    entries.into_iter().map(|entry| entry.index).collect()
}

fn default_namespace() -> Namespace {
    Namespace::default_namespace()
}

#[test]
fn plain_work_that_ends_well_never_stands_in_any() {
    let mut case = Case::new();
    assert_eq!(lists(&case.execution()), []);
    case = case.leased();
    assert_eq!(lists(&case.execution()), []);
    case.complete().unwrap();
    assert_eq!(case.state(), PublicState::Completed);
    assert_eq!(lists(&case.execution()), []);
}

#[test]
fn what_runs_for_long_is_found_from_its_first_renewal_on() {
    let mut case = Case::new().leased();
    case.pass(SECOND);
    case.renew().unwrap();
    assert_eq!(lists(&case.execution()), [Index::Running(default_namespace())]);
    case.complete().unwrap();
    assert_eq!(lists(&case.execution()), []);
}

#[test]
fn what_an_operator_holds_is_found_until_it_ends() {
    let mut execution = Case::new().execution();
    execution.hold = Some(Hold {
        since: Timestamp::from_millis(1),
        reason: None,
    });
    let held = lists(&execution);
    assert!(held.contains(&Index::Held(default_namespace())), "{held:?}");
}

#[test]
fn what_is_refused_waits_under_its_cause_and_what_runs_under_its_budgets() {
    let budgets = policy(&json!({ "budget_ids": [budget_id(1), budget_id(2)] }));
    let command = CreateExecution {
        policy: budgets,
        ..submission().unwrap()
    };
    let case = Case::submitted(&command);
    let mut execution = case.execution();
    assert_eq!(lists(&execution), []);
    if let Phase::Runnable(runnable) = &mut execution.phase {
        runnable.block = Some(ff_core::record::Block {
            cause: Cause::Budget(budget_id(1)),
            detail: "full".to_owned(),
            generation: 1,
            since: case.now(),
        });
    }
    let refused = lists(&execution);
    assert!(
        refused.contains(&Index::Blocked(Cause::Budget(budget_id(1)))),
        "{refused:?}"
    );
    assert!(refused.contains(&Index::State(default_namespace(), PublicState::RateLimited)));
    let leased = lists(&case.leased().execution());
    assert_eq!(leased, [budget_id(1), budget_id(2)].map(Index::LeasedUnder));
}

#[test]
fn tags_are_found_as_they_are_now() {
    let mut case = Case::new();
    let tags = Tags::from([("team".to_owned(), "red".to_owned())]);
    let command = SetTags { tags };
    case.act(|execution, context| operator::set_tags(execution, &command, context))
        .unwrap();
    let tag = Index::Tag(default_namespace(), "team".to_owned(), "red".to_owned());
    assert_eq!(lists(&case.execution()), [tag]);
}

#[test]
fn members_are_open_until_they_end() {
    let mut case = Case::member();
    let flow_id = case.execution().definition.flow.unwrap();
    assert!(lists(&case.execution()).contains(&Index::OpenMembers(flow_id)));
    case.lease();
    case.complete().unwrap();
    let ended = lists(&case.execution());
    assert!(ended.contains(&Index::Members(flow_id)), "{ended:?}");
    assert!(!ended.contains(&Index::OpenMembers(flow_id)), "{ended:?}");
}

#[test]
fn only_what_a_record_may_have_is_an_order() {
    for text in ["", "0", "00ff", "0123456789abcdef"] {
        assert_eq!(Order::parse(text).unwrap().as_str(), text);
    }
    for text in ["x", "0F", " 0", "0 ", "é", "-1", &"0".repeat(57)] {
        assert_eq!(Order::parse(text), None, "{text:?}");
    }
}

#[test]
fn no_two_lists_have_one_name() {
    let odd = ["a", "a:b", "a%3ab", "a b", "a\tb", "", ":", "%"];
    let mut names = BTreeSet::new();
    let mut count = 0;
    for key in odd {
        for value in odd {
            let [key, value] = [key, value].map(str::to_owned);
            for index in [
                Index::Tag(default_namespace(), key.clone(), value.clone()),
                Index::FlowTag(default_namespace(), key.clone(), value.clone()),
            ] {
                let name = index.to_string();
                assert!(!name.contains(char::is_whitespace), "{name:?}");
                names.insert(name);
                count += 1;
            }
        }
    }
    assert_eq!(names.len(), count);
}

fn one(created_at: u64, uuid: u128, partition: u16, priority: u16) -> Execution {
    let mut execution = Case::new().execution();
    let mut definition = (*execution.definition).clone();
    definition.created_at = Timestamp::from_millis(created_at);
    execution.definition = definition.into();
    execution.id = ExecutionId::new(partition, Uuid::from_u128(uuid));
    execution.priority = priority;
    execution.tags = Tags::from([("a".to_owned(), "b".to_owned())]).into();
    if let Phase::Runnable(runnable) = &mut execution.phase {
        runnable.block = Some(ff_core::record::Block {
            cause: Cause::Budget(budget_id(1)),
            detail: String::new(),
            generation: 1,
            since: Timestamp::from_millis(1),
        });
    }
    execution
}

fn order_in(execution: &Execution, wanted: impl Fn(&Index) -> bool) -> Order {
    let all = entries(&Record::Execution(Box::new(execution.clone())));
    let mut found = all.into_iter().filter(|Entry { index, .. }| wanted(index));
    found.next().expect("it stands there").order
}

type Facts = (u64, u128, u16, u16);

fn facts() -> impl Strategy<Value = Facts> {
    let moment = prop_oneof![0..4_u64, 1_700_000_000_000..1_700_000_000_004_u64];
    (moment, any::<u128>(), 0..256_u16, 0..9_001_u16)
}

proptest! {
    #[test]
    fn an_order_says_what_it_stands_for((created_at, uuid, partition, priority) in facts(), index in any::<u32>()) {
        let id = ExecutionId::new(partition, Uuid::from_u128(uuid));
        let created_at = Timestamp::from_millis(created_at);
        let score = Score { priority: Reverse(priority), created_at, id };
        prop_assert_eq!(Order::best(&score).as_score(), Some(score));
        prop_assert_eq!(Order::newest(created_at).then_newest(id).as_newest(), Some((created_at, id)));
        prop_assert_eq!(Order::first(id.uuid()).as_uuid(), Some(id.uuid()));
        prop_assert_eq!(Order::index(index).as_index(), Some(index));
        prop_assert_eq!(Order::best(&score).as_uuid(), None);
        prop_assert_eq!(Order::first(id.uuid()).as_index(), None);
    }

    #[test]
    fn a_bound_comes_before_all_that_begin_with_it(one in facts(), cut in 0..52_usize) {
        let (created_at, uuid, partition, _) = one;
        let id = ExecutionId::new(partition, Uuid::from_u128(uuid));
        let order = Order::newest(Timestamp::from_millis(created_at)).then_newest(id);
        let bound = Order::parse(&order.as_str()[..cut]).unwrap();
        let (moment, first) = bound.as_newest().unwrap();
        let first = Order::newest(moment).then_newest(first);
        prop_assert!(bound <= first && first <= order);
        prop_assert!(first.as_str().starts_with(bound.as_str()));
    }

    #[test]
    fn texts_are_ordered_as_what_they_stand_for(left in facts(), right in facts()) {
        let of = |(created_at, uuid, partition, priority): Facts| one(created_at, uuid, partition, priority);
        let newest = |execution: &Execution| (Reverse(execution.definition.created_at), Reverse(execution.id));
        let best = |execution: &Execution| (Reverse(execution.priority), execution.definition.created_at, execution.id);
        let (left, right) = (of(left), of(right));
        let tag = |execution: &Execution| order_in(execution, |index| matches!(index, Index::Tag(..)));
        let blocked = |execution: &Execution| order_in(execution, |index| matches!(index, Index::Blocked(_)));
        prop_assert_eq!(tag(&left).cmp(&tag(&right)), newest(&left).cmp(&newest(&right)));
        prop_assert_eq!(blocked(&left).cmp(&blocked(&right)), best(&left).cmp(&best(&right)));
    }
}

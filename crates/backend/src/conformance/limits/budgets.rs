//! Budgets: usage counts once, exactly, whoever reports it.

use std::collections::BTreeMap;

use ff_core::command::budget::{
    BudgetCreated, BudgetReset, BudgetState, BudgetView, CreateBudget, Deleted, Reported, ResetBudget, UpdateLimits,
};
use ff_core::error::Code;
use ff_core::id::{BudgetId, EffectId};
use ff_core::ledger::AccountKey;
use ff_core::machine::budget::UsageReport;
use ff_core::name::{Dimension, Namespace, RequestId};
use ff_core::record::{Cause, Limits, OnHardLimit, UsageIdentity};
use ff_core::time::Duration;

use super::super::build::{Store, key};
use super::budget::{BudgetAnswer, BudgetCall, BudgetReply, ask};
use super::process::Process;
use super::ruled;
use crate::due::DueKey;
use crate::hint::Hint;
use crate::limits;

pub(in crate::conformance) async fn a_budget_is_created_once(store: &Store<'_>) {
    let budget_id = BudgetId::from_uuid(store.uuid());
    let create = |command| BudgetCall::Create { budget_id, command };
    let same = definition(Some(10), Some(20));
    assert_eq!(
        accepted(store, create(same.clone())).await,
        BudgetAnswer::Created(BudgetCreated::Created)
    );
    assert_eq!(
        accepted(store, create(same)).await,
        BudgetAnswer::Created(BudgetCreated::Exists)
    );
    assert_eq!(
        refused(store, create(definition(Some(1), None))).await,
        Code::AlreadyExists
    );
    let view = view(store, budget_id).await;
    assert_eq!(
        (view.budget_id, view.generation, view.state),
        (budget_id, 1, BudgetState::Open)
    );
}

pub(in crate::conformance) async fn a_budget_that_was_never_created_is_refused(store: &Store<'_>) {
    let budget_id = BudgetId::from_uuid(store.uuid());
    let report = usage(1);
    for call in [
        BudgetCall::Get(budget_id),
        BudgetCall::Report { budget_id, report },
        BudgetCall::Advance(budget_id),
        BudgetCall::Delete(budget_id),
    ] {
        assert_eq!(refused(store, call).await, Code::BudgetNotFound);
    }
}

pub(in crate::conformance) async fn usage_above_a_limit_is_recorded_and_answered(store: &Store<'_>) {
    let budget_id = budget(store, Some(10), Some(20)).await;
    assert_eq!(report(store, budget_id, usage(10)).await, Reported::Ok);
    assert!(matches!(
        report(store, budget_id, usage(5)).await,
        Reported::SoftBreach { .. }
    ));
    assert!(matches!(
        report(store, budget_id, usage(15)).await,
        Reported::HardBreach { .. }
    ));
    let view = view(store, budget_id).await;
    assert_eq!((spent(&view), view.soft_breaches, view.hard_breaches), (30, 1, 1));
    assert!(matches!(view.state, BudgetState::Closed(_)));
}

pub(in crate::conformance) async fn a_repeated_report_counts_once_within_its_window(store: &Store<'_>) {
    let budget_id = budget(store, None, None).await;
    let window = Duration::from_hours(1);
    let again = UsageReport {
        dedup_window: window,
        ..usage(5).identified_by(UsageIdentity::Key(key("report")))
    };
    assert_eq!(report(store, budget_id, again.clone()).await, Reported::Ok);
    assert_eq!(report(store, budget_id, again.clone()).await, Reported::AlreadyApplied);
    store.advance(Duration::from_secs(3_000)).await;
    assert_eq!(report(store, budget_id, again.clone()).await, Reported::AlreadyApplied);
    assert_eq!(spent(&view(store, budget_id).await), 5);
    store.advance(Duration::from_secs(600)).await;
    assert_eq!(
        report(store, budget_id, again).await,
        Reported::Ok,
        "the window runs from the first use"
    );
    assert_eq!(spent(&view(store, budget_id).await), 10);
}

pub(in crate::conformance) async fn identities_of_two_kinds_or_budgets_never_meet(store: &Store<'_>) {
    let budgets = [budget(store, None, None).await, budget(store, None, None).await];
    let uuid = store.uuid();
    let text = uuid.to_string();
    let request = RequestId::parse(&text).expect("a request id");
    let identities = [
        UsageIdentity::Key(key(&text)),
        UsageIdentity::Request(request.clone()),
        UsageIdentity::Call(store.id(), request.clone()),
        UsageIdentity::Call(store.id(), request),
        UsageIdentity::Effect(EffectId::from_uuid(uuid)),
    ];
    for budget_id in budgets {
        for identity in &identities {
            let identified = usage(1).identified_by(identity.clone());
            assert_eq!(report(store, budget_id, identified).await, Reported::Ok);
        }
        assert_eq!(report(store, budget_id, usage(1)).await, Reported::Ok);
        assert_eq!(
            report(store, budget_id, usage(1)).await,
            Reported::Ok,
            "without an identity every call counts"
        );
        assert_eq!(spent(&view(store, budget_id).await), 7);
    }
}

pub(in crate::conformance) async fn an_effect_that_is_sent_again_counts_once_and_is_answered(store: &Store<'_>) {
    let budget_id = budget(store, None, Some(5)).await;
    let sent = |effect_id| UsageReport {
        dedup_window: Duration::from_secs(60),
        effect_id: Some(EffectId::from_uuid(effect_id)),
        ..usage(9).identified_by(UsageIdentity::Key(key("report")))
    };
    let (mine, another) = (store.uuid(), store.uuid());
    let first = report(store, budget_id, sent(mine)).await;
    assert!(matches!(first, Reported::HardBreach { .. }));
    assert_eq!(report(store, budget_id, sent(mine)).await, first, "its answer was lost");
    assert_eq!(report(store, budget_id, sent(another)).await, Reported::AlreadyApplied);
    store.advance(Duration::from_hours(1)).await;
    let late = report(store, budget_id, sent(mine)).await;
    assert_eq!(late, first, "an effect outlives the window of its key");
    let view = view(store, budget_id).await;
    assert_eq!((spent(&view), view.hard_breaches), (9, 1));
}

pub(in crate::conformance) async fn a_reset_starts_again_from_zero_once_per_request(store: &Store<'_>) {
    let budget_id = budget(store, None, Some(5)).await;
    report(store, budget_id, usage(9)).await;
    let request_id = RequestId::parse("reset-1").ok();
    let reset = BudgetCall::Reset {
        budget_id,
        command: ResetBudget { request_id },
    };
    assert_eq!(
        accepted(store, reset.clone()).await,
        BudgetAnswer::Reset(BudgetReset::Now)
    );
    report(store, budget_id, usage(2)).await;
    assert_eq!(accepted(store, reset).await, BudgetAnswer::Reset(BudgetReset::Already));
    let view = view(store, budget_id).await;
    assert_eq!((spent(&view), view.generation, view.state), (2, 2, BudgetState::Open));
}

pub(in crate::conformance) async fn a_periodic_reset_happens_before_the_report_that_finds_it(store: &Store<'_>) {
    let budget_id = BudgetId::from_uuid(store.uuid());
    let reset_interval = Some(Duration::from_hours(1));
    let command = CreateBudget {
        reset_interval,
        ..definition(None, Some(5))
    };
    accepted(store, BudgetCall::Create { budget_id, command }).await;
    report(store, budget_id, usage(5)).await;
    let before = view(store, budget_id).await;
    store.advance(Duration::from_secs(2 * 3_600 + 60)).await;
    assert_eq!(report(store, budget_id, usage(1)).await, Reported::Ok);
    let after = view(store, budget_id).await;
    assert_eq!((spent(&before), spent(&after), after.generation), (5, 1, 2));
    let rhythm = before.next_reset_at.map(|at| at + Duration::from_hours(2));
    assert_eq!(after.next_reset_at, rhythm, "the rhythm stays");
}

pub(in crate::conformance) async fn a_periodic_reset_is_due_at_its_moment(store: &Store<'_>) {
    let budget_id = BudgetId::from_uuid(store.uuid());
    let reset_interval = Some(Duration::from_hours(1));
    let command = CreateBudget {
        reset_interval,
        ..definition(None, None)
    };
    accepted(store, BudgetCall::Create { budget_id, command }).await;
    let partition = store.counts().of_budget(budget_id);
    let reset_at = view(store, budget_id).await.next_reset_at;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!((page.items, page.next), (vec![], reset_at));
    store.advance(Duration::from_hours(1)).await;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!(page.items.len(), 1);
    assert_eq!(
        (&page.items[0].key, Some(page.items[0].due_at)),
        (&DueKey::Account(AccountKey::Budget(budget_id)), reset_at)
    );
    accepted(store, BudgetCall::Advance(budget_id)).await;
    assert_eq!(store.due_in(&[partition], 10).await.items, []);
}

pub(in crate::conformance) async fn an_opened_budget_with_blocked_work_is_due_at_once(store: &Store<'_>) {
    let budget_id = budget(store, None, Some(5)).await;
    report(store, budget_id, usage(5)).await;
    accepted(
        store,
        BudgetCall::MarkBlocked {
            budget_id,
            partition: store.home(),
        },
    )
    .await;
    let partition = store.counts().of_budget(budget_id);
    assert_eq!(store.due_in(&[partition], 10).await.items, []);
    let dimensions = BTreeMap::from([(
        tokens(),
        Limits {
            soft: None,
            hard: Some(6),
        },
    )]);
    accepted(
        store,
        BudgetCall::Update {
            budget_id,
            command: UpdateLimits { dimensions },
        },
    )
    .await;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!(
        page.items.into_iter().map(|item| item.key).collect::<Vec<_>>(),
        [DueKey::Account(AccountKey::Budget(budget_id))]
    );
    match accepted(store, BudgetCall::Advance(budget_id)).await {
        BudgetAnswer::Work(work) => {
            assert_eq!(work.release.map(|release| release.partitions), Some(vec![store.home()]));
        }
        other => panic!("an advance answers work, got {other:?}"),
    }
}

pub(in crate::conformance) async fn a_new_generation_is_hinted(store: &Store<'_>) {
    let budget_id = budget(store, None, Some(5)).await;
    for call in [
        BudgetCall::Reset {
            budget_id,
            command: ResetBudget::default(),
        },
        BudgetCall::Delete(budget_id),
    ] {
        let mut hints = store.backend().hints();
        accepted(store, call).await;
        store
            .hinted(&mut hints, |hint| *hint == Hint::Cause(Cause::Budget(budget_id)))
            .await;
    }
}

pub(in crate::conformance) async fn a_deleted_budget_is_still_read_but_counts_nothing(store: &Store<'_>) {
    let budget_id = budget(store, None, Some(5)).await;
    assert_eq!(
        accepted(store, BudgetCall::Delete(budget_id)).await,
        BudgetAnswer::Deleted(Deleted::Now)
    );
    assert_eq!(
        accepted(store, BudgetCall::Delete(budget_id)).await,
        BudgetAnswer::Deleted(Deleted::Already)
    );
    assert_eq!(report(store, budget_id, usage(9)).await, Reported::Gone);
    assert_eq!(view(store, budget_id).await.state, BudgetState::Deleted);
}

pub(in crate::conformance) async fn budgets_are_listed_by_id_within_their_namespace(store: &Store<'_>) {
    let mine = Namespace::parse("mine").expect("a namespace");
    let mut wanted = Vec::new();
    for n in 0..12 {
        let budget_id = BudgetId::from_uuid(store.uuid());
        let namespace = if n % 3 == 0 {
            Namespace::default_namespace()
        } else {
            mine.clone()
        };
        let command = CreateBudget {
            namespace,
            ..definition(None, None)
        };
        accepted(store, BudgetCall::Create { budget_id, command }).await;
        if n % 3 == 1 {
            accepted(store, BudgetCall::Delete(budget_id)).await;
        } else if n % 3 == 2 {
            wanted.push(budget_id);
        }
    }
    wanted.sort_unstable();
    let process = Process::new(store.backend());
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = limits::budgets::list(&process.direct, mine.clone(), after, 3).await;
        let (budgets, next) = ruled(page).expect("a page");
        assert!(budgets.len() <= 3);
        listed.extend(budgets.iter().map(|budget| budget.budget_id));
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed, wanted);
}

pub(in crate::conformance) async fn reports_of_many_callers_add_up(store: &Store<'_>) {
    let budget_id = budget(store, None, None).await;
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let process = Process::new(store.backend());
            tokio::spawn(async move {
                for delta in 1..=20 {
                    let report = usage(delta);
                    let reply = ask(&process, BudgetCall::Report { budget_id, report }).await;
                    reply.answer.expect("recorded");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("the store answers");
    }
    assert_eq!(spent(&view(store, budget_id).await), 8 * 210);
}

pub(in crate::conformance) async fn of_many_reports_with_one_identity_one_counts(store: &Store<'_>) {
    let budget_id = budget(store, None, None).await;
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let process = Process::new(store.backend());
            let report = usage(3).identified_by(UsageIdentity::Key(key("once")));
            tokio::spawn(async move { ask(&process, BudgetCall::Report { budget_id, report }).await.answer })
        })
        .collect();
    let mut counted = 0;
    for caller in callers {
        let answer = caller.await.expect("the store answers");
        counted += usize::from(answer == Ok(BudgetAnswer::Reported(Reported::Ok)));
    }
    assert_eq!((counted, spent(&view(store, budget_id).await)), (1, 3));
}

/// A budget of one dimension.
pub(super) fn definition(soft: Option<u64>, hard: Option<u64>) -> CreateBudget {
    CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: "conformance".to_owned(),
        dimensions: BTreeMap::from([(tokens(), Limits { soft, hard })]),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    }
}

/// The dimension every budget here has.
pub(super) fn tokens() -> Dimension {
    Dimension::parse("tokens").expect("a dimension")
}

fn usage(delta: u64) -> UsageReport {
    UsageReport::new(BTreeMap::from([(tokens(), delta)]))
}

async fn budget(store: &Store<'_>, soft: Option<u64>, hard: Option<u64>) -> BudgetId {
    let budget_id = BudgetId::from_uuid(store.uuid());
    accepted(
        store,
        BudgetCall::Create {
            budget_id,
            command: definition(soft, hard),
        },
    )
    .await;
    budget_id
}

/// One call about a budget.
async fn call(store: &Store<'_>, call: BudgetCall) -> BudgetReply {
    ask(&Process::new(store.backend()), call).await
}

async fn accepted(store: &Store<'_>, asked: BudgetCall) -> BudgetAnswer {
    call(store, asked).await.answer.expect("the call is accepted")
}

async fn refused(store: &Store<'_>, asked: BudgetCall) -> Code {
    call(store, asked).await.answer.expect_err("the call is refused").code
}

async fn report(store: &Store<'_>, budget_id: BudgetId, report: UsageReport) -> Reported {
    match accepted(store, BudgetCall::Report { budget_id, report }).await {
        BudgetAnswer::Reported(reported) => reported,
        other => panic!("a report answers what it came to, got {other:?}"),
    }
}

async fn view(store: &Store<'_>, budget_id: BudgetId) -> BudgetView {
    match accepted(store, BudgetCall::Get(budget_id)).await {
        BudgetAnswer::Budget(view) => *view,
        other => panic!("a reading answers the budget, got {other:?}"),
    }
}

fn spent(view: &BudgetView) -> u64 {
    view.dimensions.get(&tokens()).map_or(0, |dimension| dimension.usage)
}

//! Quotas: a slot per lease and a place per attempt, never one more than there are.

use std::collections::BTreeSet;

use ff_core::command::budget::Deleted;
use ff_core::command::quota::{CreateQuotaPolicy, LimitChange, QuotaCreated, QuotaPolicyView, UpdateQuotaPolicy};
use ff_core::error::Code;
use ff_core::id::{ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::AccountKey;
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::machine::quota::{Admit, QuotaAdmission, SlotReleased};
use ff_core::name::Namespace;
use ff_core::record::Cause;
use ff_core::time::Duration;

use super::super::build::Store;
use super::process::Process;
use super::quota::{self, QuotaAnswer, QuotaCall, QuotaReply};
use super::ruled;
use crate::due::DueKey;
use crate::hint::Hint;
use crate::limits;

pub(in crate::conformance) async fn a_policy_is_created_once(store: &Store<'_>) {
    let quota_policy_id = QuotaPolicyId::from_uuid(store.uuid());
    let create = |command| QuotaCall::Create {
        quota_policy_id,
        command,
    };
    let same = definition(Some(3), Some(2));
    assert_eq!(
        accepted(store, create(same.clone())).await,
        QuotaAnswer::Created(QuotaCreated::Created)
    );
    assert_eq!(
        accepted(store, create(same)).await,
        QuotaAnswer::Created(QuotaCreated::Exists)
    );
    assert_eq!(
        refused(store, create(definition(None, Some(2)))).await,
        Code::AlreadyExists
    );
    let view = view(store, quota_policy_id).await;
    assert_eq!(
        (view.max_requests_per_window, view.max_concurrent, view.generation),
        (Some(3), Some(2), 1)
    );
}

pub(in crate::conformance) async fn a_policy_that_was_never_created_is_refused(store: &Store<'_>) {
    let quota_policy_id = QuotaPolicyId::from_uuid(store.uuid());
    for call in [
        QuotaCall::Get(quota_policy_id),
        QuotaCall::Admit {
            quota_policy_id,
            ask: ask(store, store.id(), 0),
        },
        QuotaCall::Headroom(quota_policy_id),
    ] {
        assert_eq!(refused(store, call).await, Code::QuotaPolicyNotFound);
    }
}

pub(in crate::conformance) async fn no_more_slots_are_taken_than_there_are(store: &Store<'_>) {
    let id = policy(store, None, Some(2)).await;
    let asks = [(); 3].map(|()| ask(store, store.id(), 0));
    assert_eq!(admit(store, id, asks[0]).await, QuotaAdmission::Admitted);
    assert_eq!(admit(store, id, asks[1]).await, QuotaAdmission::Admitted);
    match admit(store, id, asks[2]).await {
        QuotaAdmission::CapFull {
            in_use: 2,
            max_concurrent: 2,
            retry_after: Some(_),
            generation: 1,
        } => {}
        other => panic!("no slot is free, got {other:?}"),
    }
    assert_eq!(release(store, id, asks[0].grant_id).await, SlotReleased::Freed);
    assert_eq!(admit(store, id, asks[2]).await, QuotaAdmission::Admitted);
    assert_eq!(view(store, id).await.in_use, 2);
}

pub(in crate::conformance) async fn one_grant_takes_one_slot_however_often_it_asks(store: &Store<'_>) {
    let id = policy(store, None, Some(2)).await;
    let ask = ask(store, store.id(), 0);
    assert_eq!(admit(store, id, ask).await, QuotaAdmission::Admitted);
    assert_eq!(admit(store, id, ask).await, QuotaAdmission::AlreadyAdmitted);
    assert_eq!(view(store, id).await.in_use, 1);
}

pub(in crate::conformance) async fn an_attempt_takes_one_place_in_the_window(store: &Store<'_>) {
    let id = policy(store, Some(2), None).await;
    let execution_id = store.id();
    assert_eq!(
        admit(store, id, ask(store, execution_id, 0)).await,
        QuotaAdmission::Admitted
    );
    assert_eq!(
        admit(store, id, ask(store, execution_id, 0)).await,
        QuotaAdmission::Admitted,
        "the same attempt"
    );
    assert_eq!(view(store, id).await.requests_in_window, 1);
    assert_eq!(
        admit(store, id, ask(store, execution_id, 1)).await,
        QuotaAdmission::Admitted,
        "its second attempt"
    );
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::WindowFull { taken: 2, .. }
    ));
    let continuing = Admit {
        continues: true,
        ..ask(store, store.id(), 7)
    };
    assert_eq!(
        admit(store, id, continuing).await,
        QuotaAdmission::Admitted,
        "its place was taken long ago"
    );
}

pub(in crate::conformance) async fn a_refusal_says_when_the_window_has_moved(store: &Store<'_>) {
    let id = policy(store, Some(1), None).await;
    admit(store, id, ask(store, store.id(), 0)).await;
    store.advance(Duration::from_secs(20)).await;
    let waiting = ask(store, store.id(), 0);
    let QuotaAdmission::WindowFull {
        retry_after: Some(retry_after),
        ..
    } = admit(store, id, waiting).await
    else {
        panic!("the window is full");
    };
    assert!(
        retry_after <= Duration::from_secs(40) && retry_after > Duration::from_secs(20),
        "{retry_after}"
    );
    store.advance(retry_after).await;
    assert_eq!(admit(store, id, waiting).await, QuotaAdmission::Admitted);
    assert_eq!(
        view(store, id).await.requests_in_window,
        1,
        "the first place is free again"
    );
}

pub(in crate::conformance) async fn what_is_refused_takes_nothing(store: &Store<'_>) {
    let id = policy(store, Some(1), Some(5)).await;
    admit(store, id, ask(store, store.id(), 0)).await;
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::WindowFull { .. }
    ));
    let view = view(store, id).await;
    assert_eq!((view.in_use, view.requests_in_window), (1, 1));
}

pub(in crate::conformance) async fn a_grant_released_before_it_asked_is_too_late(store: &Store<'_>) {
    let id = policy(store, None, Some(2)).await;
    let late = ask(store, store.id(), 0);
    assert_eq!(release(store, id, late.grant_id).await, SlotReleased::Unknown);
    assert_eq!(admit(store, id, late).await, QuotaAdmission::Late);
    assert_eq!(view(store, id).await.in_use, 0);
    store.advance(GRANT_TTL_MAX).await;
    assert_eq!(
        admit(store, id, late).await,
        QuotaAdmission::Admitted,
        "no grant lives that long"
    );
}

pub(in crate::conformance) async fn a_slot_is_freed_once(store: &Store<'_>) {
    let id = policy(store, None, Some(2)).await;
    let [mine, other] = [(); 2].map(|()| ask(store, store.id(), 0));
    admit(store, id, mine).await;
    admit(store, id, other).await;
    assert_eq!(release(store, id, mine.grant_id).await, SlotReleased::Freed);
    assert_eq!(release(store, id, mine.grant_id).await, SlotReleased::Unknown);
    assert_eq!(view(store, id).await.in_use, 1);
}

pub(in crate::conformance) async fn a_freed_slot_moves_the_generation_and_is_hinted(store: &Store<'_>) {
    let id = policy(store, None, Some(1)).await;
    let mine = ask(store, store.id(), 0);
    admit(store, id, mine).await;
    let mut hints = store.backend().hints();
    release(store, id, mine.grant_id).await;
    assert_eq!(view(store, id).await.generation, 2);
    store
        .hinted(&mut hints, |hint| *hint == Hint::Cause(Cause::Quota(id)))
        .await;
}

pub(in crate::conformance) async fn a_policy_is_due_when_there_is_room_for_waiting_work(store: &Store<'_>) {
    let id = policy(store, Some(1), None).await;
    let partition = store.counts().of_quota(id);
    admit(store, id, ask(store, store.id(), 0)).await;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!((page.items, page.next), (vec![], None), "nothing waits");
    admit(store, id, ask(store, store.id(), 0)).await;
    let page = store.due_in(&[partition], 10).await;
    assert!(page.items.is_empty() && page.next.is_some());
    store.advance(Duration::from_secs(60)).await;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!(
        page.items.into_iter().map(|item| item.key).collect::<Vec<_>>(),
        [DueKey::Account(AccountKey::Quota(id))]
    );
    match accepted(store, QuotaCall::Advance(id)).await {
        QuotaAnswer::Work(Some(release)) => assert_eq!(release.partitions, [store.home()]),
        other => panic!("waiting work may go, got {other:?}"),
    }
}

pub(in crate::conformance) async fn old_slots_are_listed_to_be_checked(store: &Store<'_>) {
    let id = policy(store, None, None).await;
    let mut wanted = Vec::new();
    for _ in 0..5 {
        let ask = ask(store, store.id(), 0);
        admit(store, id, ask).await;
        wanted.push((ask.grant_id, ask.execution_id));
    }
    wanted.sort_unstable();
    let to_check = async |after, limit| {
        let call = QuotaCall::SlotsToCheck {
            quota_policy_id: id,
            after,
            limit,
        };
        let QuotaAnswer::Slots(slots) = accepted(store, call).await else {
            panic!("a slot check answers slots")
        };
        slots
            .into_iter()
            .map(|(grant_id, slot)| (grant_id, slot.execution_id))
            .collect::<Vec<_>>()
    };
    assert_eq!(to_check(None, 10).await, []);
    store.advance(GRANT_TTL_MAX).await;
    assert_eq!(to_check(None, 3).await, wanted[..3]);
    assert_eq!(to_check(Some(wanted[2].0), 3).await, wanted[3..]);
}

pub(in crate::conformance) async fn a_changed_limit_holds_at_once(store: &Store<'_>) {
    let id = policy(store, None, Some(1)).await;
    admit(store, id, ask(store, store.id(), 0)).await;
    let command = UpdateQuotaPolicy {
        max_concurrent: LimitChange::Set(2),
        ..UpdateQuotaPolicy::default()
    };
    accepted(
        store,
        QuotaCall::Update {
            quota_policy_id: id,
            command,
        },
    )
    .await;
    assert_eq!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::Admitted
    );
    let command = UpdateQuotaPolicy {
        max_concurrent: LimitChange::Set(1),
        ..UpdateQuotaPolicy::default()
    };
    accepted(
        store,
        QuotaCall::Update {
            quota_policy_id: id,
            command,
        },
    )
    .await;
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::CapFull { in_use: 2, .. }
    ));
}

pub(in crate::conformance) async fn a_deleted_policy_limits_nothing(store: &Store<'_>) {
    let id = policy(store, Some(1), Some(1)).await;
    let holder = ask(store, store.id(), 0);
    assert_eq!(admit(store, id, holder).await, QuotaAdmission::Admitted);
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::CapFull { .. }
    ));
    assert_eq!(
        accepted(store, QuotaCall::Delete(id)).await,
        QuotaAnswer::Deleted(Deleted::Now)
    );
    assert_eq!(
        accepted(store, QuotaCall::Delete(id)).await,
        QuotaAnswer::Deleted(Deleted::Already)
    );
    assert_eq!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::Unlimited
    );
    let shown = view(store, id).await;
    assert_eq!((shown.in_use, shown.requests_in_window), (0, 0));
    let freed = [SlotReleased::Freed, SlotReleased::Unknown];
    for wanted in freed {
        assert_eq!(
            release(store, id, holder.grant_id).await,
            wanted,
            "what is held goes with its lease"
        );
    }
}

/// A lease that was lost gives nothing back: whoever checks the slots of policies must meet this one.
pub(in crate::conformance) async fn a_deleted_policy_is_due_until_all_slots_are_back(store: &Store<'_>) {
    let id = policy(store, None, Some(2)).await;
    let partition = store.counts().of_quota(id);
    let holder = ask(store, store.id(), 0);
    admit(store, id, holder).await;
    accepted(store, QuotaCall::Delete(id)).await;
    for _ in 0..3 {
        assert_eq!(store.due_in(&[partition], 10).await.items.len(), 1);
        assert_eq!(accepted(store, QuotaCall::Advance(id)).await, QuotaAnswer::Work(None));
        let page = store.due_in(&[partition], 10).await;
        assert!(page.items.is_empty() && page.next.is_some());
        store.advance(Duration::from_secs(60)).await;
    }
    release(store, id, holder.grant_id).await;
    accepted(store, QuotaCall::Advance(id)).await;
    let page = store.due_in(&[partition], 10).await;
    assert_eq!((page.items, page.next), (vec![], None));
}

pub(in crate::conformance) async fn a_limit_of_nothing_admits_nobody(store: &Store<'_>) {
    let id = policy(store, Some(0), Some(0)).await;
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::CapFull { retry_after: None, .. }
    ));
    let id = policy(store, Some(0), None).await;
    assert!(matches!(
        admit(store, id, ask(store, store.id(), 0)).await,
        QuotaAdmission::WindowFull { retry_after: None, .. }
    ));
}

pub(in crate::conformance) async fn policies_are_listed_by_id_within_their_namespace(store: &Store<'_>) {
    let mine = Namespace::parse("mine").expect("a namespace");
    let mut wanted = BTreeSet::new();
    for n in 0..12 {
        let quota_policy_id = QuotaPolicyId::from_uuid(store.uuid());
        let namespace = if n % 3 == 0 {
            Namespace::default_namespace()
        } else {
            mine.clone()
        };
        let command = CreateQuotaPolicy {
            namespace,
            ..definition(None, None)
        };
        accepted(
            store,
            QuotaCall::Create {
                quota_policy_id,
                command,
            },
        )
        .await;
        if n % 3 == 1 {
            accepted(store, QuotaCall::Delete(quota_policy_id)).await;
        } else if n % 3 == 2 {
            wanted.insert(quota_policy_id);
        }
    }
    let process = Process::new(store.backend());
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = limits::quotas::list(&process.direct, mine.clone(), after, 3).await;
        let (policies, next) = ruled(page).expect("a page");
        assert!(policies.len() <= 3);
        listed.extend(policies.iter().map(|policy| policy.quota_policy_id));
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(listed, wanted.into_iter().collect::<Vec<_>>());
}

pub(in crate::conformance) async fn the_cap_holds_among_many_callers(store: &Store<'_>) {
    let id = policy(store, None, Some(5)).await;
    let admitted = admitted_at_once(store, id, (0..40).map(|_| ask(store, store.id(), 0)).collect()).await;
    assert_eq!((admitted, view(store, id).await.in_use), (5, 5));
}

pub(in crate::conformance) async fn the_window_holds_among_many_callers(store: &Store<'_>) {
    let id = policy(store, Some(7), None).await;
    let admitted = admitted_at_once(store, id, (0..40).map(|_| ask(store, store.id(), 0)).collect()).await;
    assert_eq!((admitted, view(store, id).await.requests_in_window), (7, 7));
}

pub(in crate::conformance) async fn of_many_asks_under_one_grant_one_takes_the_slot(store: &Store<'_>) {
    let id = policy(store, Some(100), Some(100)).await;
    let same = ask(store, store.id(), 0);
    let admitted = admitted_at_once(store, id, vec![same; 40]).await;
    let view = view(store, id).await;
    assert_eq!((admitted, view.in_use, view.requests_in_window), (1, 1, 1));
}

async fn admitted_at_once(store: &Store<'_>, quota_policy_id: QuotaPolicyId, asks: Vec<Admit>) -> usize {
    let calls: Vec<_> = asks
        .into_iter()
        .map(|ask| {
            let process = Process::new(store.backend());
            tokio::spawn(async move {
                let reply = quota::ask(&process, QuotaCall::Admit { quota_policy_id, ask }).await;
                reply.answer == Ok(QuotaAnswer::Admission(QuotaAdmission::Admitted))
            })
        })
        .collect();
    let mut admitted = 0;
    for call in calls {
        admitted += usize::from(call.await.expect("the store answers"));
    }
    admitted
}

/// A policy with a window of a minute.
pub(super) fn definition(max_requests_per_window: Option<u64>, max_concurrent: Option<u64>) -> CreateQuotaPolicy {
    CreateQuotaPolicy {
        quota_policy_id: None,
        namespace: Namespace::default_namespace(),
        window: Duration::from_secs(60),
        max_requests_per_window,
        max_concurrent,
        jitter: Duration::ZERO,
    }
}

/// A fresh grant asks for an attempt of an execution.
fn ask(store: &Store<'_>, execution_id: ExecutionId, attempt_index: u32) -> Admit {
    let grant_id = GrantId::from_uuid(store.uuid());
    Admit {
        grant_id,
        execution_id,
        attempt_index,
        continues: false,
        dice: 0,
    }
}

async fn policy(store: &Store<'_>, rate: Option<u64>, cap: Option<u64>) -> QuotaPolicyId {
    let quota_policy_id = QuotaPolicyId::from_uuid(store.uuid());
    accepted(
        store,
        QuotaCall::Create {
            quota_policy_id,
            command: definition(rate, cap),
        },
    )
    .await;
    quota_policy_id
}

/// One call about a quota policy.
async fn call(store: &Store<'_>, call: QuotaCall) -> QuotaReply {
    quota::ask(&Process::new(store.backend()), call).await
}

async fn accepted(store: &Store<'_>, asked: QuotaCall) -> QuotaAnswer {
    call(store, asked).await.answer.expect("the call is accepted")
}

async fn refused(store: &Store<'_>, asked: QuotaCall) -> Code {
    call(store, asked).await.answer.expect_err("the call is refused").code
}

async fn admit(store: &Store<'_>, quota_policy_id: QuotaPolicyId, ask: Admit) -> QuotaAdmission {
    match accepted(store, QuotaCall::Admit { quota_policy_id, ask }).await {
        QuotaAnswer::Admission(admission) => admission,
        other => panic!("an ask answers an admission, got {other:?}"),
    }
}

async fn release(store: &Store<'_>, quota_policy_id: QuotaPolicyId, grant_id: GrantId) -> SlotReleased {
    match accepted(
        store,
        QuotaCall::Release {
            quota_policy_id,
            grant_id,
        },
    )
    .await
    {
        QuotaAnswer::Released(released) => released,
        other => panic!("a release answers what it freed, got {other:?}"),
    }
}

async fn view(store: &Store<'_>, quota_policy_id: QuotaPolicyId) -> QuotaPolicyView {
    match accepted(store, QuotaCall::Get(quota_policy_id)).await {
        QuotaAnswer::Policy(view) => *view,
        other => panic!("a reading answers the policy, got {other:?}"),
    }
}

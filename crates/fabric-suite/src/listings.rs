//! Which executions are listed: by what holds them back, and those that run.

use std::collections::BTreeSet;

use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::error::Code;
use ff_core::id::ExecutionId;
use ff_core::ledger::{AccountKey, AccountKind};
use ff_core::name::{ExecutionKind, Namespace};
use ff_core::state::PublicState;
use ff_core::view::{ExecutionPage, HeldBackBy, ListExecutions};

use crate::Harness;
use crate::scene::{
    HOUR, MINUTE, SECOND, Scene, WORKER, budget_of, elsewhere, first, in_lane, limited, other_namespace, refused,
    requiring, submission, under,
};

/// Everything a listing shows, page by page, with the pages.
async fn walk(scene: &Scene<'_>, mut request: ListExecutions) -> (Vec<ExecutionId>, Vec<ExecutionPage>) {
    let (mut seen, mut pages) = (Vec::new(), Vec::new());
    loop {
        let page = scene.fabric.list_executions(request.clone()).await.unwrap();
        seen.extend(page.items.iter().map(|view| view.execution_id));
        request.page.cursor.clone_from(&page.next);
        pages.push(page);
        if request.page.cursor.is_none() {
            return (seen, pages);
        }
    }
}

/// What causes hold back in the default namespace, one by one.
async fn held_back(scene: &Scene<'_>, cause: &[HeldBackBy]) -> Vec<ExecutionId> {
    let request = ListExecutions {
        namespace: Some(Namespace::default_namespace()),
        cause: cause.to_vec(),
        page: first(1),
        ..ListExecutions::default()
    };
    walk(scene, request).await.0
}

pub(crate) async fn what_an_account_holds_back_is_listed_by_account_and_by_kind(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let closed = scene.fabric.create_budget(budget_of(0)).await.unwrap().budget_id;
    let other = scene.fabric.create_budget(budget_of(0)).await.unwrap().budget_id;
    let full = scene.quota(None, Some(0)).await;
    let old = scene.submit(under(closed)).await;
    scene.after(SECOND).await;
    let urgent = CreateExecution {
        priority: 9,
        ..under(closed)
    };
    let urgent = scene.submit(urgent).await;
    let of_other = scene.submit(under(other)).await;
    let of_quota = scene.submit(limited(full)).await;
    scene.submit(in_lane("slow")).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(SECOND).await;
    let by_account = |account| HeldBackBy::Account(account);
    let under_closed = by_account(AccountKey::Budget(closed));
    assert_eq!(
        held_back(&scene, &[under_closed]).await,
        [urgent, old],
        "as they are handed out once they may be"
    );
    assert_eq!(
        held_back(&scene, &[by_account(AccountKey::Quota(full))]).await,
        [of_quota]
    );
    let of_kind = held_back(&scene, &[HeldBackBy::Kind(AccountKind::Budget)]).await;
    assert_eq!(BTreeSet::from_iter(of_kind), BTreeSet::from([old, urgent, of_other]));
    let of_both = held_back(&scene, &[under_closed, HeldBackBy::Kind(AccountKind::Quota)]).await;
    assert_eq!(BTreeSet::from_iter(of_both), BTreeSet::from([old, urgent, of_quota]));
    let foreign = ListExecutions {
        namespace: Some(other_namespace()),
        cause: vec![under_closed],
        ..ListExecutions::default()
    };
    let foreign = scene.fabric.list_executions(foreign).await.unwrap();
    assert_eq!(
        (foreign.items.len(), foreign.looked_at, foreign.reached_at),
        (0, 0, None),
        "nothing tells that it is there"
    );
}

pub(crate) async fn what_waits_for_something_else_is_listed_by_that(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let running = scene.running(in_lane("default")).await.execution_id;
    scene.hold(running).await.unwrap();
    let held = scene.submit_plain().await;
    scene.hold(held).await.unwrap();
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + HOUR),
        ..submission()
    };
    let delayed = scene.submit(delayed).await;
    let graph = scene.flow(&[("up", &[]), ("down", &["up"])]).await;
    let held_back = async |cause| held_back(&scene, &[cause]).await;
    assert_eq!(
        BTreeSet::from_iter(held_back(HeldBackBy::Hold).await),
        BTreeSet::from([held, running])
    );
    assert_eq!(held_back(HeldBackBy::Delay).await, [delayed]);
    assert_eq!(held_back(HeldBackBy::Dependencies).await, [graph.member("down")]);
}

pub(crate) async fn what_its_lane_or_its_requirements_hold_back_is_listed_as_it_is_handed_out(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let fits = scene.submit_plain().await;
    let demanding = scene.submit(requiring(&["gpu"])).await;
    scene.set_lane("slow", LaneState::Paused).await;
    let first = scene.submit(in_lane("slow")).await;
    scene.after(SECOND).await;
    let urgent = CreateExecution {
        priority: 3,
        execution_kind: ExecutionKind::parse("mail").unwrap(),
        ..in_lane("slow")
    };
    let urgent = scene.submit(urgent).await;
    scene.submit(elsewhere()).await;
    let by_cause = async |cause| held_back(&scene, &[cause]).await;
    assert_eq!(by_cause(HeldBackBy::Lane).await, [urgent, first]);
    let unfit = by_cause(HeldBackBy::Capabilities).await;
    assert_eq!(
        unfit,
        [demanding],
        "{fits} has a worker, and what is paused waits for its lane"
    );
    let mail = ListExecutions {
        cause: vec![HeldBackBy::Lane],
        kind: vec![ExecutionKind::parse("mail").unwrap()],
        ..ListExecutions::default()
    };
    assert_eq!(walk(&scene, mail).await.0, [urgent], "everything given must hold");
    let two = ListExecutions {
        cause: vec![HeldBackBy::Lane, HeldBackBy::Hold],
        ..ListExecutions::default()
    };
    assert_eq!(refused(scene.fabric.list_executions(two).await), Code::InvalidInput);
}

pub(crate) async fn what_runs_is_listed_whatever_came_after_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    // One that lasts is kept while it runs, and not as it begins.
    let lasting = async || {
        let task = scene.running(submission()).await;
        scene.after(SECOND).await;
        scene.keep(&task).await;
        task
    };
    let long = lasting().await;
    // More than are looked at for one page.
    for _ in 0..2 {
        let many = std::iter::repeat_with(|| in_lane("slow")).take(600);
        scene.fabric.create_executions(many.collect()).await.unwrap();
    }
    scene.after(SECOND).await;
    let other = lasting().await;
    let short = scene.running(submission()).await;
    let of = |limit| ListExecutions {
        namespace: Some(Namespace::default_namespace()),
        state: vec![PublicState::Active],
        page: first(limit),
        ..ListExecutions::default()
    };
    let expected = [short.execution_id, other.execution_id, long.execution_id];
    let (seen, pages) = walk(&scene, of(50)).await;
    assert_eq!(seen, expected);
    assert_eq!(pages[0].items.len(), 3, "all of it on the first page");
    assert!(pages[0].next.is_some(), "there may be more that only just began");
    for limit in [1, 2] {
        assert_eq!(walk(&scene, of(limit)).await.0, expected, "{limit} at a time");
    }
    let none = ListExecutions {
        kind: vec![ExecutionKind::parse("mail").unwrap()],
        ..of(50)
    };
    assert_eq!(walk(&scene, none).await.0, []);
    scene.complete(&long).await.unwrap();
    assert_eq!(walk(&scene, of(50)).await.0, expected[..2]);
    scene.after(MINUTE).await;
    assert_eq!(
        walk(&scene, of(50)).await.0,
        [other.execution_id],
        "a lease nobody kept is over"
    );
}

//! A namespace at a glance, and what happened in it minute by minute.

use ff_core::caller::{Caller, Role};
use ff_core::command::lane::ListNamespaces;
use ff_core::command::lease::Completed;
use ff_core::command::submit::LaneState;
use ff_core::command::worker::RegisterWorker;
use ff_core::error::Code;
use ff_core::name::Namespace;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use ff_core::view::{AttentionCode, HeldBackKind, LaneProblem, Overview, ReadOverview, ReadSeries, Series, SeriesOf};

use crate::Harness;
use crate::scene::{
    HOUR, SECOND, Scene, WORKER, claim, elsewhere, in_lane, other_namespace, promptly, refused, registration,
    requiring, retrying,
};

const MINUTE: Duration = Duration::from_secs(60);

fn of_other_namespace() -> Caller {
    Caller {
        role: Role::Reader,
        namespace: Some(other_namespace()),
        ..Caller::local()
    }
}

fn read() -> ReadOverview {
    ReadOverview {
        namespace: Namespace::default_namespace(),
        after: None,
        wait: Duration::ZERO,
    }
}

/// The overview once it is as wanted: what happened is heard of a little later, and read every two seconds.
async fn overview(scene: &Scene<'_>, is_wanted: impl Fn(&Overview) -> bool) -> Overview {
    promptly(async {
        loop {
            scene.after(SECOND + SECOND + SECOND).await;
            scene.settle().await;
            let overview = scene.fabric.overview(read()).await.unwrap();
            if is_wanted(&overview) {
                return overview;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

/// A worker that stays although a lot of time passes before something is heard of.
async fn register_for_long(scene: &Scene<'_>) {
    let worker = RegisterWorker {
        ttl: Some(HOUR),
        ..registration(WORKER)
    };
    scene.fabric.register_worker(worker).await.unwrap();
}

async fn series(scene: &Scene<'_>, of: &[&str]) -> Series {
    let request = ReadSeries {
        namespace: Namespace::default_namespace(),
        of: of.iter().map(|of| of.parse().unwrap()).collect(),
        from: None,
        step: MINUTE,
    };
    scene.fabric.series(request).await.unwrap()
}

pub(crate) async fn namespaces_are_those_with_lanes(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let listed = async || scene.fabric.list_namespaces(ListNamespaces::default()).await.unwrap();
    assert_eq!(listed().await, []);
    scene.submit(elsewhere()).await;
    scene.submit_plain().await;
    // A list is shown for a few seconds.
    scene.after(Duration::from_secs(15)).await;
    let mut both = [other_namespace(), Namespace::default_namespace()];
    both.sort();
    assert_eq!(listed().await, both);
    let bound = Scene::by(harness, of_other_namespace()).await;
    let own = bound.fabric.list_namespaces(ListNamespaces::default()).await.unwrap();
    assert_eq!(own, [other_namespace()]);
}

pub(crate) async fn an_overview_counts_every_lane_of_its_namespace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let empty = scene.fabric.overview(read()).await.unwrap();
    assert_eq!((empty.states.len(), empty.lanes.len(), empty.running), (0, 0, 0));
    assert_eq!(
        (empty.attention.len(), empty.causes.len(), empty.workers.live),
        (0, 0, 0)
    );
    for name in ["a", "b", "default", "default"] {
        scene.submit(in_lane(name)).await;
    }
    scene.submit(elsewhere()).await;
    let task = scene.claim(WORKER).await;
    let all = |overview: &Overview| overview.running == 1;
    let seen = overview(&scene, all).await;
    assert_eq!(seen.states[&PublicState::Waiting], 3);
    assert_eq!(seen.lanes.len(), 3);
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
    let seen = overview(&scene, |overview| overview.running == 0).await;
    assert_eq!(seen.states[&PublicState::Completed], 1);
    assert_eq!(seen.namespace, Namespace::default_namespace());

    let bound = Scene::by(harness, of_other_namespace()).await;
    assert_eq!(refused(bound.fabric.overview(read()).await), Code::Forbidden);
    let own = ReadOverview {
        namespace: other_namespace(),
        ..read()
    };
    let own = bound.fabric.overview(own).await.unwrap();
    assert_eq!(own.states.values().sum::<u64>(), 1);
}

pub(crate) async fn an_overview_says_what_needs_somebody(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit(in_lane("quiet")).await;
    scene.set_lane("quiet", LaneState::Paused).await;
    scene.submit(requiring(&["gpu"])).await;
    register_for_long(&scene).await;
    let held = scene.submit(in_lane("default")).await;
    scene.hold(held).await.unwrap();
    let seen = overview(&scene, |overview| {
        overview.causes.len() == 3 && overview.workers.live == 1
    })
    .await;
    let of = |cause| {
        seen.causes
            .iter()
            .find(|held| held.cause == cause)
            .map(|held| held.count.n)
    };
    assert_eq!(of(HeldBackKind::Lane), Some(1));
    assert_eq!(of(HeldBackKind::Hold), Some(1));
    assert_eq!(
        of(HeldBackKind::Capabilities),
        Some(1),
        "what is in the paused lane waits for its lane"
    );
    let codes: Vec<AttentionCode> = seen.attention.iter().map(|attention| attention.code).collect();
    assert!(codes.contains(&AttentionCode::LanePaused), "{codes:?}");
    assert!(codes.contains(&AttentionCode::NoWorker), "{codes:?}");
    let quiet = seen
        .lanes
        .iter()
        .find(|lane| lane.lane_id().as_str() == "quiet")
        .unwrap();
    assert_eq!(quiet.problems, [LaneProblem::Paused]);
    assert!(!seen.lanes[0].problems.is_empty(), "problems come first");

    scene.set_lane("quiet", LaneState::Active).await;
    overview(&scene, |overview| {
        overview.causes.iter().all(|held| held.cause != HeldBackKind::Lane)
    })
    .await;
}

pub(crate) async fn an_overview_notices_a_worker_that_is_not_heard_of(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    register_for_long(&scene).await;
    let seen = overview(&scene, |overview| overview.workers.live == 1).await;
    let problems = |overview: &Overview| overview.lanes[0].problems.clone();
    assert_eq!((problems(&seen), seen.causes.len()), (vec![], 0));
    // Nothing happens but that time passes.
    scene.after(HOUR).await;
    let seen = scene.fabric.overview(read()).await.unwrap();
    assert_eq!(seen.workers.live, 0);
    assert_eq!(problems(&seen), [LaneProblem::NoWorker]);
    assert_eq!(seen.causes[0].cause, HeldBackKind::Capabilities);
}

pub(crate) async fn an_overview_that_was_seen_is_waited_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let seen = scene.fabric.overview(read()).await.unwrap();
    let again = ReadOverview {
        after: Some(seen.as_of),
        ..read()
    };
    let same = scene.fabric.overview(again.clone()).await.unwrap();
    assert_eq!(same.as_of, seen.as_of, "nothing happened");
    scene.submit_plain().await;
    let other = overview(&scene, |overview| overview.states.len() == 1).await;
    assert_ne!(other.as_of, seen.as_of);
    assert_eq!(scene.fabric.overview(again).await.unwrap().as_of, other.as_of);
    let too_long = ReadOverview {
        wait: Duration::from_secs(31),
        ..read()
    };
    assert_eq!(refused(scene.fabric.overview(too_long).await), Code::InvalidInput);
}

pub(crate) async fn what_happened_is_counted_minute_by_minute(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit(in_lane("default")).await;
    scene.submit(retrying(1)).await;
    scene.submit(elsewhere()).await;
    let first = scene.claim(WORKER).await;
    scene.complete(&first).await.unwrap();
    let second = scene.claim(WORKER).await;
    scene.fail(&second, "flaky").await.unwrap();
    let told = series(&scene, &["all", "lane:default", "kind:nobody", "lane:nobody"]).await;
    assert_eq!((told.step, told.series.len()), (MINUTE, 4));
    assert_eq!(told.from.as_millis() % MINUTE.as_millis(), 0);
    let steps = told.series[0].submitted.len();
    assert!((60..=62).contains(&steps), "{steps}");
    let sum = |column: &Vec<u64>| column.iter().sum::<u64>();
    for of in &told.series[..2] {
        assert_eq!(
            (
                sum(&of.submitted),
                sum(&of.started),
                sum(&of.completed),
                sum(&of.retried)
            ),
            (2, 2, 1, 1),
            "{:?}",
            of.of
        );
        assert_eq!(of.lease_lost.len(), steps);
    }
    let lane_of_nobody = &told.series[3];
    assert_eq!(
        (sum(&lane_of_nobody.submitted), lane_of_nobody.waiting.len()),
        (0, steps)
    );
    let kind = first.execution_kind.to_string();
    let told = series(&scene, &[&format!("kind:{kind}")]).await;
    assert_eq!(sum(&told.series[0].completed), 1);
    assert_eq!(told.series[0].p50.iter().flatten().count(), 1);

    let request = ReadSeries {
        namespace: Namespace::default_namespace(),
        of: vec![SeriesOf::All],
        from: None,
        step: Duration::from_secs(90),
    };
    assert_eq!(refused(scene.fabric.series(request.clone()).await), Code::InvalidInput);
    let hourly = ReadSeries {
        step: Duration::from_hours(1),
        ..request.clone()
    };
    let hourly = scene.fabric.series(hourly).await.unwrap();
    assert_eq!(sum(&hourly.series[0].submitted), 2);
    let bound = Scene::by(harness, of_other_namespace()).await;
    let own = ReadSeries {
        step: MINUTE,
        ..request
    };
    assert_eq!(refused(bound.fabric.series(own.clone()).await), Code::Forbidden);
    let own = ReadSeries {
        namespace: other_namespace(),
        ..own
    };
    let own = bound.fabric.series(own).await.unwrap();
    assert_eq!(sum(&own.series[0].submitted), 1);
}

pub(crate) async fn what_executions_spend_is_counted_by_budget_and_kind(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.submit_plain().await;
    let task = scene.fabric.claim(claim(WORKER)).await.unwrap().remove(0);
    scene.report(&task, budget, 3).await.unwrap();
    scene.report(&task, budget, 4).await.unwrap();
    let told = series(&scene, &[&format!("budget:{budget}")]).await;
    let dimensions = &told.series[0].dimensions;
    assert_eq!(dimensions.len(), 1);
    let spent = dimensions.values().next().unwrap();
    assert_eq!(spent.used.iter().sum::<u64>(), 7);
    assert_eq!(spent.by_kind[task.execution_kind.as_str()], spent.used);
}

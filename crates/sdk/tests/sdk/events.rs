//! Following what happens.

use ff_core::error::Code;
use ff_core::record::{Happening, HistorySubject};
use ff_sdk::events::{EventStream, Observed};
use ff_sdk::{Error, Events, Task, hours};
use serde::{Deserialize, Serialize};

use crate::scene::Scene;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "job", output = u32, lane = "web")]
struct Job {}

/// Submits a job and completes it.
async fn run_one(scene: &Scene) -> HistorySubject {
    let run = scene.client.submit(Job {}).await.unwrap();
    let task = scene.claim(&["web"], &[]).await.remove(0);
    scene.complete(&task, &1).await;
    HistorySubject::Execution(run.id())
}

async fn next(events: &mut EventStream) -> (HistorySubject, Happening) {
    let line = events.next().await.unwrap().unwrap().event().unwrap().line;
    (line.subject, line.what)
}

#[tokio::test]
async fn ends_of_a_lane_are_told_as_they_happen() {
    for scene in Scene::each() {
        let mut ends = scene.client.events(Events::of_lane("web").ended()).await.unwrap();
        let mut others = scene
            .client
            .events(Events::of_lane("other").from_oldest())
            .await
            .unwrap();
        for _ in 0..2 {
            let subject = run_one(&scene).await;
            assert_eq!(next(&mut ends).await, (subject, Happening::Completed));
        }
        scene.client.submit(Job {}).lane("other").await.unwrap();
        assert_eq!(next(&mut others).await.1, Happening::Created);
    }
}

#[tokio::test]
async fn a_reader_goes_on_after_the_event_it_has_seen() {
    for scene in Scene::each() {
        let mut both = vec![run_one(&scene).await, run_one(&scene).await];
        let mut all = scene.client.events(Events::all().ended().from_oldest()).await.unwrap();
        let first = all.next().await.unwrap().unwrap().event().unwrap();
        let mut rest = scene
            .client
            .events(Events::all().ended().after(first.cursor))
            .await
            .unwrap();
        // Executions of two partitions have no order between them.
        both.retain(|subject| *subject != first.line.subject);
        assert_eq!(next(&mut rest).await, (both[0], Happening::Completed));
    }
}

#[tokio::test]
async fn one_execution_is_followed_from_its_beginning() {
    let scene = Scene::local();
    let subject = run_one(&scene).await;
    let HistorySubject::Execution(id) = subject else {
        panic!("it is an execution")
    };
    let mut events = scene
        .client
        .events(Events::of_execution(id).from_oldest())
        .await
        .unwrap();
    assert_eq!(next(&mut events).await, (subject, Happening::Created));
    let only = Events::of_execution(id).only([Happening::Claimed]).from_oldest();
    assert_eq!(
        next(&mut scene.client.events(only).await.unwrap()).await,
        (subject, Happening::Claimed)
    );
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_refused_at_once() {
    let scene = Scene::local();
    let error = scene.client.events(Events::of_lane("two words")).await.err().unwrap();
    assert!(matches!(error, Error::Invalid { .. }), "{error}");
    let forged = ff_core::token::SignedCursor::from_text("forged");
    let error = scene.client.events(Events::all().after(forged)).await.err().unwrap();
    assert_eq!(error.code(), Some(Code::InvalidCursor));
}

#[tokio::test]
async fn where_the_feed_forgot_there_is_a_gap_and_the_stream_goes_on() {
    let scene = Scene::forgetful();
    let run = scene.client.submit(Job {}).await.unwrap();
    let mut events = scene
        .client
        .events(Events::of_execution(run.id()).from_oldest())
        .await
        .unwrap();
    assert_eq!(next(&mut events).await.1, Happening::Created);
    let task = scene.claim(&["web"], &[]).await.remove(0);
    scene.complete(&task, &1).await;
    run.replay().await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap(), Observed::Gap);
    assert_eq!(next(&mut events).await.1, Happening::Completed);
    assert_eq!(next(&mut events).await.1, Happening::Replayed);
}

#[tokio::test]
async fn a_reader_begins_at_a_moment() {
    let scene = Scene::local();
    run_one(&scene).await;
    let start = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(crate::scene::START.as_millis());
    let mut events = scene.client.events(Events::all().ended().since(start)).await.unwrap();
    assert_eq!(next(&mut events).await.1, Happening::Completed);
    let later = Events::all().ended().since(start + hours(1));
    let mut later = scene.client.events(later).await.unwrap();
    scene.pass(hours(2)).await;
    let subject = run_one(&scene).await;
    assert_eq!(
        next(&mut later).await,
        (subject, Happening::Completed),
        "not the one before"
    );
}

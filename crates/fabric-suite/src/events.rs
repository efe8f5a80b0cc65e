//! The feed of what happened.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::id::ExecutionId;
use ff_core::name::ExecutionKind;
use ff_core::record::{Happening, HistoryLine, HistorySubject};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{EventFilter, Events, EventsFrom, ListExecutions, ReadEvents};
use serde_json::json;

use crate::Harness;
use crate::scene::{
    MINUTE, Scene, WORKER, elsewhere, first, fresh, in_lane, into_flow, lane, other_namespace, promptly, refused,
    submission, with_policy,
};

pub(crate) async fn events_of_an_execution_come_in_order(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    let lines = read(&scene, EventFilter::default()).await;
    let told: Vec<_> = lines.iter().map(|line| line.what.as_str()).collect();
    assert_eq!(told, ["created", "claimed", "completed"]);
    let line = &lines[2];
    assert_eq!(line.subject, HistorySubject::Execution(task.execution_id));
    assert_eq!((line.namespace.as_str(), line.kind.as_str()), ("default", "job"));
    assert_eq!(line.lane, Some(lane("default")));
}

pub(crate) async fn a_cursor_goes_on_after_what_was_seen(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let seen = scene.fabric.events(ReadEvents::default()).await.unwrap();
    assert_eq!(seen.events.len(), 1);
    let id = scene.submit_plain().await;
    for cursor in [seen.next, seen.events[0].cursor.clone()] {
        let more = scene.fabric.events(after(cursor)).await.unwrap();
        let subjects: Vec<_> = more.events.iter().map(|event| event.line.subject).collect();
        assert_eq!(subjects, [HistorySubject::Execution(id)]);
    }
}

pub(crate) async fn every_event_is_seen_once_page_by_page(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for _ in 0..10 {
        scene.submit_plain().await;
    }
    let (mut subjects, mut request) = (
        Vec::new(),
        ReadEvents {
            limit: Some(3),
            ..ReadEvents::default()
        },
    );
    loop {
        let page = scene.fabric.events(request).await.unwrap();
        if page.events.is_empty() {
            break;
        }
        assert!(page.events.len() <= 3);
        subjects.extend(page.events.iter().map(|event| event.line.subject));
        request = ReadEvents {
            limit: Some(3),
            ..after(page.next)
        };
    }
    assert_eq!(subjects.len(), 10);
    assert_eq!(BTreeSet::from_iter(subjects).len(), 10);
}

pub(crate) async fn events_are_filtered_by_what_they_carry(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let fast = scene.submit(in_lane("fast")).await;
    let mail = CreateExecution {
        execution_kind: ExecutionKind::parse("mail").unwrap(),
        ..in_lane("slow")
    };
    let mail = scene.submit(mail).await;
    let foreign = scene.submit(elsewhere()).await;
    let any = EventFilter::default;
    let filters = [
        (
            EventFilter {
                lane: Some(lane("fast")),
                ..any()
            },
            fast,
        ),
        (
            EventFilter {
                kind: Some("mail".to_owned()),
                ..any()
            },
            mail,
        ),
        (
            EventFilter {
                namespace: Some(other_namespace()),
                ..any()
            },
            foreign,
        ),
        (
            EventFilter {
                execution_id: Some(mail),
                ..any()
            },
            mail,
        ),
    ];
    for (filter, expected) in filters {
        let lines = read(&scene, filter).await;
        let subjects: Vec<_> = lines.iter().map(|line| line.subject).collect();
        assert_eq!(subjects, [HistorySubject::Execution(expected)]);
    }
}

pub(crate) async fn events_do_not_repeat_what_people_wrote(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    let history = scene.history(id).await;
    assert!(history.iter().any(|line| line.detail.is_some()), "{history:?}");
    scene.fabric.delete_execution(id).await.unwrap();
    let lines = read(&scene, EventFilter::default()).await;
    assert!(lines.iter().any(|line| line.what == Happening::Cancelled));
    assert!(lines.iter().all(|line| line.detail.is_none()), "{lines:?}");
}

pub(crate) async fn events_are_filtered_by_what_happened(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.complete(&task).await.unwrap();
    let ends = EventFilter {
        what: vec![Happening::Completed, Happening::Created],
        ..EventFilter::default()
    };
    let told: Vec<_> = read(&scene, ends).await.iter().map(|line| line.what.as_str()).collect();
    assert_eq!(told, ["created", "completed"]);
    let unheard_of = ReadEvents {
        filter: EventFilter {
            what: vec![Happening::Unknown],
            ..EventFilter::default()
        },
        ..ReadEvents::default()
    };
    assert_eq!(refused(scene.fabric.events(unheard_of).await), Code::InvalidInput);
}

pub(crate) async fn events_begin_where_they_are_asked_to(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let first = scene.submit_plain().await;
    let created_at = scene.fabric.get_execution(first).await.unwrap().created_at;
    scene.after(MINUTE).await;
    let now = scene.fabric.events(from(EventsFrom::Now)).await.unwrap();
    assert!(now.events.is_empty(), "nothing of what happened before");
    let second = scene.submit_plain().await;
    let subjects = async |request| {
        let events = scene.fabric.events(request).await.unwrap().events;
        let ids = events.into_iter().map(|event| event.line.subject);
        ids.collect::<Vec<_>>()
    };
    let (first, second) = (HistorySubject::Execution(first), HistorySubject::Execution(second));
    assert_eq!(subjects(after(now.next.clone())).await, [second]);
    assert_eq!(subjects(from(EventsFrom::At(created_at))).await, [first, second]);
    let later = created_at + Duration::from_secs(30);
    assert_eq!(subjects(from(EventsFrom::At(later))).await, [second]);
    assert_eq!(subjects(from(EventsFrom::Oldest)).await, [first, second]);
    let both = ReadEvents {
        from: Some(EventsFrom::Now),
        ..after(now.next)
    };
    assert_eq!(refused(scene.fabric.events(both).await), Code::InvalidInput);
}

pub(crate) async fn readers_that_wait_together_each_see_every_event(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let seen = scene.fabric.events(ReadEvents::default()).await.unwrap();
    let mut cursors = vec![seen.next; 8];
    for _ in 0..4 {
        let parked: Vec<_> = cursors
            .into_iter()
            .map(|cursor| {
                let fabric = Arc::clone(&scene.fabric);
                let patient = ReadEvents {
                    wait: Duration::from_secs(30),
                    ..after(cursor)
                };
                tokio::spawn(async move { fabric.events(patient).await })
            })
            .collect();
        let id = scene.submit_plain().await;
        cursors = Vec::new();
        for reader in parked {
            let page = promptly(reader).await.unwrap().unwrap();
            let subjects: Vec<_> = page.events.iter().map(|event| event.line.subject).collect();
            assert_eq!(subjects, [HistorySubject::Execution(id)]);
            cursors.push(page.events[0].cursor.clone());
        }
    }
}

pub(crate) async fn collected_events_are_few_and_the_others_are_counted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for created in scene.fabric.create_executions(vec![submission(); 250]).await.unwrap() {
        created.unwrap();
    }
    let collected = |batch| ReadEvents {
        batch: Some(Duration::from_millis(batch)),
        limit: Some(1_000),
        ..ReadEvents::default()
    };
    let page = scene.fabric.events(collected(100)).await.unwrap();
    assert_eq!((page.events.len(), page.skipped), (200, 50));
    let rest = scene.fabric.events(after(page.next)).await.unwrap();
    assert_eq!((rest.events.len(), rest.skipped), (0, 0));
    for wrong in [99, 5_001] {
        assert_eq!(refused(scene.fabric.events(collected(wrong)).await), Code::InvalidInput);
    }
}

pub(crate) async fn events_of_a_flow_are_those_of_its_members_too(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let flow = scene.empty_flow().await;
    let task = scene
        .submit(CreateExecution {
            priority: 9,
            ..into_flow(flow, &[])
        })
        .await;
    let task = {
        let claimed = scene.claim(WORKER).await;
        assert_eq!(claimed.execution_id, task);
        claimed
    };
    scene.finish(&task).await;
    let lines = read(
        &scene,
        EventFilter {
            flow_id: Some(flow),
            ..EventFilter::default()
        },
    )
    .await;
    let told: Vec<_> = lines.iter().map(|line| line.what.as_str()).collect();
    assert_eq!(told, ["flow_created", "created", "claimed", "completed", "flow_ended"]);
    assert_eq!(lines[4].subject, HistorySubject::Flow(flow));
}

pub(crate) async fn a_parked_reader_gets_the_next_event(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let seen = scene.fabric.events(ReadEvents::default()).await.unwrap();
    let fabric = Arc::clone(&scene.fabric);
    let patient = ReadEvents {
        wait: Duration::from_secs(30),
        ..after(seen.next)
    };
    let parked = tokio::spawn(async move { fabric.events(patient).await });
    let id = scene.submit_plain().await;
    let page = promptly(parked).await.unwrap().unwrap();
    assert_eq!(page.events[0].line.subject, HistorySubject::Execution(id));
}

pub(crate) async fn events_outlive_what_they_tell_of(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(with_policy(&json!({ "retention_ms": 1_000 }))).await;
    scene.cancel(id).await.unwrap();
    scene.after(MINUTE).await;
    assert_eq!(refused(scene.fabric.get_execution(id).await), Code::ExecutionNotFound);
    let lines = read(&scene, EventFilter::default()).await;
    let of_it = lines
        .iter()
        .filter(|line| line.subject == HistorySubject::Execution(id));
    let told: Vec<_> = of_it.map(|line| line.what.as_str()).collect();
    assert_eq!(told[..2], ["created", "cancelled"]);
}

pub(crate) async fn a_cursor_of_something_else_is_invalid(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_in_turn(2).await;
    let one = ListExecutions {
        page: first(1),
        ..ListExecutions::default()
    };
    let listing = scene.fabric.list_executions(one).await.unwrap().next.unwrap();
    for wrong in [listing, SignedCursor::from_text("forged")] {
        assert_eq!(refused(scene.fabric.events(after(wrong)).await), Code::InvalidCursor);
    }
}

pub(crate) async fn a_reader_that_comes_too_late_is_told_so(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let one = ReadEvents {
        limit: Some(1),
        ..ReadEvents::default()
    };
    let seen = scene.fabric.events(one).await.unwrap();
    scene.hold(id).await.unwrap();
    scene.after(Duration::from_hours(25)).await;
    scene.fabric.unhold(id).await.unwrap();
    match scene.fabric.events(after(seen.next)).await {
        Err(refusal) => assert_eq!(refusal.code, Code::CursorExpired),
        // A store may keep events for longer than a day; what it must not do is leave some out and say nothing.
        Ok(page) => assert_eq!(page.events[0].line.what, Happening::Held),
    }
}

/// Reads on until everything was told of. A store may hold lines back as long as somebody writes.
async fn until_seen(scene: &Scene<'_>, mut page: Events, wanted: &[ExecutionId]) {
    let mut wanted: BTreeSet<_> = wanted.iter().copied().map(HistorySubject::Execution).collect();
    loop {
        for event in &page.events {
            wanted.remove(&event.line.subject);
        }
        if wanted.is_empty() {
            return;
        }
        page = scene.fabric.events(after(page.next)).await.unwrap();
    }
}

/// It has seen one line of one partition; the others are of partitions it has seen nothing of yet.
pub(crate) async fn a_reader_is_told_of_what_went_where_it_never_looked(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit(in_partition(0)).await;
    let one = ReadEvents {
        limit: Some(1),
        ..ReadEvents::default()
    };
    let before = scene.fabric.events(one.clone()).await.unwrap();
    let mut missed = Vec::new();
    for index in 1..4 {
        missed.push(scene.submit(in_partition(index)).await);
    }
    let between = scene.fabric.events(one).await.unwrap();
    scene.after(Duration::from_hours(25)).await;
    scene.submit(in_partition(0)).await;
    for cursor in [before.next, between.next] {
        match scene.fabric.events(after(cursor)).await {
            Err(refusal) => assert_eq!(refusal.code, Code::CursorExpired),
            // A store may keep events for longer than a day.
            Ok(page) => promptly(until_seen(&scene, page, &missed)).await,
        }
    }
    // Who begins now misses nothing of what was gone before, comes to the end and sees nothing twice. What others hide is shown a moment later.
    let mut page = scene.fabric.events(ReadEvents::default()).await.unwrap();
    let mut seen = Vec::new();
    while !page.events.is_empty() {
        for event in page.events {
            assert!(!seen.contains(&event.line), "twice: {:?}", event.line);
            seen.push(event.line);
        }
        page = scene.fabric.events(after(page.next)).await.unwrap();
    }
}

fn in_partition(index: u16) -> CreateExecution {
    CreateExecution {
        execution_id: Some(ExecutionId::new(index, fresh())),
        ..submission()
    }
}

fn after(cursor: SignedCursor) -> ReadEvents {
    ReadEvents {
        cursor: Some(cursor),
        ..ReadEvents::default()
    }
}

fn from(from: EventsFrom) -> ReadEvents {
    ReadEvents {
        from: Some(from),
        ..ReadEvents::default()
    }
}

async fn read(scene: &Scene<'_>, filter: EventFilter) -> Vec<HistoryLine> {
    let request = ReadEvents {
        filter,
        limit: Some(1_000),
        ..ReadEvents::default()
    };
    let events = scene.fabric.events(request).await.unwrap().events;
    events.into_iter().map(|event| event.line).collect()
}

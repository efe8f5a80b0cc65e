//! events.

use std::pin::pin;

use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::limits::LOOKED_AT_MAX;
use ff_core::record::{Happening, HistorySubject};
use ff_core::time::Duration;
use ff_core::token::SignedCursor;
use ff_core::view::{EventFilter, Events, EventsFrom, ReadEvents};
use futures::future::{Either, select};

use crate::reads::stage::{Stage, code, parks, submission, submission_in};

fn after(cursor: &SignedCursor) -> ReadEvents {
    ReadEvents {
        cursor: Some(cursor.clone()),
        ..ReadEvents::default()
    }
}

fn subjects(events: &Events) -> Vec<HistorySubject> {
    events.events.iter().map(|event| event.line.subject).collect()
}

#[tokio::test]
async fn events_go_on_after_each_of_them_without_gap_or_repetition() {
    let stage = Stage::new();
    for _ in 0..20 {
        stage.submit(&submission()).await;
        stage.advance(Duration::from_millis(1));
    }
    let all = stage.engine.events(ReadEvents::default()).await.unwrap();
    assert_eq!(all.events.len(), 20);
    for (number, event) in all.events.iter().enumerate() {
        let rest = stage.engine.events(after(&event.cursor)).await.unwrap();
        assert_eq!(subjects(&rest), subjects(&all)[number + 1..]);
    }
    assert!(stage.engine.events(after(&all.next)).await.unwrap().events.is_empty());
}

impl Stage {
    async fn events_in_pages(&self, filter: EventFilter, limit: usize) -> Vec<HistorySubject> {
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let request = ReadEvents {
                cursor,
                limit: Some(limit),
                filter: filter.clone(),
                ..ReadEvents::default()
            };
            let page = self.engine.events(request).await.unwrap();
            assert!(page.events.len() <= limit);
            if page.events.is_empty() {
                return seen;
            }
            seen.extend(subjects(&page));
            cursor = Some(page.next);
        }
    }
}

#[tokio::test]
async fn events_come_in_pages_with_and_without_a_filter() {
    let stage = Stage::new();
    let mut submitted = Vec::new();
    for _ in 0..7 {
        submitted.push(HistorySubject::Execution(stage.submit(&submission()).await));
        stage.submit(&submission_in("other")).await;
        stage.advance(Duration::from_millis(1));
    }
    assert_eq!(stage.events_in_pages(EventFilter::default(), 3).await.len(), 14);
    let own = EventFilter {
        namespace: Some("default".parse().unwrap()),
        ..EventFilter::default()
    };
    assert_eq!(stage.events_in_pages(own, 3).await, submitted);
}

#[tokio::test]
async fn a_filter_leaves_events_out_and_the_cursor_goes_past_them() {
    let stage = Stage::new();
    let wanted = CreateExecution {
        lane_id: "express".parse().unwrap(),
        ..submission()
    };
    let id = stage.submit(&wanted).await;
    for _ in 0..5 {
        stage.submit(&submission()).await;
    }
    let request = ReadEvents {
        filter: EventFilter {
            lane: Some("express".parse().unwrap()),
            ..EventFilter::default()
        },
        ..ReadEvents::default()
    };
    let found = stage.engine.events(request).await.unwrap();
    assert_eq!(subjects(&found), [HistorySubject::Execution(id)]);
    assert!(stage.engine.events(after(&found.next)).await.unwrap().events.is_empty());
}

#[tokio::test]
async fn a_reader_waits_for_the_first_event() {
    let stage = Stage::new();
    let request = ReadEvents {
        wait: Duration::from_secs(30),
        ..ReadEvents::default()
    };
    let mut reading = Box::pin(stage.engine.events(request));
    assert!(parks(&mut reading).await);
    stage.submit(&submission()).await;
    stage.advance(Duration::from_secs(10));
    let found = reading.await.unwrap();
    assert_eq!(found.events[0].line.what, Happening::Created);
}

#[tokio::test]
async fn who_collects_and_is_far_behind_is_not_kept_waiting_for_more() {
    let stage = Stage::new();
    for _ in 0..=LOOKED_AT_MAX {
        stage.submit(&submission()).await;
    }
    let request = ReadEvents {
        from: Some(EventsFrom::Oldest),
        wait: Duration::from_secs(30),
        batch: Some(Duration::from_secs(5)),
        ..ReadEvents::default()
    };
    let patience = async {
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
    };
    let page = match select(stage.engine.events(request), pin!(patience)).await {
        Either::Left((page, _)) => page.unwrap(),
        Either::Right(_) => panic!("it waits for more, and no time passes"),
    };
    assert_eq!(page.events.len() as u64 + page.skipped, LOOKED_AT_MAX as u64);
}

#[tokio::test]
async fn a_bound_caller_reads_its_own_namespace_and_carries_its_own_cursors() {
    let stage = Stage::new();
    stage.submit(&submission_in("other")).await;
    let mine = stage.submit(&submission_in("mine")).await;
    let engine = stage.bound_to("mine");
    let found = engine.events(ReadEvents::default()).await.unwrap();
    assert_eq!(subjects(&found), [HistorySubject::Execution(mine)]);
    assert_eq!(code(stage.engine.events(after(&found.next)).await), Code::InvalidCursor);
    assert_eq!(
        code(stage.bound_to("other").events(after(&found.next)).await),
        Code::InvalidCursor
    );
    let others = ReadEvents {
        filter: EventFilter {
            namespace: Some("other".parse().unwrap()),
            ..EventFilter::default()
        },
        ..ReadEvents::default()
    };
    assert_eq!(code(engine.events(others).await), Code::Forbidden);
}

#[tokio::test]
async fn a_cursor_the_feed_no_longer_reaches_back_to_has_expired() {
    let stage = Stage::over(|backend| backend.with_feed_lines_max(2));
    let flow = stage.create_flow(ff_core::command::flow::Assembly::Open).await;
    let start = stage.engine.events(ReadEvents::default()).await.unwrap().next;
    for _ in 0..5 {
        stage.submit_member(flow, &[]).await;
    }
    let refused = stage.engine.events(after(&start)).await.unwrap_err();
    assert_eq!(refused.code, Code::CursorExpired);
    assert_eq!(refused.fields["partition"], stage.counts.of_flow(flow).to_string());
    assert!(refused.fields["oldest"].is_string());
    let everything = stage.engine.events(ReadEvents::default()).await.unwrap();
    assert_eq!(everything.events.len(), 2);
}

#[tokio::test]
async fn limits_are_checked() {
    let stage = Stage::new();
    for (limit, wait) in [(Some(0), 0), (Some(1_001), 0), (None, 31)] {
        let request = ReadEvents {
            limit,
            wait: Duration::from_secs(wait),
            ..ReadEvents::default()
        };
        assert_eq!(code(stage.engine.events(request).await), Code::InvalidInput);
    }
}

#[tokio::test]
async fn who_follows_the_events_of_a_process_that_stops_is_sent_elsewhere() {
    let stage = Stage::new();
    let request = ReadEvents {
        wait: Duration::from_secs(30),
        ..ReadEvents::default()
    };
    let mut reading = Box::pin(stage.engine.events(request.clone()));
    assert!(parks(&mut reading).await);
    stage.engine.stop().await;
    assert!(reading.await.unwrap().events.is_empty());
    assert_eq!(code(stage.engine.events(request).await), Code::ShuttingDown);
}

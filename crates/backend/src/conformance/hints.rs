//! Wake-ups: whoever waits is told that something may be worth a look.

use ff_core::command::lease::{Complete, Release};
use ff_core::command::submit::CreateExecution;
use ff_core::machine::decided::Nudge;
use ff_core::machine::lease;
use ff_core::name::{LaneId, Namespace};
use ff_core::partition::{Family, Partition};
use ff_core::record::RecordKey;
use ff_core::time::Duration;

use super::build::{Store, fence};
use super::frames::a_frame;
use crate::hint::Hint;
use crate::query::Listing;
use crate::settings::{Expected, SettingsOp};
use crate::transaction::Transaction;

pub(super) async fn new_work_is_hinted_to_its_lane(store: &Store<'_>) {
    let mut hints = store.backend().hints();
    let (namespace, lane) = (
        Namespace::parse("mine").expect("a namespace"),
        LaneId::parse("lane").expect("a lane"),
    );
    let command = CreateExecution {
        namespace: namespace.clone(),
        lane_id: lane.clone(),
        ..store.command()
    };
    store.submit(command).await;
    let wanted = Hint::Eligible {
        partition: store.home(),
        namespace,
        lane,
    };
    store.hinted(&mut hints, |hint| *hint == wanted).await;
}

pub(super) async fn work_that_comes_back_is_hinted_to_its_lane(store: &Store<'_>) {
    let task = store.leased().await;
    let mut hints = store.backend().hints();
    let release = Release {
        fence: Some(fence(&task)),
        ..Release::default()
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::release(execution, &release, context)
        })
        .await;
    store
        .hinted(
            &mut hints,
            |hint| matches!(hint, Hint::Eligible { partition, .. } if *partition == store.home()),
        )
        .await;
}

pub(super) async fn an_earlier_timer_is_hinted(store: &Store<'_>) {
    let now = store.now().await;
    for hours in [3, 2, 1] {
        let mut hints = store.backend().hints();
        let until = now + Duration::from_hours(hours);
        store
            .submit(CreateExecution {
                delay_until: Some(until),
                ..store.command()
            })
            .await;
        let wanted = Hint::Due {
            partition: store.home(),
            at: until,
        };
        store.hinted(&mut hints, |hint| *hint == wanted).await;
    }
}

pub(super) async fn a_lease_is_hinted_by_when_it_ends(store: &Store<'_>) {
    store.submit(store.command()).await;
    let mut hints = store.backend().hints();
    let ends_at = store.take().await.execution.lease().map(|lease| lease.expires_at);
    store
        .hinted(
            &mut hints,
            |hint| matches!(hint, Hint::Due { at, .. } if Some(*at) == ends_at),
        )
        .await;
}

pub(super) async fn a_nudge_is_hinted_as_due(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let (_, version) = store.versioned(execution.id).await;
    let mut hints = store.backend().hints();
    let nudges = vec![Nudge::always(RecordKey::Execution(execution.id))];
    let committed = store
        .commit(Transaction {
            nudges,
            ..store.replacement(&execution, version)
        })
        .await;
    store
        .hinted(
            &mut hints,
            |hint| matches!(hint, Hint::Due { at, .. } if *at <= committed.now),
        )
        .await;
}

pub(super) async fn a_growing_feed_is_hinted(store: &Store<'_>) {
    let mut hints = store.backend().hints();
    store.submit(store.command()).await;
    let wanted = Hint::Feed {
        partition: store.home(),
    };
    store.hinted(&mut hints, |hint| *hint == wanted).await;
}

pub(super) async fn a_growing_and_an_ending_stream_is_hinted(store: &Store<'_>) {
    let task = store.leased().await;
    let wanted = Hint::Stream {
        execution_id: task.execution.id,
        attempt_index: 0,
    };
    let mut hints = store.backend().hints();
    store
        .backend()
        .append(vec![a_frame(&task, "frame")])
        .await
        .remove(0)
        .expect("the lease is live");
    store.hinted(&mut hints, |hint| *hint == wanted).await;
    let mut hints = store.backend().hints();
    let complete = Complete {
        fence: Some(fence(&task)),
        result: None,
        ..Complete::default()
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::complete(execution, &complete, context)
        })
        .await;
    store.hinted(&mut hints, |hint| *hint == wanted).await;
}

pub(super) async fn a_changed_setting_is_hinted(store: &Store<'_>) {
    let wanted = Hint::Setting("key".to_owned());
    let write = SettingsOp::Put {
        key: "key".to_owned(),
        value: Some(1.into()),
        expected: Expected::Anything,
        ttl: None,
    };
    let delete = SettingsOp::delete("key".to_owned(), Expected::Anything);
    for op in [write, delete] {
        let mut hints = store.backend().hints();
        store.backend().settings(vec![op]).await.expect("the store answers");
        store.hinted(&mut hints, |hint| *hint == wanted).await;
    }
}

pub(super) async fn every_listener_hears_every_hint(store: &Store<'_>) {
    let mut listeners = [store.backend().hints(), store.backend().hints()];
    store.submit(store.command()).await;
    for hints in &mut listeners {
        store.hinted(hints, |hint| matches!(hint, Hint::Eligible { .. })).await;
    }
}

pub(super) async fn marks_move_when_a_feed_or_a_stream_does_and_stand_still_otherwise(store: &Store<'_>) {
    let home = store.home();
    let mut partitions: Vec<Partition> = store.counts().all(Family::Flow).collect();
    partitions.reverse();
    let marks = || async {
        let page = store.page(Listing::Marks(partitions.clone()), None, 1).await;
        assert_eq!(page.next, None);
        let marks = page.marks();
        assert!(
            marks
                .iter()
                .map(|(partition, _)| *partition)
                .eq(partitions.iter().copied())
        );
        marks
    };
    let elsewhere = |marks: &[(Partition, u64)]| -> Vec<_> {
        let others = marks.iter().filter(|(partition, _)| *partition != home);
        others.copied().collect()
    };
    let untouched = marks().await;
    let task = store.leased().await;
    let leased = marks().await;
    let appended = store.backend().append(vec![a_frame(&task, "frame")]).await.remove(0);
    appended.expect("the lease is live");
    let grown = marks().await;
    let complete = Complete {
        fence: Some(fence(&task)),
        result: None,
        ..Complete::default()
    };
    store
        .apply(task.execution.id, |execution, context| {
            lease::complete(execution, &complete, context)
        })
        .await;
    let ended = marks().await;
    for (before, after) in [(&untouched, &leased), (&leased, &grown), (&grown, &ended)] {
        assert_ne!(before, after);
        assert_eq!(elsewhere(before), elsewhere(after));
    }
    assert_eq!(marks().await, ended);
}

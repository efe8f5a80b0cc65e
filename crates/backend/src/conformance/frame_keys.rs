//! Frames that are safe to repeat: a stream recognises the key of a frame as long as it holds the frame.

use ff_core::command::operator::RevokeLease;
use ff_core::machine::operator;
use ff_core::name::RequestId;
use ff_core::time::Duration;

use super::build::Store;
use super::frames::{a_frame, append, read, renewed, summary, texts};
use crate::frames::{Append, AppendError, Keep};

pub(super) async fn a_frame_under_a_key_is_appended_once(store: &Store<'_>) {
    let task = store.leased().await;
    let first = append(store, keyed(a_frame(&task, "a"), "one"))
        .await
        .expect("the lease is live");
    let other = append(store, keyed(a_frame(&task, "b"), "two"))
        .await
        .expect("the lease is live");
    let plain = append(store, a_frame(&task, "c")).await.expect("the lease is live");
    assert!(!first.repeated && !other.repeated && !plain.repeated);
    let again = append(store, keyed(a_frame(&task, "never"), "one"))
        .await
        .expect("the lease is live");
    assert_eq!((again.frame_id, again.count, again.repeated), (first.frame_id, 3, true));
    let twice = vec![keyed(a_frame(&task, "d"), "three"), keyed(a_frame(&task, "d"), "three")];
    let answers = store.backend().append(twice).await;
    let told: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.map(|appended| appended.repeated))
        .collect();
    assert_eq!(told, [Ok(false), Ok(true)], "in one batch too");
    assert_eq!(texts(&read(store, &task).await), ["a", "b", "c", "d"]);
}

pub(super) async fn a_repeated_frame_needs_the_live_lease_too(store: &Store<'_>) {
    let task = store.leased().await;
    append(store, keyed(a_frame(&task, "a"), "one"))
        .await
        .expect("the lease is live");
    let mut stranger = keyed(a_frame(&task, "a"), "one");
    stranger.fence.lease_epoch += 1;
    assert_eq!(append(store, stranger).await, Err(AppendError::StaleOwner));
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: None,
    };
    store
        .apply(task.execution.id, |execution, context| {
            operator::revoke_lease(execution, &revoke, context)
        })
        .await;
    assert!(append(store, keyed(a_frame(&task, "a"), "one")).await.is_err());
}

pub(super) async fn a_repeated_summary_is_not_touched_again(store: &Store<'_>) {
    let task = store.leased().await;
    let one = keyed(summary(&task, "one", 0), "one");
    let first = append(store, one.clone()).await.expect("there is none yet");
    let (_, revision) = read(store, &task).await.summary.expect("a summary");
    append(store, summary(&task, "two", revision))
        .await
        .expect("the revision is right");
    let before = read(store, &task).await;
    let again = append(store, one).await.expect("it was appended already");
    assert_eq!((again.frame_id, again.repeated), (first.frame_id, true));
    let after = read(store, &task).await;
    assert_eq!((after.summary, after.frames), (before.summary, before.frames));
}

pub(super) async fn a_key_is_free_again_once_its_frame_is_gone(store: &Store<'_>) {
    let task = renewed(store).await;
    let trimmed = |text: &str| Append {
        keep_frames: 2,
        ..keyed(a_frame(&task, text), text)
    };
    let mut first = Vec::new();
    for text in ["a", "b", "c"] {
        first.push(append(store, trimmed(text)).await.expect("the lease is live").frame_id);
    }
    let held = append(store, trimmed("c")).await.expect("the lease is live");
    assert_eq!((held.frame_id, held.count, held.repeated), (first[2], 2, true));
    let gone = append(store, trimmed("a")).await.expect("the lease is live");
    assert!(
        !gone.repeated && gone.frame_id > first[2],
        "the stream does not hold it any more"
    );
    assert_eq!(texts(&read(store, &task).await), ["c", "a"]);
    let mut fleeting = keyed(a_frame(&task, "fleeting"), "fleeting");
    fleeting.frame.mode = Keep::BestEffort {
        ttl: Duration::from_secs(60),
    };
    append(store, fleeting.clone()).await.expect("the lease is live");
    let held = append(store, fleeting.clone()).await.expect("the lease is live");
    assert_eq!((held.count, held.repeated), (3, true));
    store.advance(Duration::from_secs(61)).await;
    let gone = append(store, fleeting).await.expect("the lease is live");
    assert_eq!((gone.count, gone.repeated), (3, false), "its time was over");
}

pub(super) async fn each_stream_has_its_own_keys(store: &Store<'_>) {
    let [one, other] = [store.leased().await, store.leased().await];
    for task in [&one, &other] {
        let appended = append(store, keyed(a_frame(task, "mine"), "key")).await;
        assert!(!appended.expect("the lease is live").repeated);
    }
    let revoke = RevokeLease {
        reason: None,
        expected_lease_epoch: None,
        request_id: None,
    };
    store
        .apply(one.execution.id, |execution, context| {
            operator::revoke_lease(execution, &revoke, context)
        })
        .await;
    let next = store.take().await;
    let appended = append(store, keyed(a_frame(&next, "next"), "key")).await;
    assert!(
        !appended.expect("the new lease is live").repeated,
        "each attempt has its own"
    );
    assert_eq!(texts(&read(store, &next).await), ["next"]);
}

pub(super) async fn of_many_frames_under_one_key_one_is_appended(store: &Store<'_>) {
    let task = store.leased().await;
    let calls: Vec<_> = (0..8)
        .map(|n| {
            let (backend, frame) = (store.backend(), keyed(a_frame(&task, &n.to_string()), "one"));
            tokio::spawn(async move { backend.append(vec![frame]).await.remove(0) })
        })
        .collect();
    let (mut appended, mut places) = (0, Vec::new());
    for call in calls {
        let answer = call.await.expect("no panic").expect("the lease is live");
        appended += usize::from(!answer.repeated);
        places.push(answer.frame_id);
    }
    places.dedup();
    assert_eq!(
        (appended, places.len(), read(store, &task).await.frames.len()),
        (1, 1, 1)
    );
}

fn keyed(mut append: Append, key: &str) -> Append {
    append.frame.key = Some(RequestId::parse(key).expect("a request id"));
    append
}

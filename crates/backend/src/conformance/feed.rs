//! History and feed: what happened, in order, per subject and per partition.

use std::collections::BTreeSet;

use ff_core::id::FlowId;
use ff_core::limits::HISTORY_LINES_MAX;
use ff_core::name::Identity;
use ff_core::partition::{Family, Partition};
use ff_core::record::{Actor, Execution, GateState, Happening, HistoryLine, HistorySubject};
use ff_core::time::{Duration, Timestamp};

use super::build::{FeedReader, Store};
use crate::query::{FeedLine, FeedPosition, FeedStart, Listing, Page};
use crate::transaction::Transaction;

pub(super) async fn lines_are_kept_in_the_order_they_were_committed(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let history = Listing::History(HistorySubject::Execution(execution.id));
    let mut wanted = store.follow(&history, 10, Page::history).await;
    for n in 0..5_u64 {
        let numbered = |m| HistoryLine {
            lease_epoch: Some(7 * n + m),
            ..line(&execution, "for people")
        };
        let lines: Vec<_> = (0..7).map(numbered).collect();
        tell(store, &execution, lines.clone()).await;
        wanted.extend(lines);
    }
    assert_eq!(store.follow(&history, 4, Page::history).await, wanted);
    let feed = store.feed(store.home(), 4).await;
    let events: Vec<_> = wanted.iter().map(|line| line.event().into_owned()).collect();
    assert_eq!(feed.into_iter().map(|(_, line)| line).collect::<Vec<_>>(), events);
}

pub(super) async fn a_line_comes_back_as_it_was_told(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    let full = HistoryLine {
        lane: None,
        flow_id: Some(FlowId::from_uuid(store.uuid())),
        what: Happening::SuspensionTimedOut,
        actor: Actor::Client(Identity::parse("größe").expect("an identity")),
        attempt_index: Some(u32::MAX),
        lease_epoch: Some((1 << 53) - 1),
        detail: Some("line\none \u{0} \u{1f980} \"quoted\"".to_owned()),
        ..line(&execution, "")
    };
    tell(store, &execution, vec![full.clone()]).await;
    let history = Listing::History(HistorySubject::Execution(execution.id));
    assert_eq!(store.follow(&history, 10, Page::history).await.pop(), Some(full));
}

pub(super) async fn each_subject_has_its_own_history(store: &Store<'_>) {
    let flow_id = store.flow(GateState::Open).await;
    let [first, second] = [store.member(flow_id).await, store.member(flow_id).await];
    let of_flow = HistoryLine {
        subject: HistorySubject::Flow(flow_id),
        ..line(&first, "flow")
    };
    tell(
        store,
        &first,
        vec![line(&first, "first"), of_flow.clone(), line(&second, "second")],
    )
    .await;
    let about = async |subject| {
        let lines = store.follow(&Listing::History(subject), 10, Page::history).await;
        lines.into_iter().filter_map(|line| line.detail).collect::<Vec<_>>()
    };
    assert_eq!(about(HistorySubject::Execution(first.id)).await, ["first"]);
    assert_eq!(about(HistorySubject::Execution(second.id)).await, ["second"]);
    assert_eq!(about(HistorySubject::Flow(flow_id)).await, ["flow"]);
}

pub(super) async fn the_last_thousand_lines_of_an_execution_are_kept(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    for n in 0..12 {
        tell(
            store,
            &execution,
            (0..100).map(|m| line(&execution, &(100 * n + m).to_string())).collect(),
        )
        .await;
    }
    let history = Listing::History(HistorySubject::Execution(execution.id));
    let lines = store.follow(&history, 300, Page::history).await;
    let wanted: Vec<String> = (1_200 - HISTORY_LINES_MAX..1_200).map(|n| n.to_string()).collect();
    assert_eq!(
        lines.into_iter().filter_map(|line| line.detail).collect::<Vec<_>>(),
        wanted
    );
}

pub(super) async fn positions_only_grow(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    for n in 0..10 {
        tell(store, &execution, vec![line(&execution, &n.to_string()); 3]).await;
        if n % 3 == 0 {
            store.advance(Duration::from_secs(1)).await;
        }
    }
    let feed = store.feed(store.home(), 4).await;
    let positions: Vec<FeedPosition> = feed.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions.len(), 31);
    assert!(positions.is_sorted_by(|left, right| left < right), "{positions:?}");
}

pub(super) async fn each_partition_has_its_own_feed(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(4).collect();
    for partition in &partitions {
        store.submit_as(store.id_in(*partition), store.command()).await;
    }
    for partition in partitions {
        let feed = store.feed(partition, 10).await;
        let here =
            |line: &HistoryLine| matches!(line.subject, HistorySubject::Execution(id) if id.partition() == partition);
        assert!(feed.len() == 1 && feed.iter().all(|(_, line)| here(line)));
    }
}

pub(super) async fn a_reader_goes_on_where_it_stopped(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    tell(
        store,
        &execution,
        (0..5).map(|n| line(&execution, &n.to_string())).collect(),
    )
    .await;
    let mut reader = FeedReader::of([store.home()]);
    let mut seen = reader.page(store, 3).await;
    tell(
        store,
        &execution,
        (5..9).map(|n| line(&execution, &n.to_string())).collect(),
    )
    .await;
    seen.extend(reader.rest(store, 3).await);
    assert_eq!(seen, FeedReader::of([store.home()]).rest(store, 100).await);
    assert_eq!(seen.len(), 10);
    assert_eq!(reader.page(store, 3).await, [], "it has seen everything");
    tell(store, &execution, vec![line(&execution, "later")]).await;
    assert_eq!(reader.page(store, 3).await.len(), 1);
}

/// A store may write down once what one call says of many; a reader may stop at any of them.
pub(super) async fn what_a_call_says_of_many_is_read_one_by_one(store: &Store<'_>) {
    // As many as a feed keeps, whatever it drops at once.
    let count = store.harness().feed_lines_max().map_or(600, |max| max / 2);
    let ids: Vec<_> = (0..count).map(|_| store.id()).collect();
    store
        .submit_all(ids.iter().map(|id| (*id, store.command())).collect())
        .await;
    for limit in [7, 250] {
        let seen = FeedReader::of([store.home()]).rest(store, limit).await;
        let subjects: Vec<_> = seen.iter().map(|(.., line)| line.subject).collect();
        let wanted: Vec<_> = ids.iter().map(|id| HistorySubject::Execution(*id)).collect();
        assert!(subjects == wanted, "{} lines of {}", subjects.len(), wanted.len());
        assert!(seen.windows(2).all(|two| two[0].1 < two[1].1), "positions grow");
    }
}

pub(super) async fn the_feeds_of_many_partitions_are_read_in_one_call(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(6).collect();
    let (asked, left_out) = partitions.split_at(partitions.len() - partitions.len() / 3);
    for n in 0..5 {
        for partition in partitions.iter().skip(n % 2) {
            store.submit_as(store.id_in(*partition), store.command()).await;
        }
    }
    for limit in [1, 4, 1_000] {
        let mut reader = FeedReader::of(asked.iter().copied());
        let seen = reader.rest(store, limit).await;
        for partition in asked {
            let of = seen.iter().filter(|(place, ..)| place == partition);
            let of: Vec<_> = of.map(|(_, position, line)| (*position, line.clone())).collect();
            assert_eq!(of, store.feed(*partition, 10).await);
            assert!(!of.is_empty());
        }
        assert!(seen.iter().all(|(partition, ..)| !left_out.contains(partition)));
    }
    let mut ahead = FeedReader::of([asked[0]]);
    ahead.rest(store, 10).await;
    let others = asked[1..].iter().map(|partition| (*partition, FeedStart::Oldest));
    ahead.starts.extend(others);
    let seen = ahead.rest(store, 4).await;
    let elsewhere = seen.iter().all(|(partition, ..)| *partition != asked[0]);
    assert!(elsewhere, "each feed is read from its own position");
    assert!(seen.len() >= asked.len() - 1);
}

/// The busy feed grows as fast as it is read, in between two others.
pub(super) async fn a_busy_feed_starves_no_other(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(3).collect();
    let &[before, busy, after] = partitions.as_slice() else {
        return;
    };
    let execution = store.submit_as(store.id_in(busy), store.command()).await;
    tell(store, &execution, vec![line(&execution, "busy"); 100]).await;
    let mut waiting = BTreeSet::from([before, after]);
    for partition in &waiting {
        store.submit_as(store.id_in(*partition), store.command()).await;
    }
    let mut reader = FeedReader::of(partitions);
    for _ in 0..100 {
        for (partition, ..) in reader.page(store, 10).await {
            waiting.remove(&partition);
        }
        if waiting.is_empty() {
            return;
        }
        tell(store, &execution, vec![line(&execution, "busy"); 10]).await;
    }
    panic!("{waiting:?} wait for ever");
}

/// A store may forget old lines; then it says so instead of leaving a gap.
pub(super) async fn a_reader_that_fell_too_far_behind_is_told(store: &Store<'_>) {
    let Some(max) = store.harness().feed_lines_max() else {
        return;
    };
    let execution = store.submit(store.command()).await;
    tell(store, &execution, vec![line(&execution, "early"); 4]).await;
    let mut reader = FeedReader::of([store.home()]);
    assert!(!reader.page(store, 2).await.is_empty());
    for _ in 0..=max.div_ceil(100) {
        tell(store, &execution, vec![line(&execution, "late"); 100]).await;
    }
    let oldest = expired(reader.try_page(store, 10).await, store.home());
    let feed = store.feed(store.home(), 1_000).await;
    assert_eq!(feed.first().map(|(position, _)| *position), oldest);
    assert!(feed.len() <= max);
}

/// A store that lost lines, or another store, does not know the position either.
pub(super) async fn a_reader_that_saw_what_never_was_is_told_whose_feed_it_is(store: &Store<'_>) {
    let partitions: Vec<Partition> = store.counts().all(Family::Flow).take(3).collect();
    for partition in &partitions {
        store.submit_as(store.id_in(*partition), store.command()).await;
    }
    let mut reader = FeedReader::of(partitions.iter().copied());
    reader.rest(store, 10).await;
    let lost = partitions[partitions.len() / 2];
    let oldest = store.feed(lost, 10).await.first().map(|(position, _)| *position);
    if let Some(FeedStart::After(position)) = reader.starts.get_mut(&lost) {
        position.major += 3_600_000;
    }
    assert_eq!(expired(reader.try_page(store, 10).await, lost), oldest);
    reader.starts.insert(lost, FeedStart::Oldest);
    let again = reader.rest(store, 10).await;
    assert!(again.iter().all(|(partition, ..)| *partition == lost) && !again.is_empty());
}

/// Lines of yesterday may be gone, but not in silence.
pub(super) async fn a_reader_that_slept_for_a_day_misses_nothing_in_silence(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    tell(store, &execution, vec![line(&execution, "yesterday"); 4]).await;
    let feed = FeedReader::of([store.home()]).rest(store, 10).await;
    let mut reader = FeedReader::of([store.home()]);
    let read = reader.page(store, 2).await.len();
    store.advance(Duration::from_hours(25)).await;
    tell(store, &execution, vec![line(&execution, "today")]).await;
    match reader.try_page(store, 1).await {
        Err(crate::Error::CursorExpired { oldest: Some(_), .. }) => {}
        answer => assert_eq!(answer, Ok(vec![feed[read].clone()])),
    }
}

/// It is given nothing from before, and is told when something from then on was dropped.
pub(super) async fn a_feed_is_read_from_a_moment_on(store: &Store<'_>) {
    let execution = store.submit(store.command()).await;
    store.advance(Duration::from_secs(1)).await;
    let later = store.now().await;
    tell(store, &execution, vec![line(&execution, "later"); 2]).await;
    store.advance(Duration::from_secs(1)).await;
    let afterwards = store.now().await;
    let all = store.feed(store.home(), 10).await;
    let from = |at| FeedReader {
        starts: [(store.home(), FeedStart::From(at))].into(),
    };
    let wanted: Vec<FeedPosition> = all.iter().map(|(position, _)| *position).skip(all.len() - 2).collect();
    assert!(all.len() > wanted.len());
    for limit in [1, 10] {
        let seen = from(later).rest(store, limit).await;
        assert_eq!(
            seen.iter().map(|(_, position, _)| *position).collect::<Vec<_>>(),
            wanted
        );
    }
    assert!(from(afterwards).rest(store, 10).await.is_empty());
    assert_eq!(from(Timestamp::default()).rest(store, 10).await.len(), all.len());
    let Some(max) = store.harness().feed_lines_max() else {
        return;
    };
    for _ in 0..=max.div_ceil(100) {
        tell(store, &execution, vec![line(&execution, "many"); 100]).await;
    }
    let oldest = expired(from(later).try_page(store, 10).await, store.home());
    assert!(oldest.is_some());
}

/// What was dropped before a reader began is no loss; what was dropped since is, also where it has seen nothing yet.
pub(super) async fn a_reader_is_told_of_what_went_before_it_saw_any(store: &Store<'_>) {
    let Some(max) = store.harness().feed_lines_max() else {
        return;
    };
    let elsewhere = store.counts().all(Family::Flow).find(|other| *other != store.home());
    let quiet = elsewhere.expect("a store has more than one partition");
    store.submit_as(store.id_in(quiet), store.command()).await;
    store.advance(Duration::from_secs(1)).await;
    let mut early = FeedReader::of([quiet, store.home()]);
    assert_eq!(early.page(store, 1).await.len(), 1);
    let execution = store.submit(store.command()).await;
    for _ in 0..=max.div_ceil(100) {
        tell(store, &execution, vec![line(&execution, "busy"); 100]).await;
    }
    store.advance(Duration::from_secs(1)).await;
    let mut late = FeedReader::of([quiet, store.home()]);
    assert_eq!(late.page(store, 1).await[0].0, quiet);
    assert!(late.rest(store, 1_000).await.len() <= max);
    expired(early.try_page(store, 10).await, store.home());
}

/// The oldest position of the feed whose lines after the reader's position are gone.
fn expired(answer: Result<Vec<FeedLine>, crate::Error>, of: Partition) -> Option<FeedPosition> {
    match answer {
        Err(crate::Error::CursorExpired { partition, oldest }) if partition == of => oldest,
        other => panic!("the feed of {of} does not hold the position, got {other:?}"),
    }
}

/// A line about `execution`.
pub(super) fn line(execution: &Execution, detail: &str) -> HistoryLine {
    HistoryLine {
        subject: HistorySubject::Execution(execution.id),
        namespace: execution.definition.namespace.clone(),
        lane: Some(execution.definition.lane.clone()),
        flow_id: execution.definition.flow,
        kind: execution.definition.kind.as_str().to_owned(),
        at: execution.updated_at,
        what: Happening::Signalled,
        actor: Actor::Engine,
        attempt_index: None,
        lease_epoch: None,
        detail: Some(detail.to_owned()),
    }
}

async fn tell(store: &Store<'_>, execution: &Execution, history: Vec<HistoryLine>) {
    let (stored, version) = store.versioned(execution.id).await;
    store
        .commit(Transaction {
            history,
            ..store.replacement(&stored, version)
        })
        .await;
}

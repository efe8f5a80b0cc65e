//! Transactions that travel together: what each of them is answered and what it leaves behind is what it would be alone.

use ff_backend::Backend;
use ff_backend::query::{FeedStart, Listing, Page};
use ff_backend::transaction::{CommitError, Put, Tag, Transaction, Version};
use ff_core::machine::index::Index;
use ff_core::partition::Partition;
use ff_core::record::{Execution, HistorySubject, RecordKey};

use super::{Scratch, calls_of, everywhere, execution, line, moment, template};

const HERE: Partition = Partition::flow(3);

fn executions(count: u64) -> Vec<Execution> {
    let execution = |n| execution(&template(), n, HERE.index, moment(n));
    (0..count).map(execution).collect()
}

/// Writes an execution with a line about it.
fn writing(execution: &Execution, expected: Option<Version>, tag: u64) -> Transaction {
    Transaction {
        puts: vec![Put::unlisted(execution.clone().into(), expected)],
        history: vec![line(execution, "told")],
        ..Transaction::new(HERE, Tag(tag))
    }
}

/// How many lines are told about an execution, and in the feed of the partition.
async fn lines(scratch: &Scratch, about: &Execution) -> (usize, usize) {
    let history = Listing::History(HistorySubject::Execution(about.id));
    let history = scratch.follow(&history, 10, Page::history).await.0;
    let feed = Listing::Feed(vec![(HERE, FeedStart::Oldest)]);
    let feed = Page::feed(scratch.page(&feed, None, 1_000).await.unwrap());
    let mut positions: Vec<_> = feed.iter().map(|(_, position, _)| *position).collect();
    positions.dedup();
    (history.len(), positions.len())
}

#[tokio::test]
async fn many_submissions_cost_few_commands() {
    let scratch = Scratch::new().await;
    let batch: Vec<_> = executions(64).iter().map(|it| writing(it, None, 1)).collect();
    assert!(scratch.backend.commit(batch).await.iter().all(Result::is_ok));
    let mut calls = Vec::new();
    for command in ["fcall", "hset", "hmget", "zadd"] {
        calls.push(calls_of(&scratch, command).await);
    }
    // The first calls open the store; of sets there are executions, the queue and where that is registered, and who uses the library.
    assert!(
        calls[0] <= 4 && calls[1] == 64 && calls[2] == 0 && calls[3] <= 6,
        "{calls:?}"
    );
    assert_eq!(scratch.listed(&everywhere(Index::Age(None)), 100).await.0.len(), 64);
}

/// A run is not begun when one of its transactions finds anything else than it needs: all of them come again by themselves.
#[tokio::test]
async fn one_that_is_refused_keeps_no_other_from_landing_once() {
    let scratch = Scratch::new().await;
    let all = executions(9);
    let created = scratch.backend.commit(vec![writing(&all[4], None, 1)]).await;
    assert!(created[0].is_ok());
    for (expected, tag) in [(None, 2), (Some(Version::first(Tag(2))), 3)] {
        let batch = all.iter().map(|it| writing(it, expected, tag)).collect();
        for (n, answer) in scratch.backend.commit(batch).await.into_iter().enumerate() {
            match (n, answer) {
                (4, Err(CommitError::Conflict { key, found })) => {
                    assert_eq!(
                        (key, found),
                        (RecordKey::Execution(all[4].id), Some(Version::first(Tag(1))))
                    );
                }
                (_, answer) => assert!(n != 4 && answer.is_ok(), "{n}: {answer:?}"),
            }
        }
    }
    assert_eq!(lines(&scratch, &all[4]).await, (1, 17));
    assert_eq!(lines(&scratch, &all[0]).await, (2, 17));
}

#[tokio::test]
async fn of_two_writings_of_a_record_in_one_call_one_lands() {
    let scratch = Scratch::new().await;
    let all = executions(1);
    let answers = scratch
        .backend
        .commit(vec![writing(&all[0], None, 1), writing(&all[0], None, 2)])
        .await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
    assert_eq!(lines(&scratch, &all[0]).await, (1, 1));
}

/// Lines of a run are one text already, and those of one call are numbered as one.
#[tokio::test]
async fn lines_of_runs_and_of_others_are_numbered_in_one_row() {
    let scratch = Scratch::new().await;
    let all = executions(20);
    for round in 0..3 {
        let mut batch: Vec<_> = all
            .iter()
            .map(|it| writing(it, round_before(round), round + 1))
            .collect();
        // Two lines about one execution: that is no run.
        batch[7].history.push(line(&all[7], "told more"));
        assert!(scratch.backend.commit(batch).await.iter().all(Result::is_ok));
    }
    assert_eq!(lines(&scratch, &all[0]).await, (3, 63));
    assert_eq!(lines(&scratch, &all[7]).await, (6, 63));
}

/// The version that this round finds.
fn round_before(round: u64) -> Option<Version> {
    (round > 0).then_some(Version {
        counter: round,
        tag: Tag(round),
    })
}

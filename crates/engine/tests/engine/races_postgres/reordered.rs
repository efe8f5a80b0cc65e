//! A claim of many against changes of one after the other.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::command::operator::{ChangePriority, SetTags};
use ff_core::command::page::PageRequest;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::record::{Happening, HistorySubject};
use ff_core::time::{Duration, Timestamp};
use ff_core::view::ReadEvents;
use ff_engine::Engine;
use futures::future::join;

use super::pair::{CHANGE, Pair, a_moment, submission, take};
use super::races;
use crate::support::{Luck, complete_all};

/// Executions that one claim takes: it locks the first long before the last.
const AT_ONCE: usize = 32;

/// What happened to an execution, and when.
type Lines = Vec<(Happening, Timestamp)>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_and_a_change_come_one_after_the_other_for_readers_of_events_too() {
    let (pair, mut luck) = (Pair::start().await, Luck(1));
    let mut fought_for = BTreeSet::new();
    while (fought_for.len() as u64) < races() {
        let ids = submit_some(&pair.one).await;
        let is_reordered = luck.below(2) == 0;
        let claim = async {
            a_moment(&mut luck, CHANGE * 16).await;
            take(&pair.one, AT_ONCE).await
        };
        let (mut tasks, ()) = join(claim, change(&pair.other, &ids, is_reordered)).await;
        while tasks.len() < AT_ONCE {
            tasks.append(&mut take(&pair.one, AT_ONCE - tasks.len()).await);
        }
        let taken: BTreeSet<ExecutionId> = tasks.iter().map(|task| task.execution_id).collect();
        assert_eq!(taken, ids, "each is claimed once");
        complete_all(&pair.one, &tasks).await;
        fought_for.extend(ids);
    }
    let (mut told, mut changed) = (told(&pair.other, &fought_for).await, 0);
    for id in &fought_for {
        let happened = history(&pair.one, *id).await;
        let whats: Vec<Happening> = happened.iter().map(|(what, _)| *what).collect();
        assert_eq!(told.remove(id), Some(happened), "{id}: in the order of its versions");
        let claims = whats.iter().filter(|what| **what == Happening::Claimed);
        assert_eq!(claims.count(), 1, "{id} is claimed once: {whats:?}");
        changed += usize::from(whats[1] != Happening::Claimed);
    }
    println!(
        "{} executions, {changed} of them changed before they were claimed",
        fought_for.len()
    );
    pair.stop().await;
}

async fn submit_some(engine: &Engine) -> BTreeSet<ExecutionId> {
    let created = engine.create_executions(vec![submission(); AT_ONCE]).await.unwrap();
    created
        .into_iter()
        .map(|created| created.unwrap().execution_id())
        .collect()
}

/// Changes one after the other, from the one that a claim comes to last: its place in the queue, or nothing that a claim looks at.
async fn change(engine: &Engine, ids: &BTreeSet<ExecutionId>, is_reordered: bool) {
    for id in ids.iter().rev() {
        let changed = match is_reordered {
            true => {
                engine
                    .change_priority(On::new(*id, ChangePriority { priority: 7 }))
                    .await
            }
            false => {
                let tags = [("changed".to_owned(), "yes".to_owned())].into();
                engine.set_tags(On::new(*id, SetTags { tags })).await
            }
        };
        changed.unwrap();
    }
}

async fn history(engine: &Engine, id: ExecutionId) -> Lines {
    let page = engine.get_history(On::new(id, PageRequest::default())).await.unwrap();
    page.items.iter().map(|line| (line.what, line.at)).collect()
}

/// What a reader of all events was told of each execution, up to the end of each.
async fn told(engine: &Engine, ids: &BTreeSet<ExecutionId>) -> BTreeMap<ExecutionId, Lines> {
    let (mut told, mut ended) = (BTreeMap::<ExecutionId, Lines>::new(), 0);
    let mut read = ReadEvents {
        limit: Some(1_000),
        wait: Duration::from_secs(5),
        ..ReadEvents::default()
    };
    while ended < ids.len() {
        let page = engine.events(read.clone()).await.unwrap();
        assert!(
            !page.events.is_empty(),
            "{ended} of {} were told of to their end",
            ids.len()
        );
        for event in page.events {
            if let HistorySubject::Execution(id) = event.line.subject {
                ended += usize::from(event.line.what == Happening::Completed);
                told.entry(id).or_default().push((event.line.what, event.line.at));
            }
        }
        read.cursor = Some(page.next);
    }
    told
}

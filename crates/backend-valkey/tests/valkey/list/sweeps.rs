//! What is asked for again and again, over all partitions.

use ff_backend::query::{Listing, Page};
use ff_core::id::BudgetId;
use ff_core::machine::Context;
use ff_core::machine::claim::{Refusal, block_queued};
use ff_core::partition::{Family, Partition, PartitionCounts};
use ff_core::record::{Cause, Execution};
use uuid::Uuid;

use super::{Scratch, calls_of, execution, moment, template, written};

const CAUSE: Cause = Cause::Budget(BudgetId::from_uuid(Uuid::from_u128(1)));

fn blocked(n: u64, partition: u16) -> Execution {
    let refusal = Refusal {
        cause: CAUSE,
        detail: "closed".to_owned(),
        generation: 1,
    };
    let queued = execution(&template(), n, partition, moment(n));
    written(block_queued(&queued, &refusal, &Context::engine(moment(9))).unwrap())
}

/// How many partitions were asked so far.
async fn asked(scratch: &Scratch) -> usize {
    calls_of(scratch, "smembers").await
}

#[tokio::test]
async fn causes_are_asked_for_only_where_somebody_has_written() {
    let scratch = Scratch::new().await;
    let all: Vec<Partition> = PartitionCounts::default().all(Family::Flow).collect();
    let causes = Listing::BlockedCauses(all.clone());
    let find = async || scratch.follow(&causes, 1, Page::causes).await.0;
    assert!(find().await.is_empty());
    assert!(find().await.is_empty());
    assert_eq!(asked(&scratch).await, all.len());
    scratch.write_executions(&[blocked(1, 7), blocked(2, 3)]).await;
    assert_eq!(find().await, [3, 7].map(|index| (Partition::flow(index), CAUSE)));
    assert_eq!(asked(&scratch).await, all.len() + 2);
}

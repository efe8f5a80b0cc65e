//! What a failover may have lost, and a server still knows.

use super::pair::{Pair, submit, take};
use crate::support::complete_all;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_whose_name_was_lost_is_named_again_by_whoever_enters_it() {
    let pair = Pair::start().await;
    let known = submit(&pair.one).await;
    let tasks = take(&pair.one, 1).await;
    assert_eq!(tasks[0].execution_id, known);
    complete_all(&pair.one, &tasks).await;
    assert_eq!(pair.forget_queues().await, "1");
    let later = submit(&pair.one).await;
    let tasks = take(&pair.other, 1).await;
    assert_eq!(
        tasks[0].execution_id, later,
        "who has never heard of the queue finds it"
    );
    complete_all(&pair.other, &tasks).await;
    pair.stop().await;
}

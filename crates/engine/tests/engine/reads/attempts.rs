//! list_attempts.

use ff_core::command::page::PageRequest;
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::policy::{Backoff, RetryPolicy};
use ff_core::time::Duration;

use crate::reads::stage::{Stage, code, submission};

impl Stage {
    async fn attempts(&self, id: ExecutionId, limit: usize) -> Vec<u32> {
        let (mut indexes, mut cursor) = (Vec::new(), None);
        loop {
            let request = PageRequest {
                cursor,
                limit: Some(limit),
            };
            let page = self.engine.list_attempts(On::new(id, request)).await.unwrap();
            assert!(page.items.len() <= limit);
            indexes.extend(page.items.into_iter().map(|attempt| attempt.index));
            cursor = page.next;
            if cursor.is_none() {
                return indexes;
            }
        }
    }

    /// One that failed `times`, and was claimed once more.
    async fn failed(&self, times: u32) -> ExecutionId {
        let mut command = submission();
        command.policy.retry_policy = Some(RetryPolicy {
            max_retries: times,
            backoff: Backoff::Fixed { delay: Duration::ZERO },
            retryable_categories: None,
        });
        self.submit(&command).await;
        for _ in 0..times {
            let (id, fence) = self.claim().await;
            self.fail(id, fence).await;
        }
        self.claim().await.0
    }
}

#[tokio::test]
async fn the_current_attempt_comes_last_and_once_whatever_the_page() {
    let stage = Stage::new();
    let id = stage.failed(3).await;
    for limit in 1..=5 {
        assert_eq!(stage.attempts(id, limit).await, [0, 1, 2, 3], "pages of {limit}");
    }
}

#[tokio::test]
async fn the_last_attempt_of_a_replayed_execution_shows_once() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    stage.fail(id, fence).await;
    stage.replay(id).await;
    assert_eq!(stage.attempts(id, 1).await, [0]);
    stage.claim().await;
    assert_eq!(stage.attempts(id, 1).await, [0, 1]);
}

#[tokio::test]
async fn an_execution_that_never_ran_has_no_attempts() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    assert_eq!(stage.attempts(id, 10).await, [0; 0]);
    let unseen = stage
        .bound_to("other")
        .list_attempts(On::new(id, PageRequest::default()))
        .await;
    assert_eq!(code(unseen), Code::ExecutionNotFound);
}

//! Many submissions at once.

use std::collections::BTreeSet;

use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::limits::BATCH_ITEMS_MAX;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use futures::future::join_all;

use super::place::Place;
use crate::engine::Engine;

/// How many executions that may live anywhere share a partition: enough to share calls on a cluster, few enough to spread.
const PARTITION_SHARE: usize = 64;

/// Hands out partitions to executions that may live anywhere: another one, by luck, for every [`PARTITION_SHARE`].
#[derive(Default)]
struct Spread {
    partition: Option<Partition>,
    taken: usize,
}

impl Engine {
    /// Submits up to 1,000, answering each in order. They go side by side: what commits at the same time shares calls.
    pub(super) async fn submit_batch(&self, commands: &[CreateExecution]) -> Result<Vec<Result<Created>>> {
        if commands.len() > BATCH_ITEMS_MAX {
            let detail = format!("a batch has at most {BATCH_ITEMS_MAX} items, not {}", commands.len());
            return Err(Code::BatchTooLarge.because(detail));
        }
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let places = self.places(commands, self.store_time().await?);
        self.meet_lanes(commands, &places).await;
        let submissions = commands
            .iter()
            .zip(places)
            .map(|(command, place)| async move { self.submit(command, place?).await });
        Ok(join_all(submissions).await)
    }

    fn places(&self, commands: &[CreateExecution], now: Timestamp) -> Vec<Result<Place>> {
        let mut spread = Spread::default();
        let places = commands.iter().map(|command| {
            self.check_submission(command)?;
            let anywhere =
                command.execution_id.is_none() && command.idempotency_key.is_none() && command.flow_id.is_none();
            let place = if anywhere {
                self.spread(&mut spread, now)
            } else {
                self.place(command, now)?
            };
            Ok(Place {
                submitted_at: Some(now),
                ..place
            })
        });
        places.collect()
    }

    fn spread(&self, spread: &mut Spread, now: Timestamp) -> Place {
        let uuid = self.mint(now);
        let counts = &self.shared.config.counts;
        let shared = spread
            .partition
            .filter(|_| !spread.taken.is_multiple_of(PARTITION_SHARE));
        let partition = shared.unwrap_or_else(|| counts.of_execution_uuid(uuid));
        spread.partition = Some(partition);
        spread.taken += 1;
        Place::minted(partition, uuid)
    }

    /// Looks up every lane of the batch once, so that a thousand items do not ask for the same one at the same time.
    async fn meet_lanes(&self, commands: &[CreateExecution], places: &[Result<Place>]) {
        let accepted = commands.iter().zip(places).filter(|(_, place)| place.is_ok());
        let lanes: BTreeSet<_> = accepted
            .map(|(command, _)| (&command.namespace, &command.lane_id))
            .collect();
        for (namespace, lane) in lanes {
            if let Err(refusal) = self.use_lane(namespace, lane).await {
                // The items of this lane ask again and are answered one by one.
                tracing::debug!(%namespace, %lane, %refusal, "the lane of a batch could not be looked up");
            }
        }
    }
}

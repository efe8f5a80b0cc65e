//! Looking at every partition for what hints may have hidden.

use std::time::Duration;

use ff_backend::Result;
use ff_core::partition::{Family, Partition};

use crate::call::PATIENCE;
use crate::keys::{QUEUES, QueueName, lane, prefix};
use crate::library::Function;
use crate::reply::{list, text};
use crate::shared::{Shared, locked};
use crate::watch::Marks;

/// How long a partition of a cluster that does not answer is waited for.
const LOOK_PATIENCE: Duration = Duration::from_millis(250);
/// Partitions in one call at most.
const CALL_MAX: usize = 1_024;

impl Shared {
    /// Brings the filled queues up to date, if they were looked at long enough ago to be doubted; whether it did.
    pub(crate) async fn look_for_queues(&self) -> Result<bool> {
        let now = self.elapsed();
        if !self.filled_queues().is_doubtful(now) {
            return Ok(false);
        }
        // Before the look: whoever comes meanwhile need not look too.
        self.filled_queues().swept(now);
        let mut partitions: Vec<Partition> = self.counts.all(Family::Flow).collect();
        let marks = self.marks(partitions.len()).await;
        partitions.retain(|partition| locked(&self.queues).unchanged(*partition, marks.as_ref()).is_none());
        let asked = partitions.into_iter().map(|partition| (partition, ()));
        let looks = self.in_groups(asked, CALL_MAX, |group| self.look_into(group, marks.as_ref()));
        let looks = looks.await;
        // Part of a cluster may be failing over; what the rest has must not wait for it.
        if looks.iter().any(Result::is_err) {
            self.filled_queues().doubt();
        }
        match looks.iter().any(Result::is_ok) {
            true => Ok(true),
            false => looks.into_iter().collect::<Result<()>>().map(|()| true),
        }
    }

    async fn look_into(&self, group: Vec<(Partition, ())>, marks: Option<&Marks>) -> Result<Vec<()>> {
        let mut ask = self.ask(1);
        ask.each(group.iter(), |ask, (partition, ())| {
            let queues = format!("{}{QUEUES}", prefix(*partition));
            ask.list(4).text("ZRANGE").text(queues).text("0").text("-1");
        });
        let patience = if self.client.is_cluster() {
            LOOK_PATIENCE
        } else {
            PATIENCE
        };
        let here = prefix(group[0].0);
        let mut reply = self.call_within(patience, Function::READ, &here, ask).await?;
        let answers = std::mem::take(&mut reply.answer);
        let mut filled = self.filled_queues();
        for ((partition, ()), queues) in group.iter().zip(answers) {
            for registration in list(queues)? {
                let (set, queue) = QueueName::registered(text(&registration)?)?;
                let name = lane(&queue.namespace, &queue.lane);
                filled.saw(&name, (*partition, set), &queue.signature, f64::MIN, reply.moment(0));
            }
            locked(&self.queues).saw(*partition, marks, ());
        }
        Ok(vec![(); group.len()])
    }
}

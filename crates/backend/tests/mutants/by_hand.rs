//! Reservations made by hand: an honest store lists, loads and commits, and somebody else chooses, badly.

use std::cmp::Reverse;

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::load::Load;
use ff_backend::query::{Query, Range};
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::transaction::{Committed, Put, Tag, Transaction, Version};
use ff_backend::{Backend, Result};
use ff_core::capability::{CapabilitySet, Signature};
use ff_core::id::ExecutionId;
use ff_core::limits::{PAGE_MAX, RESERVE_BYTES_MAX};
use ff_core::machine::claim::{Claimant, HandOut, Reserved, Surroundings, hand_out};
use ff_core::machine::index::Index;
use ff_core::machine::placement::{Placement, Score, placement};
use ff_core::name::LaneId;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Execution, Gate, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};

use crate::liar::lies;

lies! {
    ();
    /// Everything is handed out as if it had the same priority.
    IgnoresPriority,
    /// The newest is handed out first.
    IgnoresAge,
    /// Workers get work they cannot run.
    IgnoresCapabilities,
    /// Workers get work of other tenants.
    IgnoresNamespace,
    /// Workers get work of lanes they did not ask for.
    IgnoresLane,
    /// Work of closed budgets and quotas is handed out.
    IgnoresClosedCauses,
    /// What was leased stays where it was.
    HandsOutTwice,
    /// The epoch does not grow.
    ForgetsEpoch,
    /// Members of a cancelled flow are leased.
    IgnoresGate,
    /// Any number of bytes is handed out at once.
    IgnoresBytes,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        match self.lie {
            Lie::IgnoresLane => ask.lanes.truncate(1),
            Lie::IgnoresClosedCauses => ask.closed.clear(),
            _ => {}
        }
        let mut reservation = Reservation {
            now: self.honest.memory.now(),
            tasks: Vec::new(),
            cut: false,
        };
        let mut bytes = 0;
        for lane in &ask.lanes {
            for (_, execution) in self.waiting(lane, &ask).await? {
                let Some(claimant) = ask.claimants.get(reservation.tasks.len()) else {
                    return Ok(reservation);
                };
                bytes += execution.definition.input_bytes;
                let too_much = bytes > RESERVE_BYTES_MAX as u64 && !reservation.tasks.is_empty();
                if too_much && self.lie != Lie::IgnoresBytes {
                    reservation.cut = true;
                    return Ok(reservation);
                }
                reservation
                    .tasks
                    .extend(self.hand_out(&execution, claimant, &ask).await);
            }
        }
        Ok(reservation)
    }
}

impl Liar {
    /// What may be handed out of a lane, in order.
    async fn waiting(&self, lane: &LaneId, ask: &Reserve) -> Result<Vec<(Score, Execution)>> {
        let of_tenant = Some(ask.namespace.clone()).filter(|_| self.lie != Lie::IgnoresNamespace);
        let of_lane = |execution: &Execution| self.lie == Lie::IgnoresLane || execution.definition.lane == *lane;
        let mut query = Query {
            of: Range::of(Index::Age(of_tenant), crate::liar::partitions()).into(),
            after: None,
            limit: PAGE_MAX,
        };
        let mut waiting = Vec::new();
        loop {
            let page = self.inner().list(query.clone()).await?;
            query.after = page.next.clone();
            let rows = page.executions().into_iter();
            let matching = rows.filter(|(execution, _)| of_lane(execution));
            waiting.extend(matching.filter_map(|(execution, _)| {
                let score = self.place(&execution, ask)?;
                Some((score, execution))
            }));
            if query.after.is_none() {
                waiting.sort_by_key(|(score, _)| *score);
                return Ok(waiting);
            }
        }
    }

    /// Where an execution stands, if it is to be handed out.
    fn place(&self, execution: &Execution, ask: &Reserve) -> Option<Score> {
        let Placement::Eligible { queue, mut score } = placement(execution) else {
            return None;
        };
        let mut signature: Signature = queue.signature;
        match self.lie {
            Lie::IgnoresPriority => score.priority = Reverse(0),
            Lie::IgnoresAge => {
                score.created_at = Timestamp::MAX - Duration::from_millis(score.created_at.as_millis());
            }
            Lie::IgnoresCapabilities => signature.capabilities = CapabilitySet::default(),
            _ => {}
        }
        ask.can_run(&signature).then_some(score)
    }

    /// Hands out an execution, unless somebody else was faster.
    async fn hand_out(&self, listed: &Execution, claimant: &Claimant, ask: &Reserve) -> Option<Task> {
        let found = self.find(listed.id).await?;
        let reserved = self.judge(&found, claimant, ask.mode);
        if self.lie != Lie::HandsOutTwice || ask.mode == HandOut::Grant {
            self.write(reserved.clone(), found.version, ask.tag).await?;
        }
        Some(Task {
            execution: reserved.execution,
            version: found.version.next(ask.tag),
            queued_since: found.execution.updated_at,
            handed_out: reserved.handed_out,
            claimant: claimant.clone(),
            input: found.input,
            gate: found.gate,
        })
    }

    async fn find(&self, id: ExecutionId) -> Option<Candidate> {
        let (key, input) = (RecordKey::Execution(id), BlobKey::Input(id));
        let load = Load::records(id.partition(), [key.clone()]).with_gates();
        let mut snapshot = self.honest.load_one(load.with_blobs([input])).await;
        let execution = snapshot.execution(&key)?.clone();
        let gate = execution.definition.flow.and_then(|flow_id| {
            let gate = RecordKey::Gate(flow_id);
            Some((snapshot.gate(&gate)?.clone(), snapshot.version(&gate)?))
        });
        Some(Candidate {
            version: snapshot.version(&key)?,
            execution,
            gate,
            input: snapshot.blobs.remove(&input).unwrap_or_default(),
            now: snapshot.now,
        })
    }

    fn judge(&self, found: &Candidate, claimant: &Claimant, mode: HandOut) -> Reserved {
        let gate = found.gate.as_ref().map(|(gate, _)| gate.state);
        let surroundings = Surroundings {
            now: found.now,
            gate: gate.filter(|_| self.lie != Lie::IgnoresGate),
        };
        let mut reserved = hand_out(&found.execution, claimant, mode, surroundings);
        if self.lie == Lie::ForgetsEpoch {
            reserved.execution.lease_epoch = reserved.execution.lease_epoch.saturating_sub(1);
        }
        reserved
    }

    async fn write(&self, reserved: Reserved, version: Version, tag: Tag) -> Option<Committed> {
        let partition = reserved.execution.id.partition();
        let put = Put::unlisted(Record::from(reserved.execution), Some(version));
        let transaction = Transaction {
            puts: vec![put],
            history: reserved.history.into_iter().collect(),
            increments: reserved.increments,
            ..Transaction::new(partition, tag)
        };
        self.honest.commit_one(transaction).await.ok()
    }
}

/// An execution as it stands, with what is handed out besides.
struct Candidate {
    execution: Execution,
    version: Version,
    gate: Option<(Gate, Version)>,
    input: Payload,
    now: Timestamp,
}

//! Handing out: the best of the queues that are known to have work, stamped in the store and worked out by the rules.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_backend::Result;
use ff_backend::codec::claim::{Claim, claimant_text};
use ff_backend::codec::state;
use ff_backend::hint::Hint;
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_core::limits::{RESERVE_BYTES_MAX, UNCONFIRMED_LEASE_TTL_MAX};
use ff_core::machine::claim::{Claimant, HandOut, gate_passes};
use ff_core::payload::Payload;
use ff_core::record::{Actor, Execution, Gate, stored};
use ff_core::time::Timestamp;
use tokio::time::sleep;

use crate::call::{asked_at, call};
use crate::error::corrupt;
use crate::hints;
use crate::load::payload;
use crate::queues::lane_name;
use crate::rows::{column, columns};
use crate::shared::{Shared, count, duration, moment, number, partition, version};

/// Tasks that are asked for in one call.
const CALL_TASKS: usize = 64;
/// How often somebody who wants more looks again at what others were changing, and the pause before each look.
const LOOKS_MAX: u32 = 6;
const PAUSE: Duration = Duration::from_millis(2);

/// What was taken so far, and for whom more is wanted.
#[derive(Default)]
struct Hand {
    tasks: Vec<Task>,
    claimants: Vec<Claimant>,
    now: Option<Timestamp>,
    bytes: usize,
    /// No more bytes may be handed out.
    is_full: bool,
    any_unreadable: bool,
    /// Every partition was looked at.
    has_swept: bool,
    /// Calls in a row that brought nothing although something is there: somebody else is changing it.
    in_vain: u32,
}

/// The queues of one call, with the lanes they belong to.
struct Sources {
    rows: Vec<QueueSource>,
    lanes: Vec<String>,
}

/// A queue to look into: the place of its lane among those that are tried, the score below which nothing is known to be there, and the one
/// from which on something must wait.
struct QueueSource {
    lane: i32,
    partition: i16,
    queue_id: i64,
    floor: Option<i64>,
    bound: Option<i64>,
}

columns! {
    /// What was handed out, and what it works on.
    TaskRow {
        number: i32, own_partition: i16, version: i64, body: String, at: i64, is_lease: bool, due_at: i64,
        gate: Option<String>, gate_version: Option<i64>, gate_tag: Option<i64>, content_type: Option<String>,
        input: Option<Vec<u8>>,
    }
}

impl Shared {
    /// Hands out the best eligible executions that a worker can run, as far as this process knows of them.
    pub(crate) async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        let mut hand = Hand {
            claimants: std::mem::take(&mut ask.claimants),
            ..Hand::default()
        };
        let _turn = match ask.lanes.first() {
            Some(lane) => Some(self.turn(lane).await),
            None => None,
        };
        while !hand.claimants.is_empty() && !hand.is_full {
            let sources = self.sources(&ask, hand.claimants.len().min(CALL_TASKS));
            if sources.rows.is_empty() {
                if hand.has_swept || !hand.tasks.is_empty() || !self.look_for_queues().await? {
                    break;
                }
                hand.has_swept = true;
                continue;
            }
            match self.take(&ask, &sources, &mut hand).await {
                Ok(true) => hand.in_vain = 0,
                Ok(false) if hand.in_vain < LOOKS_MAX => {
                    hand.in_vain += 1;
                    sleep(PAUSE * hand.in_vain).await;
                }
                Ok(false) => break,
                // What was taken is handed out, whatever happened then.
                Err(error) if !hand.tasks.is_empty() => {
                    tracing::debug!(%error, "a claim is cut short");
                    hand.is_full = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let now = match hand.now {
            Some(now) => now,
            None => self.ping().await?,
        };
        Ok(Reservation {
            now,
            cut: hand.is_full || hand.any_unreadable || hand.in_vain >= LOOKS_MAX,
            tasks: hand.tasks,
        })
    }

    /// The queues to look into now. A lane comes after another one only if that one has no queue that is left out.
    fn sources(&self, ask: &Reserve, wanted: usize) -> Sources {
        let (mut floors, mut filled) = (self.floors(), self.filled_queues());
        floors.refresh(self.elapsed(), self.next_look());
        let mut sources = Sources {
            rows: Vec::new(),
            lanes: Vec::new(),
        };
        for (at, lane) in (0..).zip(&ask.lanes) {
            let name = lane_name(&ask.namespace, lane);
            let (of_lane, left_out) = filled.sources(&name, wanted, |_, signature| ask.can_run(signature));
            sources.rows.extend(of_lane.iter().filter_map(|source| {
                let queue_id = source.name.parse().ok()?;
                Some(QueueSource {
                    lane: at,
                    partition: number(source.partition),
                    queue_id,
                    floor: floors.of((source.partition, queue_id)),
                    bound: source.bound.map(as_score),
                })
            }));
            sources.lanes.push(name);
            if left_out.is_some() {
                break;
            }
        }
        sources
    }

    /// Takes what some queues have; whether that is worth another look: something was taken, or nothing is left there.
    async fn take(&self, ask: &Reserve, sources: &Sources, hand: &mut Hand) -> Result<bool> {
        let wanted = hand.claimants.len().min(CALL_TASKS);
        let passing = state::GATES.iter().filter(|state| gate_passes(Some(**state)));
        let passing: Vec<&str> = passing.map(|state| state::gate_word(*state)).collect();
        let look = self.next_look();
        let bytes_max = count(RESERVE_BYTES_MAX.saturating_sub(hand.bytes));
        let (claimants, queues) = (&hand.claimants[..wanted], &sources.rows);
        let (now, rows) = self
            .ask_rows(call!(writing reserve(
                own_tag: &ask.tag.0.cast_signed(),
                may_lease: &(ask.mode == HandOut::Lease),
                bytes_max: &bytes_max,
                is_first: &hand.tasks.is_empty(),
                passing: &passing,
                claims: &column(claimants, claimant_text),
                lease_ms: &column(claimants, |one| duration(one.lease_ttl.min(UNCONFIRMED_LEASE_TTL_MAX))),
                grant_ms: &column(claimants, |one| duration(one.grant_ttl)),
                actors: &column(claimants, actor),
                workers: &column(claimants, |one| one.worker.to_string()),
                lease_ids: &column(claimants, |one| one.lease_id.expose()),
                attempt_ids: &column(claimants, |one| one.attempt_id.uuid()),
                lanes: &column(queues, |one| one.lane),
                partitions: &column(queues, |one| one.partition),
                queue_ids: &column(queues, |one| one.queue_id),
                floors: &column(queues, |one| one.floor),
                bounds: &column(queues, |one| one.bound),
            )))
            .await?;
        hand.now = Some(now);
        hand.is_full = rows[0].get("is_full")?;
        let visited: i32 = rows[0].get("visited")?;
        self.visited
            .fetch_add(u64::from(visited.unsigned_abs()), Ordering::Relaxed);
        let (mut tasks, mut is_left) = (Vec::with_capacity(wanted), false);
        for row in &rows {
            match row.get("source")? {
                Some(source) => is_left |= self.settle(sources, source, row.get("head")?, look)?,
                None => tasks.push(TaskRow::read(row)?),
            }
        }
        tasks.sort_unstable_by_key(|task| task.number);
        let (taken, mut told) = (tasks.len(), Vec::new());
        for (row, claimant) in tasks.into_iter().zip(hand.claimants.drain(..taken)) {
            told.extend(hints_of(&row));
            let grant_id = claimant.grant_id;
            match task(row, claimant, ask) {
                Ok(task) => {
                    hand.bytes += task.input.len();
                    hand.tasks.push(task);
                }
                // It is out of its queue, and is due when the lease ends that was stamped on it: the pump finds it then.
                Err(error) => {
                    hand.any_unreadable = true;
                    tracing::error!(%error, %grant_id, "an execution cannot be read and is set aside");
                }
            }
        }
        hints::tell(self, told);
        Ok(taken > 0 || !is_left || hand.is_full)
    }

    /// Takes over what was seen of a queue, counted from 1; whether anything is left there that the call could have taken.
    fn settle(&self, sources: &Sources, nth: i32, head: Option<i64>, look: u64) -> Result<bool> {
        let source = asked_at(&sources.rows, nth)?;
        let lane = asked_at(&sources.lanes, source.lane + 1)?;
        let partition = partition(source.partition);
        self.floors().settled((partition, source.queue_id), head, look);
        self.settle_queue(lane, &(partition, source.queue_id.to_string()), head, look);
        Ok(head.is_some_and(|score| source.bound.is_none_or(|bound| score < bound)))
    }
}

/// What is worth a look once something was handed out.
fn hints_of(row: &TaskRow) -> impl Iterator<Item = Hint> {
    let (partition, at) = (partition(row.own_partition), moment(row.due_at));
    let told = row.is_lease.then_some(Hint::Feed { partition });
    [Hint::Due { partition, at }].into_iter().chain(told)
}

fn actor(claimant: &Claimant) -> String {
    serde_json::to_string(&Actor::Worker(claimant.instance.clone())).expect("an actor is a document")
}

/// What the rules make of an execution that the store has stamped.
fn task(row: TaskRow, claimant: Claimant, ask: &Reserve) -> Result<Task> {
    let execution: Execution = stored::read(&row.body).map_err(corrupt)?;
    let gate = row.gate.as_deref().map(state::gate).transpose()?;
    let claim = Claim {
        at: moment(row.at),
        mode: if row.is_lease { HandOut::Lease } else { HandOut::Grant },
        gate,
        claimant: claimant.clone(),
    };
    let gate = match (gate, row.gate_version.zip(row.gate_tag), execution.definition.flow) {
        (Some(state), Some((counter, tag)), Some(flow_id)) => Some((Gate { flow_id, state }, version(counter, tag))),
        _ => None,
    };
    let reserved = claim.reserved(&execution);
    Ok(Task {
        execution: reserved.execution,
        version: version(row.version, ask.tag.0.cast_signed()),
        queued_since: execution.updated_at,
        handed_out: reserved.handed_out,
        claimant,
        input: match (row.input, row.content_type) {
            (Some(bytes), Some(content_type)) => payload(bytes, &content_type)?,
            _ => Payload::default(),
        },
        gate,
    })
}

/// A score that the picture of the queues keeps as a double.
#[expect(
    clippy::cast_possible_truncation,
    reason = "every score is a whole number below 2^53"
)]
fn as_score(head: f64) -> i64 {
    head as i64
}

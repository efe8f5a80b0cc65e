//! Handing out: the best of the queues that are known to have work, stamped in the store and worked out by the rules.

use std::collections::BTreeSet;
use std::time::Duration;

use ff_backend::codec::claim::{self, Claim, claimant_text};
use ff_backend::codec::state;
use ff_backend::queues::{SOURCES_MAX, Source};
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::{Error, Result};
use ff_core::limits::{RESERVE_BYTES_MAX, UNCONFIRMED_LEASE_TTL_MAX};
use ff_core::machine::claim::{Claimant, HandOut, gate_passes};
use ff_core::partition::Partition;
use ff_core::record::{Actor, Gate};
use ff_core::time::Timestamp;
use futures::future::join_all;
use redis::Value;

use crate::call::{PATIENCE, Reply};
use crate::error::corrupt;
use crate::keys::{lane, partition, prefix};
use crate::library::Function;
use crate::load::payload;
use crate::pack::{Pack, count};
use crate::record::{execution, parse_version};
use crate::reply::{bytes, exactly, list, number, optional_text, rows, score, text, values};
use crate::shared::Shared;

/// How much later something in these queues may have been created than the best that is left elsewhere and still go first: a call
/// that kept to the millisecond would get little from each queue. Hints are no more punctual, and a higher priority is not
/// overtaken.
const OVERTAKEN_MS: f64 = 250.0;

/// How long the first partition of a cluster that does not answer is waited for.
const VISIT_PATIENCE: Duration = Duration::from_millis(50);

/// Tasks that are asked for in one call.
const VISIT_TASKS: usize = 64;

/// What was taken so far, and for whom more is wanted.
#[derive(Default)]
struct Hand {
    tasks: Vec<Task>,
    claimants: Vec<Claimant>,
    /// Partitions that do not answer at the moment; what others have is handed out meanwhile.
    silent: BTreeSet<Partition>,
    failure: Option<Error>,
    /// No more bytes may be handed out.
    full: bool,
    /// Every partition was looked at.
    looked: bool,
    /// Visits that found nothing.
    in_vain: usize,
    /// Something was taken that nobody can read.
    any_unreadable: bool,
}

impl Hand {
    /// Queues that turned out to be empty are forgotten, so visits in vain end. After a failure that may have taken something
    /// nothing more is asked for.
    fn goes_on(&self) -> bool {
        let failed = self.failure.is_some() && self.silent.is_empty();
        !(failed || self.claimants.is_empty() || self.full || self.in_vain > SOURCES_MAX)
    }

    /// Whether there may be more for those who got nothing. A visit that failed may have left everything where it was, and the
    /// queues behind it were not looked into.
    const fn is_cut(&self) -> bool {
        let gave_up = self.full || self.in_vain > SOURCES_MAX;
        self.failure.is_some()
            || self.any_unreadable
            || (gave_up && !self.claimants.is_empty() && !self.tasks.is_empty())
    }

    /// Whether nothing was taken, and nobody was silent who may have something.
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.silent.is_empty()
    }

    fn bytes_left(&self) -> usize {
        RESERVE_BYTES_MAX.saturating_sub(self.tasks.iter().map(|task| task.input.len()).sum())
    }

    /// Takes what a visit for these claimants brought. Those who got nothing want more, unless it failed: it may have taken
    /// something under their ids, which nobody else may get.
    fn take(&mut self, claimants: Vec<Claimant>, visit: Result<Visit>) {
        match visit {
            Ok(visit) => {
                self.in_vain += usize::from(visit.tasks.is_empty());
                self.full |= visit.full;
                self.any_unreadable |= visit.served > visit.tasks.len();
                self.claimants.extend(claimants.into_iter().skip(visit.served));
                self.tasks.extend(visit.tasks);
            }
            Err(error) => self.failure = Some(error),
        }
    }
}

/// What one call of the library answered.
#[derive(Default)]
struct Visit {
    tasks: Vec<Task>,
    /// Claimants that got something, the first ones. Some of it may be unreadable.
    served: usize,
    /// No more bytes may be handed out.
    full: bool,
}

/// The queues of one lane that a call looks into.
struct LaneSources {
    lane: String,
    sources: Vec<Source>,
    /// What scores worse may stand behind work of queues that are not looked into.
    bound: Option<f64>,
}

impl Shared {
    /// Hands out the best eligible executions that a worker can run, as far as this process knows of them.
    pub(crate) async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        let mut hand = Hand {
            claimants: std::mem::take(&mut ask.claimants),
            ..Hand::default()
        };
        if !self.client.is_cluster() && hand.claimants.len() > VISIT_TASKS {
            self.visit_at_once(&ask, &mut hand).await;
        }
        while hand.goes_on() {
            let sources = self.sources(&ask, hand.claimants.len(), &hand.silent);
            // On one server it stands for all of them.
            let Some(partition) = sources.first().map(|lane| lane.sources[0].partition) else {
                if hand.looked || !hand.is_empty() || !self.look_for_queues().await? {
                    break;
                }
                hand.looked = true;
                continue;
            };
            let claimants = std::mem::take(&mut hand.claimants);
            let limits = (hand.bytes_left(), hand.tasks.is_empty());
            match self
                .visit(&ask, &claimants, sources, limits, self.patience(&hand.silent))
                .await
            {
                Err(Error::Unavailable(why)) if self.client.is_cluster() => {
                    hand.silent.insert(partition);
                    hand.failure = Some(Error::Unavailable(why));
                    hand.claimants = claimants;
                }
                visit => hand.take(claimants, visit),
            }
        }
        // What was taken is handed out, whatever happened elsewhere.
        if let Some(failure) = hand.failure.take_if(|_| hand.tasks.is_empty()) {
            return Err(failure);
        }
        Ok(Reservation {
            now: self.known_now().await?,
            cut: hand.is_cut(),
            tasks: hand.tasks,
        })
    }

    /// Asks for much in several calls at once: while one reply is read, the server works on the next.
    async fn visit_at_once(&self, ask: &Reserve, hand: &mut Hand) {
        let claimants = std::mem::take(&mut hand.claimants);
        let chunks = claimants.chunks(VISIT_TASKS);
        let bytes = RESERVE_BYTES_MAX / chunks.len();
        let visits = chunks.map(|claimants| {
            let sources = self.sources(ask, claimants.len(), &BTreeSet::new());
            async move {
                let visit = match sources.is_empty() {
                    true => Ok(Visit::default()),
                    false => self.visit(ask, claimants, sources, (bytes, false), PATIENCE).await,
                };
                (claimants.to_vec(), visit)
            }
        });
        for (claimants, visit) in join_all(visits.collect::<Vec<_>>()).await {
            hand.take(claimants, visit);
        }
        // A share of the bytes was too small for something: the next visit has all that is left.
        hand.full = false;
    }

    /// How long a visit may take to begin. In a cluster others may have work: whoever waited for one that fails over or moves
    /// would let what was taken elsewhere expire.
    fn patience(&self, silent: &BTreeSet<Partition>) -> Duration {
        match self.client.is_cluster() {
            false => PATIENCE,
            true if silent.is_empty() => VISIT_PATIENCE,
            true => Duration::ZERO,
        }
    }

    /// The queues to look into now, by lane: all that matter on one server, those of one partition in a cluster.
    fn sources(&self, ask: &Reserve, wanted: usize, silent: &BTreeSet<Partition>) -> Vec<LaneSources> {
        let mut filled = self.filled_queues();
        let mut lanes: Vec<LaneSources> = Vec::new();
        for id in &ask.lanes {
            let lane = lane(&ask.namespace, id);
            let (mut sources, mut bound) = filled.sources(&lane, wanted, |partition, signature| {
                !silent.contains(&partition) && ask.can_run(signature)
            });
            if self.client.is_cluster() {
                // One partition after the other: taking turns for the sake of order would cost a call for every task.
                let first = sources.first().map(|source| source.partition);
                sources.retain(|source| Some(source.partition) == first);
                bound = None;
            }
            if sources.is_empty() {
                continue;
            }
            lanes.push(LaneSources { lane, sources, bound });
            if self.client.is_cluster() {
                break;
            }
        }
        lanes
    }

    /// Takes what some queues have, as much as `bytes_left` allows; the first one of all is taken however large it is.
    async fn visit(
        &self,
        ask: &Reserve,
        claimants: &[Claimant],
        sources: Vec<LaneSources>,
        (bytes_left, is_first): (usize, bool),
        patience: Duration,
    ) -> Result<Visit> {
        let mut pack = self.ask(7);
        pack.text(format!("{:016x}", ask.tag.0));
        pack.flag(ask.mode == HandOut::Lease);
        pack.number(count(bytes_left));
        let passing = state::GATES.iter().filter(|state| gate_passes(Some(**state)));
        let passing: Vec<&str> = passing.map(|state| state::gate_word(*state)).collect();
        pack.texts(passing.into_iter());
        pack.row(6, claimants.iter(), pack_claimant);
        pack.each(sources.iter(), |pack, lane| {
            pack.list(3).text(&lane.lane);
            pack.each(lane.sources.iter(), |pack, source| {
                pack.list(3).text(prefix(source.partition)).text(&source.name);
                pack.optional(source.bound.map(|bound| bound.to_string()));
            });
            pack.optional(lane.bound.map(|bound| (bound + OVERTAKEN_MS).to_string()));
        });
        pack.flag(is_first);
        let here = prefix(sources[0].sources[0].partition);
        let reply = self.call_within(patience, Function::RESERVE, &here, pack).await?;
        self.visited(ask, &sources, claimants, reply)
    }

    fn visited(
        &self,
        ask: &Reserve,
        sources: &[LaneSources],
        claimants: &[Claimant],
        mut reply: Reply,
    ) -> Result<Visit> {
        let [tasks, heads, full] = exactly(std::mem::take(&mut reply.answer))?;
        self.settle(sources, list(heads)?, &reply)?;
        let found = rows(list(tasks)?)?;
        let served = found.len();
        let tasks = found.into_iter().zip(claimants);
        let tasks = tasks.filter_map(|(found, claimant)| readable(task(found, claimant, ask), claimant));
        Ok(Visit {
            tasks: tasks.collect(),
            served,
            full: number::<i64>(&full)? == 1,
        })
    }

    fn settle(&self, sources: &[LaneSources], heads: Vec<Value>, reply: &Reply) -> Result<()> {
        let mut filled = self.filled_queues();
        for head in heads {
            let [place, set, changes, best] = values(head)?;
            let key = (partition(text(&place)?)?, text(&set)?.to_owned());
            let of_lane = |lane: &&LaneSources| lane.sources.iter().any(|source| source.name == key.1);
            let Some(LaneSources { lane, .. }) = sources.iter().find(of_lane) else {
                continue;
            };
            let seen = reply.moment(number(&changes)?);
            let best = optional_text(&best)?.map(|_| score(&best)).transpose()?;
            filled.settled(lane, &key, best, seen);
        }
        Ok(())
    }
}

fn pack_claimant(pack: &mut Pack, claimant: &Claimant) {
    let actor = serde_json::to_string(&Actor::Worker(claimant.instance.clone())).expect("an actor is a document");
    let lease_ttl = claimant.lease_ttl.min(UNCONFIRMED_LEASE_TTL_MAX);
    pack.text(claimant_text(claimant));
    pack.number(count(lease_ttl.as_millis()))
        .number(count(claimant.grant_ttl.as_millis()));
    pack.text(actor)
        .text(claimant.lease_id.expose().to_string())
        .text(claimant.attempt_id.to_string());
}

/// A task, if it can be read. One that cannot is out of its queue, and is due when the lease ends that was stamped on it: the
/// pump finds it then, and the others are handed out.
fn readable(task: Result<Task>, claimant: &Claimant) -> Option<Task> {
    let set_aside = |error: &Error| {
        let grant_id = claimant.grant_id;
        tracing::error!(%error, %grant_id, "an execution cannot be read and is set aside");
    };
    task.inspect_err(set_aside).ok()
}

/// What the rules make of an execution that the store has stamped.
fn task(found: [Value; 7], claimant: &Claimant, ask: &Reserve) -> Result<Task> {
    let [version, body, at, gate, gate_version, input, input_type] = found;
    let execution = execution(&bytes(body)?)?;
    let claim = Claim {
        at: Timestamp::from_millis(number(&at)?),
        mode: ask.mode,
        gate: claim::gate(text(&gate)?)?,
        claimant: claimant.clone(),
    };
    let version = parse_version(text(&version)?)?.ok_or_else(|| corrupt("a task without a version"))?;
    let gate = match (
        claim.gate,
        parse_version(text(&gate_version)?)?,
        execution.definition.flow,
    ) {
        (Some(state), Some(version), Some(flow_id)) => Some((Gate { flow_id, state }, version)),
        _ => None,
    };
    let reserved = claim.reserved(&execution);
    let input = payload(input, &input_type)?;
    Ok(Task {
        execution: reserved.execution,
        version: version.next(ask.tag),
        queued_since: execution.updated_at,
        handed_out: reserved.handed_out,
        claimant: claimant.clone(),
        input,
        gate,
    })
}

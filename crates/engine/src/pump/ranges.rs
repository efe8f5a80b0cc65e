//! Replicas share the partitions by short leases on ranges of them. Two pumps on one range are harmless, so a lease only
//! saves work; it guards nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ff_backend::settings::{Expected, Setting, SettingsOp, SettingsReply};
use ff_core::fabric::Result;
use ff_core::limits::PAGE_MAX;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use futures::future::select;

use super::duty::Duty;
use crate::engine::Engine;
use crate::fault::internal;
use crate::mint;

/// Ranges the partitions of each family are cut into: a partition is in the range of its index modulo this.
const RANGES: u16 = 16;
/// How long a lease lasts.
const LEASE_TTL: ff_core::time::Duration = ff_core::time::Duration::from_secs(15);
/// How often leases are renewed.
const RENEW_INTERVAL: Duration = Duration::from_secs(5);
/// Settings that hold the ranges.
const RANGE_PREFIX: &str = "pump/range/";
/// Settings that say which replicas are alive.
const REPLICA_PREFIX: &str = "pump/replica/";

/// The ranges of this replica.
#[derive(Default)]
pub(super) struct Ranges {
    replica: OnceLock<String>,
    owned: Mutex<Owned>,
    /// Given to others, who notice with their next renewal: until this one's next, it goes on with them.
    given: Mutex<BTreeSet<u16>>,
    /// Ranges of which no other replica was heard since this one started, as they were then: without a lease, or under one of
    /// this revision. Whoever is thought to have them may be gone, this very process before it crashed among them, and until
    /// its leases end nothing would happen there. `None` before the first look.
    unheard: Mutex<Option<BTreeMap<u16, Option<u64>>>>,
}

/// Ranges with the revision of their setting.
type Owned = BTreeMap<u16, u64>;

/// Who holds what, as the store shows it.
struct Standing {
    owned: Owned,
    others: Owned,
    free: Vec<u16>,
    /// How many ranges this replica should have.
    share: usize,
}

impl Ranges {
    /// Whether this replica pumps `partition`.
    pub(super) fn holds(&self, partition: Partition) -> bool {
        let range = partition.index % RANGES;
        self.owned().contains_key(&range) || self.given().contains(&range) || self.is_unheard(range)
    }

    fn is_unheard(&self, range: u16) -> bool {
        let unheard = self.unheard();
        unheard.as_ref().is_some_and(|unheard| unheard.contains_key(&range))
    }

    /// Leaves to others what they have taken or renewed since the first look. Answers whether this is the first.
    fn hear(&self, others: &Owned) -> bool {
        let mut unheard = self.unheard();
        let Some(unheard) = &mut *unheard else {
            *unheard = Some((0..RANGES).map(|range| (range, others.get(&range).copied())).collect());
            return true;
        };
        unheard.retain(|range, first| {
            let now = others.get(range);
            now.is_none() || now == first.as_ref()
        });
        false
    }

    fn unheard(&self) -> MutexGuard<'_, Option<BTreeMap<u16, Option<u64>>>> {
        self.unheard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn given(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owned(&self) -> MutexGuard<'_, Owned> {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The partitions this process pumps.
pub(super) fn own_partitions(engine: &Engine) -> Vec<Partition> {
    let mut partitions = engine.all_partitions();
    partitions.retain(|partition| engine.shared.pump.ranges.holds(*partition));
    partitions
}

/// Which process pumps which range, as the store shows it.
pub(crate) struct PumpedRanges(BTreeMap<u16, RangeLease>);

/// The lease of a range.
pub(crate) struct RangeLease {
    /// Whose it is.
    pub(crate) replica: String,
    /// When it ends unless it is renewed.
    pub(crate) until: Option<Timestamp>,
}

impl PumpedRanges {
    /// The lease of the range a partition is in, if anybody has it.
    pub(crate) fn of(&self, partition: Partition) -> Option<&RangeLease> {
        self.0.get(&(partition.index % RANGES))
    }
}

/// Reads who pumps what.
pub(crate) async fn pumped_ranges(engine: &Engine) -> Result<PumpedRanges> {
    let SettingsReply::Page(ranges) = engine.store().setting(list(RANGE_PREFIX)).await? else {
        return Err(internal("a list of settings was answered with something else"));
    };
    let lease = |setting: &Setting| {
        let range = setting.key.strip_prefix(RANGE_PREFIX)?.parse().ok()?;
        let replica = setting.value.as_str()?.to_owned();
        let until = setting.expires_at;
        Some((range, RangeLease { replica, until }))
    };
    Ok(PumpedRanges(ranges.iter().filter_map(lease).collect()))
}

/// Renews until the engine stops.
pub(super) async fn run(engine: &Engine) {
    while !engine.is_stopping() {
        let pause = engine.host().sleep(RENEW_INTERVAL);
        select(pause, pin!(engine.stopped())).await;
        if !engine.is_stopping() {
            renew_or_log(engine).await;
        }
    }
}

/// Renews; a failure leaves everything as it is until the next time, which does no harm.
pub(super) async fn renew_or_log(engine: &Engine) {
    if let Err(error) = renew(engine).await {
        tracing::warn!(%error, "the pump could not renew its ranges");
    }
}

/// Renews what this replica has, and moves towards its share. While nothing moves this is one call.
async fn renew(engine: &Engine) -> Result<()> {
    if !Duty::RangeLease.is_served(engine) {
        return Ok(());
    }
    let standing = renew_owned(engine).await?;
    let moves = moves(engine, &standing);
    let ranges = &engine.shared.pump.ranges;
    let is_first = ranges.hear(&standing.others);
    *ranges.owned() = standing.owned;
    ranges.given().clear();
    if is_first {
        engine.shared.pump.agenda.ask();
    }
    if moves.is_empty() {
        return Ok(());
    }
    let taken = move_ranges(engine, moves).await?;
    if taken {
        engine.shared.pump.agenda.ask();
    }
    Ok(())
}

async fn renew_owned(engine: &Engine) -> Result<Standing> {
    let mut ops = vec![put(engine, replica_key(engine), Expected::Anything)];
    let owned = engine.shared.pump.ranges.owned().clone();
    for (range, revision) in owned {
        ops.push(put(engine, range_key(range), Expected::Revision(revision)));
    }
    // Read after the renewals: what they came to is what is there.
    ops.push(list(RANGE_PREFIX));
    ops.push(list(REPLICA_PREFIX));
    let mut replies = engine.store().settings(ops).await?;
    let (Some(SettingsReply::Page(replicas)), Some(SettingsReply::Page(ranges))) = (replies.pop(), replies.pop())
    else {
        return Err(internal("lists of settings were answered with something else"));
    };
    Ok(standing(engine, &ranges, &replicas))
}

fn standing(engine: &Engine, ranges: &[Setting], replicas: &[Setting]) -> Standing {
    let held: BTreeMap<u16, &Setting> = ranges
        .iter()
        .filter_map(|setting| Some((setting.key.strip_prefix(RANGE_PREFIX)?.parse().ok()?, setting)))
        .collect();
    let is_own = |setting: &Setting| setting.value.as_str() == Some(replica(engine));
    let revisions = |(range, setting): (&u16, &&Setting)| (*range, setting.revision);
    let (owned, others): (Vec<_>, Vec<_>) = held.iter().partition(|(_, setting)| is_own(setting));
    let replicas: BTreeSet<&str> = replicas.iter().map(|setting| setting.key.as_str()).collect();
    let own_key = replica_key(engine);
    let rank = replicas.iter().filter(|key| **key < own_key.as_str()).count();
    Standing {
        owned: owned.into_iter().map(revisions).collect(),
        others: others.into_iter().map(revisions).collect(),
        free: (0..RANGES).filter(|range| !held.contains_key(range)).collect(),
        share: share(rank, replicas.len().max(1)),
    }
}

/// What brings this replica to its share.
fn moves(engine: &Engine, standing: &Standing) -> Vec<SettingsOp> {
    let missing = standing.share.saturating_sub(standing.owned.len());
    let taken = standing.free.iter().take(missing);
    let takes = taken.map(|range| put(engine, range_key(*range), Expected::Absent));
    let given = standing.owned.iter().skip(standing.share);
    let gives = given.map(|(range, revision)| give(*range, *revision));
    takes.chain(gives).collect()
}

/// Takes and gives ranges; answers whether any was taken.
async fn move_ranges(engine: &Engine, moves: Vec<SettingsOp>) -> Result<bool> {
    let keys: Vec<String> = moves.iter().map(key_of).collect();
    let replies = engine.store().settings(moves).await?;
    let mut owned = engine.shared.pump.ranges.owned();
    let mut taken = false;
    for (key, reply) in keys.iter().zip(replies) {
        let Some(range) = key.strip_prefix(RANGE_PREFIX).and_then(|range| range.parse().ok()) else {
            continue;
        };
        match reply {
            SettingsReply::Found(setting) => {
                owned.insert(range, setting.revision);
                taken = true;
            }
            SettingsReply::Absent => {
                owned.remove(&range);
                engine.shared.pump.ranges.given().insert(range);
            }
            // Another replica was faster.
            SettingsReply::Conflict(_) | SettingsReply::Page(_) => {}
        }
    }
    Ok(taken)
}

/// Gives every range back, so that others need not wait for the leases to end.
pub(super) async fn release_all(engine: &Engine) {
    let owned = std::mem::take(&mut *engine.shared.pump.ranges.owned());
    engine.shared.pump.ranges.given().clear();
    engine.shared.pump.ranges.unheard().take();
    let mut ops: Vec<SettingsOp> = owned.iter().map(|(range, revision)| give(*range, *revision)).collect();
    ops.push(SettingsOp::delete(replica_key(engine), Expected::Anything));
    if let Err(error) = engine.store().settings(ops).await {
        tracing::warn!(%error, "the pump could not give its ranges back; they end by themselves");
    }
}

fn put(engine: &Engine, key: String, expected: Expected) -> SettingsOp {
    SettingsOp::Put {
        key,
        value: Some(replica(engine).into()),
        expected,
        ttl: Some(LEASE_TTL),
    }
}

/// The name of this replica: one for every start of a process.
fn replica(engine: &Engine) -> &str {
    let name = || mint::secret(engine.host()).simple().to_string();
    engine.shared.pump.ranges.replica.get_or_init(name)
}

fn replica_key(engine: &Engine) -> String {
    format!("{REPLICA_PREFIX}{}", replica(engine))
}

/// How many ranges the replica with this rank among `count` gets.
fn share(rank: usize, count: usize) -> usize {
    let ranges = usize::from(RANGES);
    ranges / count + usize::from(rank < ranges % count)
}

fn range_key(range: u16) -> String {
    format!("{RANGE_PREFIX}{range:02}")
}

fn give(range: u16, revision: u64) -> SettingsOp {
    SettingsOp::delete(range_key(range), Expected::Revision(revision))
}

fn list(prefix: &str) -> SettingsOp {
    SettingsOp::List {
        prefix: prefix.to_owned(),
        after: None,
        limit: PAGE_MAX,
    }
}

fn key_of(op: &SettingsOp) -> String {
    match op {
        SettingsOp::Get { key } | SettingsOp::Put { key, .. } => key.clone(),
        SettingsOp::List { prefix, .. } => prefix.clone(),
    }
}

#[cfg(test)]
mod tests {
    use ff_core::partition::Family;

    use super::*;

    #[test]
    fn a_range_is_pumped_here_until_another_replica_is_heard_of() {
        let ranges = Ranges::default();
        let of = |index| Partition {
            family: Family::Flow,
            index,
        };
        let left = || {
            (0..RANGES)
                .filter(|index| !ranges.holds(of(*index)))
                .collect::<Vec<_>>()
        };
        assert_eq!(left().len(), usize::from(RANGES), "nobody has looked");
        assert!(ranges.hear(&Owned::from([(1, 7), (2, 7), (3, 7)])));
        assert!(left().is_empty());
        assert!(!ranges.hear(&Owned::from([(1, 8), (3, 7), (4, 1)])));
        assert_eq!(left(), [1, 4], "renewed, and taken");
        assert!(!ranges.hear(&Owned::from([(3, 9)])));
        assert_eq!(left(), [1, 3, 4], "whoever was heard of gave them back in order");
    }

    #[test]
    fn shares_differ_by_one_at_most_and_leave_nothing_over() {
        for count in 1..40 {
            let shares: Vec<usize> = (0..count).map(|rank| share(rank, count)).collect();
            assert_eq!(shares.iter().sum::<usize>(), usize::from(RANGES));
            assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1);
        }
    }
}

//! What a partition has to do when: timers, and nudges, which are due at once.

use std::collections::BTreeMap;
use std::ops::Bound;

use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;

use super::groups::Groups;
use super::store::Store;
use crate::due::DueKey;
use crate::hint::Hint;
use crate::transaction::NudgeStamp;

/// The timers and nudges of one partition, of whatever family.
#[derive(Clone, Default)]
pub(super) struct Agenda {
    pub(super) timers: Timeline,
    pub(super) nudges: Timeline,
    stamps: BTreeMap<RecordKey, NudgeStamp>,
}

/// Keys by time; each has one moment.
#[derive(Clone, Default)]
pub(super) struct Timeline {
    by_time: Groups<Timestamp, DueKey>,
    times: BTreeMap<DueKey, Timestamp>,
}

impl Timeline {
    /// Moves `key` to `at`, or removes it.
    pub(super) fn set(&mut self, key: DueKey, at: Option<Timestamp>) {
        if let Some(before) = self.times.remove(&key) {
            self.by_time.remove(&before, &key);
        }
        if let Some(at) = at {
            self.times.insert(key.clone(), at);
            self.by_time.insert(at, key);
        }
    }

    /// The moment of `key`.
    pub(super) fn get(&self, key: &DueKey) -> Option<Timestamp> {
        self.times.get(key).copied()
    }

    /// What has come at `now`, the longest overdue first.
    pub(super) fn due(&self, now: Timestamp) -> impl Iterator<Item = (Timestamp, &DueKey)> {
        self.by_time
            .range(..=now)
            .flat_map(|(at, keys)| keys.iter().map(|key| (*at, key)))
    }

    /// The first moment after `now`.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded(now), Bound::Unbounded);
        self.by_time.range(later).next().map(|(at, _)| *at)
    }

    fn head(&self) -> Option<Timestamp> {
        self.by_time.range(..).next().map(|(at, _)| *at)
    }
}

impl Agenda {
    /// The nudge of a record.
    pub(super) fn stamp(&self, key: &RecordKey) -> Option<NudgeStamp> {
        self.stamps.get(key).copied()
    }

    /// Drops the nudge of a record.
    pub(super) fn forget_nudge(&mut self, key: &RecordKey) {
        if self.stamps.remove(key).is_some() {
            self.nudges.set(DueKey::Record(key.clone()), None);
        }
    }
}

impl Store {
    /// Sets or clears the timer of `key`, and says so when it comes earlier than anything before or is due already.
    pub(super) fn schedule(&mut self, partition: Partition, key: DueKey, at: Option<Timestamp>) {
        let now = self.now;
        let agenda = self.agendas.entry(partition).or_default();
        if agenda.timers.get(&key) == at {
            return;
        }
        let head = agenda.timers.head();
        agenda.timers.set(key, at);
        if let Some(at) = at.filter(|at| at.has_come(now) || head.is_none_or(|head| *at < head)) {
            self.hints.note(Hint::Due { partition, at });
        }
    }

    /// Makes a record due at once. A record that waits already keeps its place, but gets a new stamp.
    pub(super) fn nudge(&mut self, partition: Partition, key: RecordKey) {
        let at = self.now;
        self.nudges_made += 1;
        let agenda = self.agendas.entry(partition).or_default();
        if agenda
            .stamps
            .insert(key.clone(), NudgeStamp(self.nudges_made))
            .is_none()
        {
            agenda.nudges.set(DueKey::Record(key), Some(at));
        }
        self.hints.note(Hint::Due { partition, at });
    }
}

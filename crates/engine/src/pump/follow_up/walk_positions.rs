//! Where the next chunk of follow-up work starts, for work whose listing does not shrink as it is done.
//!
//! A place is only remembered by the process that did the last chunk. Losing it costs another walk over what is done already.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::load::Snapshot;
use ff_backend::query::Cursor;
use ff_backend::transaction::{Generation, Version};
use ff_core::record::RecordKey;

use super::Progress;

/// Places remembered at the same time.
const PLACES_MAX: usize = 10_000;

/// A place in a row of listings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// In which of them.
    pub(super) listing: usize,
    /// After which row; `None`: at its start.
    pub(super) cursor: Option<Cursor>,
}

/// One piece of follow-up work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Errand {
    /// Who owes it.
    pub(super) record: RecordKey,
    /// What is owed.
    pub(super) chore: Chore,
    /// For which life of it: a place found in an earlier one must not be used in the next.
    pub(super) life: Life,
}

/// A life of a piece of follow-up work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    version: Version,
    /// A failover may undo what was done before a place.
    generation: Generation,
}

impl Life {
    /// By a record that moves when a new life begins, but not with every chunk: the execution itself, the gate of a flow.
    pub(super) fn of(snapshot: &Snapshot, record: &RecordKey) -> Option<Self> {
        Some(Self {
            version: snapshot.version(record)?,
            generation: snapshot.generation,
        })
    }
}

/// What is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Chore {
    CancelSiblings,
    ReopenEdges,
    OpenMembers,
    CancelMembers,
}

/// A chunk that is done, and where the next one starts.
pub(super) struct Stride {
    pub(super) errand: Errand,
    pub(super) next: Option<Place>,
}

/// The places of follow-up work under way.
#[derive(Default)]
pub(crate) struct Places {
    places: Mutex<Known>,
}

type Known = BTreeMap<(RecordKey, Chore), (Life, Place)>;

impl Places {
    /// Where to go on.
    pub(super) fn of(&self, errand: &Errand) -> Place {
        let places = self.places();
        let known = places.get(&(errand.record.clone(), errand.chore));
        known
            .filter(|(life, _)| *life == errand.life)
            .map_or_else(Place::default, |(_, place)| place.clone())
    }

    /// Remembers where the next chunk starts.
    pub(super) fn went(&self, stride: Stride) -> Progress {
        let Stride { errand, next } = stride;
        let mut places = self.places();
        let key = (errand.record, errand.chore);
        let Some(next) = next else {
            places.remove(&key);
            return Progress::Done;
        };
        places.insert(key, (errand.life, next));
        if places.len() > PLACES_MAX {
            places.pop_first();
        }
        Progress::More
    }

    fn places(&self) -> MutexGuard<'_, Known> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

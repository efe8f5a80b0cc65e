//! Where the next chunk of follow-up work starts, for work whose listing does not shrink as it is done.
//!
//! A position is only remembered by the process that did the last chunk. Losing it costs another walk over what is done
//! already.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::load::Snapshot;
use ff_backend::query::Cursor;
use ff_backend::transaction::{Generation, Version};
use ff_core::record::RecordKey;

use super::Progress;

/// Positions remembered at the same time.
const POSITIONS_MAX: usize = 10_000;

/// A position in a sequence of listings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkPosition {
    /// In which of them.
    pub(super) listing: usize,
    /// After which row; `None`: at its start.
    pub(super) cursor: Option<Cursor>,
}

/// One piece of follow-up work, which walks over listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    /// Who owes it.
    pub(super) record: RecordKey,
    pub(super) purpose: Purpose,
    pub(super) occurrence: Occurrence,
}

/// Which time the same work is owed: a position found at an earlier time must not be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    version: Version,
    /// A failover may undo what was done before a position.
    generation: Generation,
}

impl Occurrence {
    /// By a record that changes when the work is owed anew, but not with every chunk: the execution itself, the gate of a
    /// flow.
    pub(super) fn of(snapshot: &Snapshot, record: &RecordKey) -> Option<Self> {
        Some(Self {
            version: snapshot.version(record)?,
            generation: snapshot.generation,
        })
    }
}

/// What is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    CancelSiblings,
    ReopenEdges,
    OpenMembers,
    CancelMembers,
}

/// A chunk that is done, and where the next one starts.
pub(super) struct ChunkDone {
    pub(super) walk: Walk,
    pub(super) next: Option<WalkPosition>,
}

/// The positions of the walks under way.
#[derive(Default)]
pub(crate) struct Walks {
    positions: Mutex<Positions>,
}

type Positions = BTreeMap<(RecordKey, Purpose), (Occurrence, WalkPosition)>;

impl Walks {
    /// Where to go on.
    pub(super) fn position(&self, walk: &Walk) -> WalkPosition {
        let positions = self.positions();
        let known = positions.get(&(walk.record.clone(), walk.purpose));
        known
            .filter(|(occurrence, _)| *occurrence == walk.occurrence)
            .map_or_else(WalkPosition::default, |(_, position)| position.clone())
    }

    /// Remembers where the next chunk starts.
    pub(super) fn advance(&self, done: ChunkDone) -> Progress {
        let ChunkDone { walk, next } = done;
        let mut positions = self.positions();
        let key = (walk.record, walk.purpose);
        let Some(next) = next else {
            positions.remove(&key);
            return Progress::Done;
        };
        positions.insert(key, (walk.occurrence, next));
        if positions.len() > POSITIONS_MAX {
            positions.pop_first();
        }
        Progress::More
    }

    fn positions(&self) -> MutexGuard<'_, Positions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

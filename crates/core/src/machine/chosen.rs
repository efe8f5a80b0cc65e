//! The waitpoints a suspend names: those it makes, and the pending ones it uses.

use std::collections::BTreeSet;

use super::change::Change;
use super::suspend::Early;
use super::waitpoint::{closed, waitpoint_state};
use crate::command::suspend::{Suspend, WaitpointChoice};
use crate::command::waitpoint::{WaitpointClosed, WaitpointState};
use crate::error::{Code, Rejection};
use crate::id::WaitpointId;
use crate::limits::WAITPOINTS_PER_SUSPENSION_MAX;
use crate::record::{Waitpoint, WaitpointUse};

/// A waitpoint of the suspension in the making.
pub(crate) enum Chosen {
    /// To be created.
    Fresh(Waitpoint),
    /// To be written over the one that was loaded.
    Pending(Waitpoint),
}

/// The waitpoints of the suspension in the order they were asked for.
pub(crate) fn choose(change: &Change<'_>, command: &Suspend, early: Early<'_>) -> Result<Vec<Chosen>, Rejection> {
    let count = command.waitpoints.len();
    if !(1..=WAITPOINTS_PER_SUSPENSION_MAX).contains(&count) {
        let detail = format!("a suspension has 1 to {WAITPOINTS_PER_SUSPENSION_MAX} waitpoints, not {count}");
        return Err(Code::InvalidInput.because(detail));
    }
    let suspension_id = command.suspension_id();
    let choices = command.waitpoints.iter().zip(command.waitpoint_ids());
    let chosen = choices.map(|(choice, id)| match choice {
        WaitpointChoice::Fresh { waitpoint_key, .. } => Ok(Chosen::Fresh(Waitpoint {
            id,
            execution_id: change.after.id,
            key: waitpoint_key.clone(),
            created_at: change.now,
            updated_at: change.now,
            usage: WaitpointUse::Suspension(suspension_id),
            buffered: 0,
            carried: Default::default(),
        })),
        WaitpointChoice::UsePending { .. } => {
            let waitpoint = open_pending(change, id, early)?;
            Ok(Chosen::Pending(Waitpoint {
                usage: WaitpointUse::Suspension(suspension_id),
                updated_at: change.now.max(waitpoint.updated_at),
                ..waitpoint.clone()
            }))
        }
    });
    let chosen = chosen.collect::<Result<Vec<_>, Rejection>>()?;
    let (mut keys, mut ids) = (BTreeSet::new(), BTreeSet::new());
    match chosen
        .iter()
        .map(Chosen::waitpoint)
        .find(|waitpoint| !keys.insert(&waitpoint.key) || !ids.insert(waitpoint.id))
    {
        Some(twice) => {
            let detail = format!("the suspension names waitpoint {} ({}) twice", twice.key, twice.id);
            Err(Code::WaitpointAlreadyExists.because(detail))
        }
        None => Ok(chosen),
    }
}

fn open_pending<'e>(change: &Change<'_>, id: WaitpointId, early: Early<'e>) -> Result<&'e Waitpoint, Rejection> {
    let own = |waitpoint: &&Waitpoint| waitpoint.id == id && waitpoint.execution_id == change.after.id;
    let waitpoint = early.waitpoints.iter().find(own).ok_or_else(|| {
        Code::WaitpointNotFound.because(format!("execution {} has no pending waitpoint {id}", change.after.id))
    })?;
    match waitpoint_state(waitpoint, &change.after, change.now) {
        WaitpointState::Pending => Ok(waitpoint),
        WaitpointState::Closed(WaitpointClosed::NeverCommitted) => {
            Err(Code::PendingWaitpointExpired.because(format!("pending waitpoint {id} has expired")))
        }
        WaitpointState::Closed(reason) => Err(closed(waitpoint, reason)),
        // Only a live lease gets here, and it has no open suspension.
        WaitpointState::Active => Err(closed(waitpoint, WaitpointClosed::SuspensionEnded)),
    }
}

impl Chosen {
    /// The waitpoint as the suspension will have it.
    pub(crate) const fn waitpoint(&self) -> &Waitpoint {
        match self {
            Chosen::Fresh(waitpoint) | Chosen::Pending(waitpoint) => waitpoint,
        }
    }
}

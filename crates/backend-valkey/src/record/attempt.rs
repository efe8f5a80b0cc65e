//! An execution and its attempt in plain words: who may append to its output, or who may get the next one.

use std::fmt;

use ff_core::machine::claim::needs_admission;
use ff_core::record::{Execution, Runnable};

use crate::keys::lane;
use crate::pack::IfAny;

/// Begins with lane, kind and flow, as they stand before its lines in the feed. Then comes the index of the attempt, and `leased` and
/// the fence, `next` and what `reserve` must know, `ended`, or `open`; nothing before there was one.
pub(crate) struct AttemptText<'e>(pub(crate) &'e Execution);

impl fmt::Display for AttemptText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let execution = self.0;
        let definition = &execution.definition;
        let lane = lane(&definition.namespace, &definition.lane);
        write!(f, "{lane} {} {} ", definition.kind, IfAny(definition.flow))?;
        if let Some(runnable) = execution.runnable() {
            return next(execution, runnable, f);
        }
        let Some(attempt) = &execution.attempt else {
            return Ok(());
        };
        let index = attempt.index;
        match execution.lease().filter(|lease| !lease.is_expired()) {
            Some(lease) => {
                let (epoch, expires_at, secret) = (lease.epoch, lease.expires_at.as_millis(), lease.id.expose());
                write!(f, "{index} leased {epoch} {expires_at} {secret} {}", attempt.id)
            }
            None if attempt.end.is_some() => write!(f, "{index} ended"),
            None => write!(f, "{index} open"),
        }
    }
}

/// `<index> next <nothing admits it> <attempt that goes on> <when it is due anyway> <updated> <epoch>`.
fn next(execution: &Execution, runnable: &Runnable, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let next = &runnable.next_claim;
    let free = u8::from(!needs_admission(execution));
    write!(f, "{} next {free} ", next.attempt_index)?;
    match execution.attempt.as_ref().filter(|_| next.continues) {
        Some(attempt) => write!(f, "{} ", attempt.id)?,
        None => f.write_str("- ")?,
    }
    let is_owing = !execution.outbox.is_empty() || execution.follow_ups.any();
    match execution.deadline_at {
        _ if is_owing => f.write_str("now ")?,
        Some(at) => write!(f, "{} ", at.as_millis())?,
        None => f.write_str("- ")?,
    }
    write!(f, "{} {}", execution.updated_at.as_millis(), execution.lease_epoch)
}

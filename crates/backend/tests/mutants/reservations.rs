//! Reservations that are misheard, or answered wrong.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::reserve::{Reservation, Reserve, Task};
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Result};
use ff_core::machine::claim::HandOut;
use ff_core::payload::Payload;

use crate::liar::lies;

lies! {
    // How many transactions there were.
    AtomicU64;
    /// The last lane named is tried first.
    LanesReversed,
    /// The last claimant is used first.
    ClaimantsReversed,
    /// A lease is given although a grant was asked for.
    GrantBecomesLease,
    /// The gate does not come with the task.
    TaskWithoutGate,
    /// The input does not come with the task.
    TaskWithoutInput,
    /// A task comes with the version it had before.
    TaskWithOldVersion,
    /// A reservation that was cut short looks as if nothing was left.
    HandfulSeemsWhole,
    /// There always seems to be more.
    HandfulSeemsCut,
    /// A reservation looks at everything there is.
    ReserveScansEverything,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<std::result::Result<Committed, CommitError>> {
        self.seen.fetch_add(batch.len() as u64, Ordering::Relaxed);
        self.inner().commit(batch).await
    }

    async fn reserve(&self, mut ask: Reserve) -> Result<Reservation> {
        match self.lie {
            Lie::LanesReversed => ask.lanes.reverse(),
            Lie::ClaimantsReversed => ask.claimants.reverse(),
            Lie::GrantBecomesLease => ask.mode = HandOut::Lease,
            Lie::ReserveScansEverything => {
                let everything = self.seen.load(Ordering::Relaxed);
                self.honest.visited_in_vain.fetch_add(everything, Ordering::Relaxed);
            }
            _ => {}
        }
        let mut reservation = self.inner().reserve(ask).await?;
        reservation.tasks.iter_mut().for_each(|task| self.distort(task));
        match self.lie {
            Lie::HandfulSeemsWhole => reservation.cut = false,
            Lie::HandfulSeemsCut => reservation.cut = true,
            _ => {}
        }
        Ok(reservation)
    }
}

impl Liar {
    fn distort(&self, task: &mut Task) {
        match self.lie {
            Lie::TaskWithoutGate => task.gate = None,
            Lie::TaskWithoutInput => task.input = Payload::default(),
            Lie::TaskWithOldVersion => task.version.counter -= 1,
            _ => {}
        }
    }
}

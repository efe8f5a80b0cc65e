//! The pump without its loop, for whoever lets time pass by hand; and what a person may ask it.

use ff_core::fabric::Result;

use super::poison::Poisoned;
use super::{as_engine, audit, liveness, run_loop};
use crate::directory::write_seen_workers;
use crate::engine::Engine;

impl Engine {
    /// Handles once what is due now and what this process knows of, in every partition, whoever pumps it. Answers how many
    /// items came to something.
    pub async fn pump_pass(&self) -> Result<usize> {
        run_loop::pass(&as_engine(self)).await
    }

    /// One liveness sweep, with the workers that were seen.
    pub async fn pump_sweep(&self) -> Result<()> {
        write_seen_workers(self).await?;
        liveness::sweep(&as_engine(self)).await
    }

    /// One audit sweep: a sample of records is compared with what the store keeps for them, and repaired.
    pub async fn pump_audit(&self) -> Result<()> {
        audit::sweep(&as_engine(self)).await
    }

    /// Index entries and counters this process has found wrong and written anew.
    pub fn repaired(&self) -> u64 {
        self.shared.pump.audits.repaired()
    }

    /// What the pump of this process cannot get done, for a person to look at.
    pub fn poisoned(&self) -> Vec<Poisoned> {
        self.shared.pump.poison.list(self.host().elapsed())
    }

    /// How many things the pump looks at again a little later.
    pub fn postponed(&self) -> usize {
        self.shared.pump.poison.len()
    }
}

//! Snapshots with less, more or other things than were asked for.

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_backend::transaction::Generation;
use ff_backend::{Backend, Result};
use ff_core::record::{BlobKey, Record, RecordKey};

use crate::liar::lies;

lies! {
    ();
    /// Loads get each other's answers.
    LoadsReversed,
    /// Blobs are not read.
    LoadForgetsBlobs,
    /// Nudges are not read.
    LoadForgetsNudges,
    /// Counters are read as zero.
    LoadForgetsCounters,
    /// Counters that never moved are left out.
    LoadSkipsZeroCounters,
    /// Every load is of a generation of its own.
    LoadInventsGenerations,
    /// Gates do not come along.
    LoadForgetsGates,
    /// The gates of all members come along unasked.
    LoadAddsGates,
    /// Steps come by their names.
    StepsByName,
    /// The outputs of steps come whatever their size.
    StepOutputsUnbounded,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn load(&self, mut loads: Vec<Load>) -> Result<Vec<Snapshot>> {
        let asked = loads.clone();
        loads.iter_mut().for_each(|load| self.distort_load(load));
        let mut snapshots = self.inner().load(loads).await?;
        for (load, snapshot) in asked.iter().zip(&mut snapshots) {
            self.distort_snapshot(load, snapshot);
        }
        if self.lie == Lie::LoadsReversed {
            snapshots.reverse();
        }
        Ok(snapshots)
    }
}

impl Liar {
    fn distort_load(&self, load: &mut Load) {
        match self.lie {
            Lie::LoadForgetsGates => load.with_gates = false,
            Lie::LoadAddsGates => load.with_gates = true,
            Lie::StepsByName => load.steps.iter_mut().for_each(|steps| steps.limit = usize::MAX),
            Lie::StepOutputsUnbounded => load.steps.iter_mut().for_each(|steps| steps.output_bytes = u64::MAX),
            _ => {}
        }
    }

    fn distort_snapshot(&self, asked: &Load, snapshot: &mut Snapshot) {
        match self.lie {
            Lie::LoadForgetsBlobs => snapshot.blobs.clear(),
            Lie::LoadForgetsNudges => snapshot.nudges.clear(),
            Lie::LoadForgetsCounters => snapshot.counters.clear(),
            Lie::LoadSkipsZeroCounters => snapshot.counters.retain(|_, value| *value != 0),
            Lie::LoadInventsGenerations => snapshot.generation = Generation(snapshot.now.as_millis()),
            Lie::StepsByName => asked.steps.iter().for_each(|steps| keep_first_names(snapshot, steps)),
            _ => {}
        }
    }
}

/// Keeps as many steps as were asked for, but the first by name.
fn keep_first_names(snapshot: &mut Snapshot, asked: &LoadSteps) {
    let id = asked.execution_id;
    let by_name = snapshot.records.iter().filter_map(|(key, (record, _))| match record {
        Record::Step(step) if step.execution_id == id => Some((key.clone(), step.seq)),
        _ => None,
    });
    let others: Vec<(RecordKey, u64)> = by_name.skip(asked.limit).collect();
    for (key, seq) in others {
        snapshot.records.remove(&key);
        snapshot.blobs.remove(&BlobKey::Step(id, seq));
    }
}

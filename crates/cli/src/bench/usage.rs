//! What a run has used.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::postgres::Written;

/// What was used so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Calls made to the store.
    pub(super) calls: u64,
    /// Transactions in them.
    pub(super) transactions: u64,
    /// CPU time of this process, or of the servers where they are others.
    pub(super) cpu: Duration,
    /// CPU time of the store, where it is another process and says so.
    pub(super) store_cpu: Option<Duration>,
    /// Commits of SQLite, each one sync.
    pub(super) syncs: Option<u64>,
    /// Commands Valkey ran, those inside functions too.
    pub(super) valkey_commands: Option<u64>,
    /// What PostgreSQL wrote.
    pub(super) written: Option<Written>,
}

impl Usage {
    /// What was used since `before`.
    pub(super) fn since(self, before: Usage) -> Usage {
        Usage {
            calls: self.calls - before.calls,
            transactions: self.transactions - before.transactions,
            cpu: self.cpu.saturating_sub(before.cpu),
            store_cpu: both(self.store_cpu, before.store_cpu, Duration::saturating_sub),
            syncs: both(self.syncs, before.syncs, u64::saturating_sub),
            valkey_commands: both(self.valkey_commands, before.valkey_commands, u64::saturating_sub),
            written: both(self.written, before.written, Written::since),
        }
    }

    /// What each of so many used.
    pub(super) fn each(&self, count: usize) -> Each {
        let count = count as f64;
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / count;
        Each {
            store_calls_per_task: (self.calls > 0).then(|| self.calls as f64 / count),
            cpu_us_per_task: micros(self.cpu),
            all_cpu_us_per_task: micros(self.cpu + self.store_cpu.unwrap_or_default()),
            store_cpu_us_per_task: self.store_cpu.map(micros),
            syncs_per_task: self.syncs.map(|syncs| syncs as f64 / count),
            wal_bytes_per_task: self.written.map(|written| written.wal_bytes as f64 / count),
            hot_updates_percent: self.written.as_ref().and_then(Written::hot_share),
        }
    }
}

/// What each of many used.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Each {
    /// Absent where others than this process make them.
    #[serde(skip_serializing_if = "Option::is_none")]
    store_calls_per_task: Option<f64>,
    /// Of the engine and whoever is in its process.
    cpu_us_per_task: f64,
    /// With the store's.
    all_cpu_us_per_task: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    store_cpu_us_per_task: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syncs_per_task: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wal_bytes_per_task: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hot_updates_percent: Option<f64>,
}

impl Each {
    pub(super) const fn all_cpu_us(&self) -> f64 {
        self.all_cpu_us_per_task
    }
}

impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} µs of our CPU", self.cpu_us_per_task)?;
        if let Some(calls) = self.store_calls_per_task {
            write!(f, ", {calls:.3} store calls")?;
        }
        if let Some(micros) = self.store_cpu_us_per_task {
            write!(f, ", {micros:.1} µs of the store's CPU")?;
        }
        if let Some(syncs) = self.syncs_per_task {
            write!(f, ", {syncs:.3} syncs")?;
        }
        if let Some(bytes) = self.wal_bytes_per_task {
            write!(f, ", {bytes:.0} bytes of WAL")?;
        }
        if let Some(percent) = self.hot_updates_percent {
            write!(f, ", {percent:.1} % of updates HOT")?;
        }
        Ok(())
    }
}

fn both<T>(after: Option<T>, before: Option<T>, less: impl FnOnce(T, T) -> T) -> Option<T> {
    after.zip(before).map(|(after, before)| less(after, before))
}

//! What a run has used.

use std::time::Duration;

use super::postgres::Written;

/// What was used so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// Calls made to the store.
    pub(super) calls: u64,
    /// Transactions in them.
    pub(super) transactions: u64,
    /// CPU time of this process.
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

    /// What each of so many used, for people.
    pub(super) fn each(&self, count: usize) -> String {
        let count = count as f64;
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / count;
        let mut parts = vec![
            format!("{:.3} store calls", self.calls as f64 / count),
            format!("{:.1} µs of our CPU", micros(self.cpu)),
        ];
        parts.extend(
            self.store_cpu
                .map(|cpu| format!("{:.1} µs of the store's CPU", micros(cpu))),
        );
        parts.extend(self.syncs.map(|syncs| format!("{:.3} syncs", syncs as f64 / count)));
        if let Some(written) = self.written {
            parts.push(format!("{:.0} bytes of WAL", written.wal_bytes as f64 / count));
            parts.extend(written.hot_share().map(|share| format!("{share:.1} % of updates HOT")));
        }
        parts.join(", ")
    }
}

fn both<T>(after: Option<T>, before: Option<T>, less: impl FnOnce(T, T) -> T) -> Option<T> {
    after.zip(before).map(|(after, before)| less(after, before))
}

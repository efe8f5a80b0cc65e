//! What somebody who runs the engine wants to know, in the format of OpenMetrics.
//!
//! `table` says what there is and which question each metric answers. What happens is counted where it is decided, once:
//! `tally` reads the transactions that were committed, `calls` is told by the store's wrapper, `pump` by the pump. What stands
//! in the store is read for a scrape (`survey`), so rarely that scrapes cannot slow anybody down. `scrape` writes it all, or the
//! part of it that a caller bound to a namespace may see.

mod calls;
mod histogram;
mod metric;
mod pump;
mod scrape;
mod survey;
mod table;
mod tally;

use std::sync::Arc;
use std::time::Duration as HostDuration;

use ff_backend::transaction::Transaction;
use ff_core::name::Namespace;
use ff_core::time::Duration;

pub(crate) use self::calls::{StoreCall, StoreCalls};
pub use self::histogram::{CALL_RANGES, Histogram, Ranges, WAIT_RANGES};
pub use self::metric::{Family, Kind, Metric};
use self::pump::PumpCounts;
pub use self::scrape::Scrape;
use self::survey::Surveys;
pub use self::table::METRICS;
use self::tally::{Tallies, add};

/// Everything that is counted in this process.
#[derive(Default)]
pub(crate) struct Metrics {
    tallies: Tallies,
    pub(crate) calls: Arc<StoreCalls>,
    pub(crate) pump: PumpCounts,
    surveys: Surveys,
}

impl Metrics {
    /// A transaction of this process has landed.
    pub(crate) fn committed(&self, transaction: &Transaction) {
        self.tallies.committed(transaction);
    }

    /// An execution was handed to a worker, for which it stood ready this long.
    pub(crate) fn handed_out(&self, namespace: &Namespace, waited: Duration) {
        self.tallies
            .of(namespace)
            .claim_latency
            .observe(HostDuration::from_millis(waited.as_millis()));
    }

    /// A frame was appended.
    pub(crate) fn appended(&self, namespace: &Namespace, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        add(&self.tallies.of(namespace).stream_bytes, bytes);
    }
}

//! CPU time of this process.

use std::time::Duration;

/// CPU time this process has used; `None` where the system does not say.
pub(crate) fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in the second field may hold anything, even brackets: what counts stands after the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // Linux counts in hundredths of a second on every platform it runs on.
    Some(Duration::from_millis(ticks * 10))
}

//! What a process has used so far.

use std::time::Duration;

/// What a process has used so far, as the system says.
pub(crate) struct Used {
    /// Bytes that are resident.
    pub(crate) memory: u64,
    pub(crate) cpu: Duration,
}

impl Used {
    pub(crate) fn by(pid: u32) -> Self {
        let about = |what: &str| std::fs::read_to_string(format!("/proc/{pid}/{what}")).unwrap();
        let status = about("status");
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        let resident: u64 = resident.split_whitespace().next().unwrap().parse().unwrap();
        let stat = about("stat");
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields
            .split(' ')
            .skip(11)
            .take(2)
            .map(|ticks| ticks.parse::<u64>().unwrap());
        Self {
            memory: resident * 1024,
            cpu: Duration::from_millis(ticks.sum::<u64>() * 10),
        }
    }
}

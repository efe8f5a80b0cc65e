//! CPU time of processes and their children, those too that have ended, as Linux tells it.

use std::fs;
use std::time::Duration;

struct Stat {
    id: u32,
    parent: u32,
    own: u64,
    ended_children: u64,
}

pub fn time_of(processes: &[u32]) -> anyhow::Result<Duration> {
    let entries = fs::read_dir("/proc")?.flatten();
    // One that ends meanwhile is no longer found: its time is its parent's from then on.
    let all = entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?));
    let ticks = |stat: Stat| {
        if processes.contains(&stat.id) {
            stat.own + stat.ended_children
        } else if processes.contains(&stat.parent) {
            stat.own
        } else {
            0
        }
    };
    // Linux counts in hundredths of a second.
    Ok(Duration::from_millis(10 * all.map(ticks).sum::<u64>()))
}

fn stat(id: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in the second field may hold anything: what counts stands after its last bracket.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Stat {
        id,
        parent: fields.get(1)?.parse().ok()?,
        own: number(11)? + number(12)?,
        ended_children: number(13)? + number(14)?,
    })
}

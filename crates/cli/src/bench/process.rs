//! CPU time of processes, as Linux tells it; where the system is another one, nobody does.

use std::time::Duration;

/// What `/proc/<pid>/stat` says of a process.
#[derive(Debug, PartialEq)]
struct Stat {
    name: String,
    parent: u32,
    cpu: Duration,
    /// That of children which have ended.
    ended_cpu: Duration,
}

impl Stat {
    fn read(process: &str) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        // The name in the second field may hold anything, even brackets: what counts stands after the last one.
        let (name, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // Linux counts in hundredths of a second on every platform it runs on.
        let ticks = |at: usize| Some(Duration::from_millis(10 * fields.get(at)?.parse::<u64>().ok()?));
        Some(Self {
            name: name.split_once('(')?.1.to_owned(),
            parent: fields.get(1)?.parse().ok()?,
            cpu: ticks(11)? + ticks(12)?,
            ended_cpu: ticks(13)? + ticks(14)?,
        })
    }
}

/// CPU time this process has used.
pub(super) fn own_cpu() -> Option<Duration> {
    Some(Stat::read("self")?.cpu)
}

/// CPU time another process has used.
pub(super) fn cpu_of(process: u32) -> Option<Duration> {
    Some(Stat::read(&process.to_string())?.cpu)
}

/// The parent of a process that is called `name`.
pub(super) fn parent_of(process: u32, name: &str) -> Option<u32> {
    let stat = Stat::read(&process.to_string())?;
    (stat.name == name).then_some(stat.parent)
}

/// CPU time a process and its children have used, those too that have ended.
pub(super) fn family_cpu(parent: u32) -> Option<Duration> {
    let own = Stat::read(&parent.to_string())?;
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    // One that ends meanwhile is no longer found: its time is its parent's from then on.
    let all = entries.filter_map(|entry| Stat::read(entry.file_name().to_str()?));
    let children = all.filter(|stat| stat.parent == parent);
    Some(children.map(|child| child.cpu).sum::<Duration>() + own.cpu + own.ended_cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_called_anything() {
        let stat = Stat::parse("71 (a (b) c) S 7 71 71 0 -1 4194560 1 2 3 4 150 50 20 10 20 0 1 0 99 0 0\n");
        let expected = Stat {
            name: "a (b) c".to_owned(),
            parent: 7,
            cpu: Duration::from_secs(2),
            ended_cpu: Duration::from_millis(300),
        };
        assert_eq!(stat, Some(expected));
        assert_eq!(Stat::parse("71 (cut short) S 7"), None);
    }
}

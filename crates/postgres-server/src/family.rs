//! The processes of one server: the postmaster, which the test started, and its children, which it did not.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Killed processes are gone within milliseconds; this is for a machine that is busy with everything else.
const PATIENCE: Duration = Duration::from_secs(30);

struct Member {
    id: u32,
    parent: u32,
    /// Ended, and nobody has asked yet how.
    ended: bool,
}

/// The children of a postmaster. Each leads a session of its own, so no signal reaches them all at once.
pub(crate) fn children(postmaster: u32) -> Vec<u32> {
    let members = all().into_iter().filter(|member| member.parent == postmaster);
    members.map(|member| member.id).collect()
}

/// Sends a signal by its name, such as `STOP`; whether all could be reached.
pub(crate) fn signal(name: &str, ids: &[u32]) -> bool {
    let sent = Command::new("sh")
        .args(["-c", r#"[ $# = 0 ] || kill -s "$0" "$@""#, name])
        .args(ids.iter().map(u32::to_string))
        .stderr(Stdio::null())
        .status();
    sent.as_ref().is_ok_and(ExitStatus::success)
}

/// Waits until processes that were killed are gone.
///
/// # Panics
///
/// When they still run after half a minute.
pub(crate) fn wait_until_gone(ids: &[u32]) {
    let deadline = Instant::now() + PATIENCE;
    while all().iter().any(|member| ids.contains(&member.id) && !member.ended) {
        assert!(
            Instant::now() < deadline,
            "the PostgreSQL processes {ids:?} outlive SIGKILL"
        );
        sleep(Duration::from_millis(1));
    }
}

/// Small systems come without `ps`, others without `/proc`.
fn all() -> Vec<Member> {
    let Ok(entries) = Path::new("/proc/self/stat")
        .metadata()
        .and_then(|_| fs::read_dir("/proc"))
    else {
        return told_by_ps();
    };
    entries
        .filter_map(|entry| read(&fs::read_to_string(entry.ok()?.path().join("stat")).ok()?))
        .collect()
}

/// Reads "4711 (name, which may contain anything) S 4242 …".
fn read(line: &str) -> Option<Member> {
    let (id, rest) = line.split_once(" (")?;
    let mut words = rest.rsplit_once(") ")?.1.split(' ');
    Some(Member {
        ended: words.next()? == "Z",
        parent: words.next()?.parse().ok()?,
        id: id.parse().ok()?,
    })
}

fn told_by_ps() -> Vec<Member> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat="]).output();
    let output = output.expect("could not run ps, which tells the processes of a server");
    let text = String::from_utf8_lossy(&output.stdout);
    let member = |line: &str| {
        let mut words = line.split_whitespace();
        Some(Member {
            id: words.next()?.parse().ok()?,
            parent: words.next()?.parse().ok()?,
            ended: words.next()?.starts_with('Z'),
        })
    };
    text.lines().filter_map(member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_be_called_anything() {
        let member = read("4711 (a) Z 7 (b)) S 4242 4711 0").unwrap();
        assert_eq!((member.id, member.parent, member.ended), (4711, 4242, false));
        assert!(read("4711 (sh) Z 1 4711 0").unwrap().ended);
    }

    #[test]
    fn this_process_is_among_all() {
        let id = std::process::id();
        assert!(all().iter().any(|member| member.id == id && !member.ended));
    }
}

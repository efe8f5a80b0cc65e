//! What a process is called unless it says so itself.

use ff_core::name::NAME_BYTES_MAX;

use crate::task_error::cut;

/// A name that no other process has, and that says where it runs: `web-host-4711-1f3a`.
pub(super) fn of_this_process(worker: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| std::env::var("HOSTNAME"));
    let host = host.unwrap_or_default();
    let host: String = host
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-.".contains(*letter))
        .collect();
    let place = if host.is_empty() { "host" } else { &host };
    let end = format!("-{}-{:04x}", std::process::id(), rand::random::<u16>());
    let begin = format!("{worker}-{place}");
    cut(begin, NAME_BYTES_MAX - end.len()) + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_name_of_its_own_that_begins_with_its_worker() {
        let (first, second) = (of_this_process("web"), of_this_process(&"w".repeat(300)));
        assert!(first.starts_with("web-"), "{first}");
        assert!(first.contains(&std::process::id().to_string()), "{first}");
        assert!(ff_core::name::WorkerInstanceId::parse(second).is_ok());
    }
}

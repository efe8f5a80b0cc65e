//! Stores that bring tools of their own.

use crate::failure::{Class, Failure};
use crate::open::Address;
use crate::say;

/// What is to be done.
#[derive(Clone, Copy)]
pub(super) enum Task {
    Backup,
    Restore,
}

/// Prints the command of the store's own tool; that nothing was done is a failure.
pub(super) fn refer(store: &Address, task: Task, file: &str) -> anyhow::Error {
    let url = String::from(store.clone());
    let (command, advice) = match (store, task) {
        (Address::Postgres(_), Task::Backup) => (
            format!("pg_dump --format=custom --file={file} {url}"),
            "It may run while servers do, and copies one moment of the whole store. PGUSER and PGPASSWORD say who asks.",
        ),
        (Address::Postgres(_), Task::Restore) => (
            format!("pg_restore --exit-on-error --dbname={url} {file}"),
            "Stop every server before, restore into an empty database, and start them after. PGUSER and PGPASSWORD say who asks.",
        ),
        (Address::Valkey(_), Task::Backup) => (
            format!("valkey-cli -u {url} --rdb {file}"),
            "It may run while servers do. Of a cluster, every primary is copied by itself.",
        ),
        (Address::Valkey(_), Task::Restore) => (
            format!("cp {file} DATA_DIRECTORY/dump.rdb"),
            "Stop every server and Valkey before, and move all of its old files away. Start Valkey once with --appendonly no, or it ignores the \
             snapshot and writes over it; docs/how-to/valkey.md has every step.",
        ),
        (Address::Memory, _) => {
            let what = "a store in memory is gone with its process; there is nothing to copy";
            return Failure::new(Class::Refused, what).into();
        }
        (Address::File(_), _) => unreachable!("a file is copied here"),
        (Address::Unknown(why), _) => return anyhow::anyhow!("{why}"),
    };
    say::line(command);
    let what = format!("nothing was done: {store} has a tool of its own, run the command above");
    Failure::new(Class::Refused, what).advise(advice).into()
}

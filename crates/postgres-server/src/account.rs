//! Who runs the servers.

use std::process::Command;
use std::sync::OnceLock;

/// A user of this machine.
#[derive(Clone, Copy)]
pub(crate) struct Account {
    pub(crate) user_id: u32,
    pub(crate) group_id: u32,
}

/// Who runs this process, as a number.
pub(crate) fn own_user_id() -> u32 {
    static OWN: OnceLock<u32> = OnceLock::new();
    *OWN.get_or_init(|| id(&["-u"]).expect("could not find out with `id` who runs this process"))
}

/// Who runs servers in our place, because PostgreSQL refuses to run as root.
pub(crate) fn stand_in() -> Option<Account> {
    static STAND_IN: OnceLock<Option<Account>> = OnceLock::new();
    *STAND_IN.get_or_init(|| (own_user_id() == 0).then(unprivileged))
}

fn unprivileged() -> Account {
    let found = ["postgres", "nobody"].iter().find_map(|name| {
        Some(Account {
            user_id: id(&["-u", name])?,
            group_id: id(&["-g", name])?,
        })
    });
    found.expect("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody")
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim_end().parse().ok()
}

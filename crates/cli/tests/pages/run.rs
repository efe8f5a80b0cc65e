//! A test for each page that is run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

use crate::folder::{FULL, Folder, ROOT};
use crate::links::tree;
use crate::page::Page;
use crate::session;
use crate::stores::Stores;

/// Where the servers of pages listen: nobody is asked to type another port than the usual one.
const PORT: u16 = 7117;
/// Longer than any block takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// Compiling included.
const FULL_PATIENCE: Duration = Duration::from_secs(3600);

/// A test for each page, and their list.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(
            #[test]
            fn $name() {
                tried($path);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    first_run: "docs/tutorials/first-run.md",
    agent_that_survives_a_crash: "docs/tutorials/agent-that-survives-a-crash.md",
    flow_with_an_approval: "docs/tutorials/flow-with-an-approval.md",
    install: "docs/how-to/install.md",
    worker_in_any_language: "docs/how-to/worker-in-any-language.md",
    rust_sdk: "docs/how-to/rust-sdk.md",
    retry: "docs/how-to/retry.md",
    cancel: "docs/how-to/cancel.md",
    budgets_and_quotas: "docs/how-to/budgets-and-quotas.md",
    dashboard: "docs/how-to/dashboard.md",
    test_time: "docs/how-to/test-time.md",
    deploy_a_change: "docs/how-to/deploy-a-change.md",
    sqlite: "docs/how-to/sqlite.md",
    valkey: "docs/how-to/valkey.md",
    postgres: "docs/how-to/postgres.md",
    monitor: "docs/how-to/monitor.md",
    secure: "docs/how-to/secure.md",
    move_from_celery: "docs/how-to/move-from-celery.md",
    move_from_bullmq: "docs/how-to/move-from-bullmq.md",
    move_from_temporal: "docs/how-to/move-from-temporal.md",
}

#[test]
fn every_page_that_shows_what_to_type_is_run() {
    let is_run = |path: &str| {
        path == "README.md"
            || ["docs/tutorials/", "docs/how-to/"]
                .iter()
                .any(|folder| path.starts_with(folder))
    };
    let there: BTreeSet<String> = tree::pages().into_iter().filter(|path| is_run(path)).collect();
    let listed: BTreeSet<String> = PAGES.iter().map(|&path| path.to_owned()).collect();
    assert_eq!(
        there, listed,
        "the list in crates/cli/tests/pages/run.rs has every page, and nothing else"
    );
}

/// Runs a page as its reader does.
fn tried(path: &str) {
    let text = fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    let page = Page::read(path, &text).unwrap_or_else(|unclear| panic!("{path}:{}: {}", unclear.line, unclear.what));
    let folder = match path {
        "README.md" => Folder::of_the_repository(),
        _ => Folder::new(),
    };
    let mut folder = folder.unwrap();
    let patience = if std::env::var_os(FULL).is_some() {
        FULL_PATIENCE
    } else {
        PATIENCE
    };
    let _turn = turn();
    let _stores = Stores::of(&text, &mut folder);
    let ran = session::run(&page, &folder, patience);
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Pages are run one after the other: they all use one port.
fn turn() -> File {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages.lock");
    let file = File::create(path).unwrap();
    file.lock().unwrap();
    if let Err(error) = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)) {
        panic!(
            "pages start servers on port {PORT}, which something else on this machine has ({error}): stop it and try again"
        );
    }
    file
}

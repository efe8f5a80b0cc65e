//! What keeps a store from being opened: whoever reads why at night must know what to do.

mod connections;
mod rights;
mod schema;
mod server;

use std::time::Duration;

use ff_backend_postgres::{OpenError, Options, PostgresBackend};

/// How a database on a server of the tests is opened.
fn options(url: String) -> Options {
    Options {
        may_lose_writes: true,
        ..Options::new(url)
    }
}

/// The same for whoever does not wait for long: enough to be answered on a busy machine.
fn impatient(url: String) -> Options {
    Options {
        patience: Duration::from_millis(1_500),
        ..options(url)
    }
}

/// Why the store is not opened, and what is said about it.
async fn refused(options: &Options) -> (OpenError, String) {
    let refused = PostgresBackend::open(options).await.unwrap_err();
    let said = refused.to_string();
    (refused, said)
}

//! On PostgreSQL it is counted on the way to the server: every time a client waits for an answer.

use std::sync::Arc;

use ff_backend_postgres::PostgresBackend;
use ff_postgres_server::Database;

use super::on_a_store;
use super::proxy::{self, Asked};
use super::world::{Wire, World};
use crate::support::{EngineHarness, postgres_database, postgres_options};

/// What a process does beside its calls, now and then and for many of them at once: nobody waits for it.
const BESIDE: [&str; 3] = ["tell_others", "tidy", "tidy_feed"];

/// A database, and what it is asked.
struct Watched {
    asked: Asked,
    _database: Database,
}

impl Wire for Watched {
    async fn sent_for<T>(&self, work: impl Future<Output = T>) -> (Vec<String>, T) {
        self.asked.take();
        let done = work.await;
        let mut asked = self.asked.take();
        asked.retain(|what| !BESIDE.contains(&what.as_str()));
        (asked, done)
    }
}

/// With one connection, which has prepared everything by the end of this.
async fn warm() -> World<Watched> {
    let database = postgres_database().await;
    let url = database.url();
    let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next()).unwrap();
    let (own_port, asked) = proxy::open(port.parse().unwrap());
    let options = ff_backend_postgres::Options {
        connections_max: 1,
        ..postgres_options(url.replace(port, &own_port.to_string()))
    };
    let store = Arc::new(PostgresBackend::open(&options).await.unwrap());
    let clock = Arc::clone(&store);
    let harness = EngineHarness::over(store, move |by| clock.advance_clock(by), |_| ());
    let watched = Watched {
        asked,
        _database: database,
    };
    World::warm(harness, watched).await
}

on_a_store! { warm:
    submit_claim_renew_and_complete_are_one_call_each
    a_batch_is_claimed_with_one_call
    a_batch_under_a_quota_is_claimed_with_four_calls_at_most
    a_batch_under_a_budget_is_claimed_with_four_calls_at_most
    sixteen_callers_at_once_share_a_call
    steps_are_one_call_and_with_what_they_cost_three
    the_steps_of_a_round_are_read_with_one_call
    waiting_for_a_signal_and_going_on_with_it_are_five_calls_at_most
}

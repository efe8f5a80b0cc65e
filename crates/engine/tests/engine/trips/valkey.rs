//! On Valkey the server itself tells what it is sent.

use ff_valkey_server::Standalone;

use super::on_a_store;
use super::world::{Wire, World};
use crate::support::EngineHarness;

impl Wire for Standalone {
    async fn sent_for<T>(&self, work: impl Future<Output = T>) -> (Vec<String>, T) {
        let mut monitor = self.monitor().await;
        let done = work.await;
        (monitor.sent().await, done)
    }
}

async fn warm() -> World<Standalone> {
    let server = Standalone::start(Default::default()).await;
    let harness = EngineHarness::at(vec![server.url()], |_| ()).await;
    World::warm(harness, server).await
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

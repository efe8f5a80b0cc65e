//! Accounts on Valkey: what a step costs the server, and what becomes of one that meets something unreadable.

mod commands;
mod places;
mod unreadable;

use ff_backend::Backend;
use ff_backend::ledger::LedgerReply;
use ff_backend_valkey::{Options, ValkeyBackend};
use ff_core::id::{BudgetId, QuotaPolicyId};
use ff_core::ledger::{AccountKey, Amend, Expected, LedgerAnswer, LedgerCall};
use ff_valkey_server::Standalone;
use uuid::Uuid;

/// A store of its own.
struct Scratch {
    backend: ValkeyBackend,
    server: Standalone,
}

impl Scratch {
    async fn new() -> Self {
        let server = Standalone::start(Default::default()).await;
        let backend = ValkeyBackend::open(&Options::new(server.url())).await.unwrap();
        Self { backend, server }
    }

    async fn create(&self, account: AccountKey) {
        let amend = Amend {
            body: Some("{}".to_owned()),
            tag: 1,
            ..Amend::new(account, Expected::Absent)
        };
        let answer = self.ask(vec![LedgerCall::Amend(amend)]).await.remove(0);
        assert!(matches!(answer, LedgerAnswer::Amended { .. }), "{answer:?}");
    }

    async fn ask(&self, calls: Vec<LedgerCall>) -> Vec<LedgerAnswer> {
        let replies = self.backend.ledger(calls).await.into_iter();
        replies
            .map(|reply: Result<LedgerReply, _>| reply.unwrap().answer)
            .collect()
    }
}

fn quota(number: u128) -> AccountKey {
    AccountKey::Quota(QuotaPolicyId::from_uuid(Uuid::from_u128(number)))
}

fn budget(number: u128) -> AccountKey {
    AccountKey::Budget(BudgetId::from_uuid(Uuid::from_u128(number)))
}

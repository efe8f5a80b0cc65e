//! Slots that belong to the wrong thing, and limits that seem never to move.

use std::collections::BTreeMap;

use ff_backend::ledger::LedgerReply;
use ff_core::id::GrantId;
use ff_core::ledger::{AccountKey, AccountView, LedgerAnswer, LedgerCall, ReadMeters};
use ff_core::machine::budget;
use ff_core::record::Budget;

/// The name under which each grant has its slot: that of its execution.
#[derive(Default)]
pub(super) struct Aliases(BTreeMap<GrantId, GrantId>);

impl Aliases {
    /// Puts the execution in place of the grant.
    pub(super) fn rename(&mut self, calls: &mut [LedgerCall]) {
        for call in calls {
            match call {
                LedgerCall::Take(take) => {
                    let alias = GrantId::from_uuid(take.holder.uuid());
                    self.0.insert(take.grant, alias);
                    take.grant = alias;
                }
                LedgerCall::Give(give) => {
                    give.grant = self.0.get(&give.grant).copied().unwrap_or(give.grant);
                }
                _ => {}
            }
        }
    }
}

/// The generation under which each account refused somebody last.
#[derive(Default)]
pub(super) struct Frozen(BTreeMap<AccountKey, i64>);

impl Frozen {
    /// Whoever only asks for the generation of an account finds the one it was refused under.
    pub(super) fn freeze(&mut self, call: &LedgerCall, reply: &mut LedgerReply) {
        match &mut reply.answer {
            LedgerAnswer::Full {
                account, generation, ..
            } => {
                self.0.insert(*account, *generation);
            }
            LedgerAnswer::Account(view) if asks_for_nothing_else(call) => {
                let frozen = self.0.get(&view.account).copied();
                view.head.generation = frozen.unwrap_or(view.head.generation);
            }
            LedgerAnswer::Account(view) if refuses(view) => {
                self.0.insert(view.account, view.head.generation);
            }
            _ => {}
        }
    }
}

/// Whether whoever reads this account is refused by it.
fn refuses(view: &AccountView) -> bool {
    let is_closed = |budget: Budget| budget.closed_by().is_some();
    matches!(view.account, AccountKey::Budget(_)) && budget::account::budget(view).is_ok_and(is_closed)
}

fn asks_for_nothing_else(call: &LedgerCall) -> bool {
    matches!(call, LedgerCall::Read(read) if read.meters == ReadMeters::Only(Vec::new()))
}

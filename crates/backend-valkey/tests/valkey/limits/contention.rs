//! Many callers at once change the budget that others report to.

use std::collections::BTreeMap;

use ff_backend::Backend;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call};
use ff_backend_valkey::ValkeyBackend;
use ff_core::command::budget::{CreateBudget, ResetBudget};
use ff_core::id::BudgetId;
use ff_core::machine::budget::UsageReport;
use ff_core::name::{Dimension, Namespace};
use ff_core::partition::Partition;
use ff_core::record::OnHardLimit;
use uuid::Uuid;

/// Callers of each kind.
const CALLERS: u16 = 8;
const CALLS: u16 = 25;

pub(super) async fn everybody_is_heard(backend: &ValkeyBackend) {
    let budget_id = BudgetId::from_uuid(Uuid::from_u128(1));
    let command = CreateBudget {
        budget_id: None,
        namespace: Namespace::default_namespace(),
        scope: String::new(),
        dimensions: BTreeMap::new(),
        reset_interval: None,
        on_hard_limit: OnHardLimit::Block,
    };
    answer(backend, Call::Create { budget_id, command }).await;
    let callers = (0..CALLERS).flat_map(|caller| [(caller, false), (caller, true)]);
    let callers: Vec<_> = callers
        .map(|(caller, reports)| {
            let backend = backend.clone();
            tokio::spawn(async move {
                for n in 0..CALLS {
                    let call = if reports {
                        report(budget_id)
                    } else {
                        mark(budget_id, caller, n)
                    };
                    answer(&backend, call).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let Answer::Budget(view) = answer(backend, Call::Get(budget_id)).await else {
        panic!("a budget was asked for")
    };
    let spent: Vec<u64> = view.dimensions.values().map(|dimension| dimension.usage).collect();
    assert_eq!(spent, [u64::from(CALLERS * CALLS)]);
    let command = ResetBudget::default();
    answer(backend, Call::Reset { budget_id, command }).await;
    let Answer::Work(work) = answer(backend, Call::Advance(budget_id)).await else {
        panic!("work was asked for")
    };
    let marked = work.release.map_or(0, |release| release.partitions.len());
    assert_eq!(marked, usize::from(CALLERS * CALLS));
}

fn report(budget_id: BudgetId) -> Call {
    let tokens = Dimension::parse("tokens").unwrap();
    let report = UsageReport::new(BTreeMap::from([(tokens, 1)]));
    Call::Report { budget_id, report }
}

/// Every mark is of another partition.
fn mark(budget_id: BudgetId, caller: u16, n: u16) -> Call {
    let partition = Partition::flow(caller * CALLS + n);
    Call::MarkBlocked { budget_id, partition }
}

async fn answer(backend: &ValkeyBackend, call: Call) -> Answer {
    let reply = backend.budget(vec![call]).await.remove(0);
    reply.unwrap().answer.unwrap()
}

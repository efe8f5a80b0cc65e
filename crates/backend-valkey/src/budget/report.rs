//! Usage reports and readings, many in one call of the library.

use ff_backend::Result;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call, BudgetReply};
use ff_core::command::budget::Reported;
use ff_core::error::Rejection;
use ff_core::id::BudgetId;
use ff_core::machine::budget;
use ff_core::machine::budget::UsageReport;
use ff_core::name::Dimension;
use ff_core::partition::Partition;
use ff_core::record::{Budget, Excess};
use ff_core::time::Timestamp;
use redis::Value;

use super::Numbered;
use super::fields::decode;
use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::limit::{Chain, Fields, Item, Kind};
use crate::pack::Pack;
use crate::reply::{list, number, text, values};
use crate::shared::Shared;

/// A reading, for all calls that find the same, or a report.
struct BudgetItem {
    partition: Partition,
    id: BudgetId,
    report: Option<UsageReport>,
    calls: Vec<usize>,
}

/// A budget as it was read.
pub(super) struct Found {
    pub(super) now: Timestamp,
    /// Empty: there is none.
    pub(super) revision: String,
    pub(super) budget: Option<Budget>,
}

impl Shared {
    /// Reports and reads; the calls of each chain in order.
    pub(super) async fn use_budgets(&self, chains: Vec<Chain<BudgetId, Call>>) -> Vec<Numbered> {
        let writes = chains.iter().any(|chain| chain.kind == Kind::Use);
        let function = if writes {
            Function::UseBudgets
        } else {
            Function::ReadBudgets
        };
        let items = chains.into_iter().flat_map(|chain| self.budget_items(chain)).collect();
        let answers = self.ask_items(function, items).await;
        answers
            .into_iter()
            .flat_map(|(item, answer)| replies(&item, answer))
            .collect()
    }

    /// A budget as it stands.
    pub(super) async fn read_budgets(&self, ids: impl Iterator<Item = BudgetId>) -> Result<Vec<Found>> {
        let items = ids.map(|id| self.budget_item(id, None)).collect();
        let answers = self.ask_items(Function::ReadBudgets, items).await.into_iter();
        let found = answers.map(|(item, answer)| {
            let (answer, now) = answer?;
            Found::parse(item.id, answer, now)
        });
        found.collect()
    }

    /// Readings with no report between them are one.
    fn budget_items(&self, chain: Chain<BudgetId, Call>) -> Vec<BudgetItem> {
        let mut items: Vec<BudgetItem> = Vec::new();
        for (number, call) in chain.calls {
            let (id, report) = match call {
                Call::Report { budget_id, report } => (budget_id, Some(report)),
                Call::Get(id) => (id, None),
                other => unreachable!("{other:?} is not answered by the library"),
            };
            match items
                .last_mut()
                .filter(|last| report.is_none() && last.report.is_none())
            {
                Some(reading) => reading.calls.push(number),
                None => {
                    let mut item = self.budget_item(id, report);
                    item.calls.push(number);
                    items.push(item);
                }
            }
        }
        items
    }

    fn budget_item(&self, id: BudgetId, report: Option<UsageReport>) -> BudgetItem {
        BudgetItem {
            partition: self.counts.of_budget(id),
            id,
            report,
            calls: Vec::new(),
        }
    }
}

impl Item for BudgetItem {
    fn partition(&self) -> Partition {
        self.partition
    }

    fn pack(&self, pack: &mut Pack) {
        pack.list(if self.report.is_some() { 5 } else { 2 });
        pack.text(prefix(self.partition)).text(self.id.to_string());
        let Some(report) = &self.report else { return };
        pack.list(2 * report.deltas.len());
        for (dimension, amount) in &report.deltas {
            pack.text(dimension.as_str()).number(amount.cast_signed());
        }
        let names: Vec<_> = report.names().collect();
        pack.list(2 * names.len());
        for (identity, window) in names {
            pack.text(identity.to_string()).number(window.as_millis().cast_signed());
        }
        pack.optional(report.effect_id.map(|id| id.to_string()));
    }
}

impl Found {
    pub(super) fn parse(id: BudgetId, answer: Value, now: Timestamp) -> Result<Self> {
        let fields = Fields::parse(answer)?;
        Ok(Self {
            now,
            revision: fields
                .as_ref()
                .map_or_else(|| Ok(String::new()), |fields| fields.get("revision"))?,
            budget: fields.map(|fields| decode(id, &fields)).transpose()?,
        })
    }
}

fn replies(item: &BudgetItem, answer: Result<(Value, Timestamp)>) -> Vec<Numbered> {
    let reply = answer.and_then(|(answer, now)| {
        let answer = match &item.report {
            Some(_) => reported(item.id, answer)?,
            None => view(&Found::parse(item.id, answer, now)?, item.id),
        };
        Ok(BudgetReply { now, answer })
    });
    item.calls.iter().map(|number| (*number, reply.clone())).collect()
}

fn view(found: &Found, id: BudgetId) -> std::result::Result<Answer, Rejection> {
    let budget = found.budget.as_ref().ok_or_else(|| budget::not_found(id))?;
    Ok(Answer::Budget(Box::new(budget::view(budget, found.now))))
}

fn reported(id: BudgetId, answer: Value) -> Result<std::result::Result<Answer, Rejection>> {
    let [outcome, excesses] = values(answer)?;
    let all = list(excesses)?
        .into_iter()
        .map(excess)
        .collect::<Result<Vec<Excess>>>()?;
    let first = || {
        all.first()
            .cloned()
            .ok_or_else(|| corrupt("a breach without an excess"))
    };
    let reported = match text(&outcome)? {
        "not_found" => return Ok(Err(budget::not_found(id))),
        "gone" => Reported::Gone,
        "already_applied" => Reported::AlreadyApplied,
        "ok" => Reported::Ok,
        "soft" => Reported::SoftBreach { first: first()?, all },
        "hard" => Reported::HardBreach { first: first()?, all },
        other => return Err(corrupt(format!("a report came to {other:?}"))),
    };
    Ok(Ok(Answer::Reported(reported)))
}

fn excess(found: Value) -> Result<Excess> {
    let [dimension, current, limit] = values(found)?;
    Ok(Excess {
        dimension: Dimension::parse(text(&dimension)?).map_err(corrupt)?,
        current: number(&current)?,
        limit: number(&limit)?,
    })
}

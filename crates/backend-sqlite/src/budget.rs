//! Budgets: each call is the function of the same name in [`ff_core::machine::budget`], between reading and writing its row.

use ff_backend::Result;
use ff_backend::budget::{BudgetAnswer as Answer, BudgetCall as Call, BudgetReply};
use ff_backend::hint::Hint;
use ff_core::command::budget::{BudgetView, CreateBudget};
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, EffectId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::budget;
use ff_core::machine::budget::{Remember, UsageReport};
use ff_core::name::Namespace;
use ff_core::record::{Budget, Cause};
use ff_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension};

use crate::backend::SqliteBackend;
use crate::batch::Batch;
use crate::key::index;
use crate::queues::parse;
use crate::record::{from_stored, to_stored};

/// What a call came to, if the store did not fail.
type Answered = rusqlite::Result<std::result::Result<Answer, Rejection>>;

impl SqliteBackend {
    /// Runs calls in order. Reading alone does not wait for the writer.
    pub(crate) async fn budget_calls(&self, calls: Vec<Call>) -> Vec<Result<BudgetReply>> {
        let count = calls.len();
        let reads = |call: &Call| matches!(call, Call::Get(_) | Call::List { .. });
        let replies: Result<Vec<BudgetReply>> = if calls.iter().all(reads) {
            self.read_store(move |connection, now| {
                let answers = calls.iter().filter_map(|call| read(connection, call, now));
                answers.map(|answer| Ok(BudgetReply { now, answer: answer? })).collect()
            })
            .await
        } else {
            self.write(move |batch| {
                let now = batch.now;
                let replies = calls.into_iter().map(|call| {
                    Ok(BudgetReply {
                        now,
                        answer: batch.budget(call)?,
                    })
                });
                replies.collect()
            })
            .await
        };
        match replies {
            Ok(replies) => replies.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error); count],
        }
    }
}

impl Batch<'_> {
    fn budget(&mut self, call: Call) -> Answered {
        let now = self.now;
        match call {
            Call::Create { budget_id, command } => self.create_budget(budget_id, &command),
            Call::Get(id) => get(self.connection, id, now),
            Call::Update { budget_id, command } => self.change_budget(budget_id, |budget| {
                budget::update_limits(budget, &command, now).map(Answer::Updated)
            }),
            Call::Report { budget_id, report } => self.report_usage(budget_id, &report),
            Call::Reset { budget_id, command } => self.change_budget(budget_id, |budget| {
                budget::reset(budget, &command, now).map(Answer::Reset)
            }),
            Call::Delete(id) => self.change_budget(id, |budget| Ok(Answer::Deleted(budget::delete(budget, now)))),
            Call::List {
                namespace,
                after,
                limit,
            } => list(
                self.connection,
                &Listed {
                    namespace: &namespace,
                    after,
                    limit,
                },
                now,
            ),
            Call::Advance(id) => self.change_budget(id, |budget| Ok(Answer::Work(budget::advance(budget, now)))),
            Call::Stopped { budget_id, began_at } => self.change_budget(budget_id, |budget| {
                budget::stopped(budget, began_at);
                Ok(Answer::Done)
            }),
            Call::Withdrawn { budget_id, generation } => self.change_budget(budget_id, |budget| {
                budget::withdrawn(budget, generation);
                Ok(Answer::Done)
            }),
            Call::MarkBlocked { budget_id, partition } => self.change_budget(budget_id, |budget| {
                budget::mark_blocked(budget, partition);
                Ok(Answer::Done)
            }),
            Call::ForgetBlocked {
                budget_id,
                partition,
                round,
            } => self.change_budget(budget_id, |budget| {
                budget::forget_blocked(budget, partition, round);
                Ok(Answer::Done)
            }),
        }
    }

    fn create_budget(&mut self, id: BudgetId, command: &CreateBudget) -> Answered {
        let before = load(self.connection, id)?;
        let mut slot = before.clone();
        let created = budget::create(&mut slot, id, command, self.now);
        if let Some(budget) = slot {
            self.put_budget(before.as_ref(), &budget)?;
        }
        Ok(created.map(Answer::Created))
    }

    fn change_budget(
        &mut self,
        id: BudgetId,
        change: impl FnOnce(&mut Budget) -> std::result::Result<Answer, Rejection>,
    ) -> Answered {
        let Some(before) = load(self.connection, id)? else {
            return Ok(Err(budget::not_found(id)));
        };
        let mut budget = before.clone();
        let answer = change(&mut budget);
        self.put_budget(Some(&before), &budget)?;
        Ok(answer)
    }

    fn report_usage(&mut self, id: BudgetId, report: &UsageReport) -> Answered {
        let now = self.now;
        let seen = self.counted_before(id, report)?;
        let mut remember = Vec::new();
        let answer = self.change_budget(id, |budget| {
            let reported = budget::report_usage(budget, report, &seen, now)?;
            remember = reported.remember;
            Ok(Answer::Reported(reported.outcome))
        })?;
        for Remember {
            identity,
            effect_id,
            until,
        } in remember
        {
            let effect_id = effect_id.map(|id| id.to_string());
            let params = (id.to_string(), identity.to_string(), until.as_millis(), effect_id);
            self.run(include_str!("../sql/put_budget_report.sql"), params)?;
        }
        Ok(answer)
    }

    /// The effects that were counted under the names of a report.
    fn counted_before(&self, id: BudgetId, report: &UsageReport) -> rusqlite::Result<Vec<Option<EffectId>>> {
        let mut statement = self.statement(include_str!("../sql/find_budget_report.sql"))?;
        let mut counted = Vec::new();
        for (identity, _) in report.names() {
            let params = (id.to_string(), identity.to_string(), self.now.as_millis());
            let effect_id: Option<Option<String>> = statement.query_row(params, |row| row.get(0)).optional()?;
            if let Some(effect_id) = effect_id {
                counted.push(effect_id.map(|id| parse(&id)).transpose()?);
            }
        }
        Ok(counted)
    }

    /// Writes a budget that changed, and tells what that does to its timer and generation.
    fn put_budget(&mut self, before: Option<&Budget>, budget: &Budget) -> rusqlite::Result<()> {
        if before == Some(budget) {
            return Ok(());
        }
        let (id, due_at) = (budget.id, budget::due_at(budget));
        let partition = self.shared.counts.of_budget(id);
        let params = (
            id.to_string(),
            index(partition),
            budget.namespace.as_str(),
            budget.generation,
            budget.deleted_at.is_some(),
            due_at.map(Timestamp::as_millis),
            to_stored(budget)?,
        );
        self.run(include_str!("../sql/put_budget.sql"), params)?;
        if before.is_some_and(|before| before.generation != budget.generation) {
            self.hint(Hint::Cause(Cause::Budget(id)));
        }
        if before.and_then(budget::due_at) != due_at {
            self.note_due(partition, due_at);
        }
        Ok(())
    }
}

/// What a call reads; `None`: it writes.
fn read(connection: &Connection, call: &Call, now: Timestamp) -> Option<Answered> {
    match call {
        Call::Get(id) => Some(get(connection, *id, now)),
        Call::List {
            namespace,
            after,
            limit,
        } => Some(list(
            connection,
            &Listed {
                namespace,
                after: *after,
                limit: *limit,
            },
            now,
        )),
        _ => None,
    }
}

fn load(connection: &Connection, id: BudgetId) -> rusqlite::Result<Option<Budget>> {
    let mut statement = connection.prepare_cached(include_str!("../sql/load_budget.sql"))?;
    statement
        .query_row([id.to_string()], |row| from_stored(row.get_ref(0)?.as_str()?))
        .optional()
}

fn get(connection: &Connection, id: BudgetId, now: Timestamp) -> Answered {
    let Some(budget) = load(connection, id)? else {
        return Ok(Err(budget::not_found(id)));
    };
    Ok(Ok(Answer::Budget(Box::new(budget::view(&budget, now)))))
}

struct Listed<'a> {
    namespace: &'a Namespace,
    after: Option<BudgetId>,
    limit: usize,
}

fn list(connection: &Connection, listed: &Listed<'_>, now: Timestamp) -> Answered {
    let limit = listed.limit.clamp(1, PAGE_MAX);
    let after = listed.after.map_or_else(String::new, |id| id.to_string());
    let mut statement = connection.prepare_cached(include_str!("../sql/list_budgets.sql"))?;
    let rows = statement.query_map((listed.namespace.as_str(), after, limit + 1), |row| {
        Ok(budget::view(&from_stored(row.get_ref(0)?.as_str()?)?, now))
    })?;
    let mut budgets = rows.collect::<rusqlite::Result<Vec<BudgetView>>>()?;
    let more = budgets.len() > limit;
    budgets.truncate(limit);
    let next = budgets.last().map(|last| last.budget_id).filter(|_| more);
    Ok(Ok(Answer::Page { budgets, next }))
}

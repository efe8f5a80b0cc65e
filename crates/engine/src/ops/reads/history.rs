//! What happened to an execution: get_history, list_attempts.

use ff_backend::load::{Load, Snapshot};
use ff_backend::query::{Cursor, Listing};
use ff_core::command::page::{Page, PageRequest};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::record::{Attempt, Execution, HistoryLine, HistorySubject, Record, RecordKey};

use crate::engine::Engine;

pub(crate) async fn get_history(engine: &Engine, request: On<ExecutionId, PageRequest>) -> Result<Page<HistoryLine>> {
    let On { id, command: request } = request;
    let limit = request.limit()?;
    engine.visible(&engine.read_execution(id).await?, id)?;
    let scope = format!("history/{id}");
    let after = engine.open_cursor(&request, &scope).await?;
    let of = Listing::History(HistorySubject::Execution(id));
    let mut page = engine.store().list(of, after, limit).await?;
    let next = page.next.take();
    Ok(Page {
        items: page.history(),
        next: engine.sign_cursor(next, &scope).await?,
    })
}

/// Attempts have consecutive indexes, so a page is a range of them. It is read together with the execution, on which
/// the current one stands: whatever follows which meanwhile, none is missing and none shows twice.
pub(crate) async fn list_attempts(engine: &Engine, request: On<ExecutionId, PageRequest>) -> Result<Page<Attempt>> {
    let On { id, command: request } = request;
    let limit = u32::try_from(request.limit()?).unwrap_or(u32::MAX);
    engine.check_id(id)?;
    let scope = format!("attempts/{id}");
    let first = match engine.open_cursor(&request, &scope).await? {
        None => 0,
        Some(cursor) => parse(&cursor)?,
    };
    let end = first.saturating_add(limit);
    let archived = (first..end).map(|index| RecordKey::Attempt(id, index));
    let keys: Vec<RecordKey> = archived.chain([RecordKey::Execution(id)]).collect();
    let snapshot = engine.store().load(Load::records(id.partition(), keys)).await?;
    let execution = engine.visible(&snapshot, id)?;
    let last = execution.attempt.as_ref().map(|attempt| attempt.index);
    let next = last.filter(|last| *last >= end).map(|_| Cursor(end.to_string()));
    Ok(Page {
        items: (first..end)
            .map_while(|index| last.filter(|last| index <= *last).map(|_| index))
            .filter_map(|index| attempt_in(&snapshot, execution, index).cloned())
            .collect(),
        next: engine.sign_cursor(next, &scope).await?,
    })
}

/// The attempt with this index: the one on the execution, or a record of its own.
pub(crate) fn attempt_in<'s>(snapshot: &'s Snapshot, execution: &'s Execution, index: u32) -> Option<&'s Attempt> {
    // The last attempt of a replayed execution is both.
    let current = execution.attempt.as_ref().filter(|attempt| attempt.index == index);
    current.or_else(
        || match snapshot.records.get(&RecordKey::Attempt(execution.id, index)) {
            Some((Record::Attempt(_, attempt), _)) => Some(&**attempt),
            _ => None,
        },
    )
}

fn parse(cursor: &Cursor) -> Result<u32> {
    let invalid = |_| Code::InvalidCursor.because("the cursor is not one of this listing; start without one");
    cursor.0.parse().map_err(invalid)
}

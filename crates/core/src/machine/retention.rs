//! Deleting what nobody needs any more: parts in pages, the record last.

use super::decided::{Draft, Write};
use crate::record::{Execution, RecordKey};

/// Deletes a page of what belongs to an execution (attempts, waitpoints, signals, inbound edges), and with the last page
/// the execution itself with everything kept beside it.
pub fn delete_execution(execution: &Execution, parts: &[RecordKey], last: bool) -> Draft {
    let mut draft = Draft::default();
    draft.writes.extend(parts.iter().cloned().map(Write::Delete));
    let key = RecordKey::Execution(execution.id);
    if last {
        draft.writes.push(Write::DeleteRemains(execution.id));
        draft.writes.push(Write::Delete(key));
    } else {
        draft.guard(key);
    }
    draft
}

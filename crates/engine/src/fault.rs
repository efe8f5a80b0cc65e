//! What a caller is told when the store does not answer as asked. Addresses, SQL and Lua stay in the log.

use ff_backend::Error;
use ff_backend::limits::Failed;
use ff_core::error::{Code, Rejection};

/// The refusal for a call to the store that failed.
pub(crate) fn refusal(error: &Error) -> Rejection {
    match error {
        Error::Unavailable(why) => {
            tracing::warn!(%why, "the store is unavailable");
            Code::Unavailable.because("the store is unavailable; nothing was done, try again")
        }
        Error::Unknown(why) => {
            tracing::warn!(%why, "a reply of the store was lost");
            Code::Unavailable.because("the reply of the store was lost; it is safe to try again")
        }
        Error::Corrupt(why) => internal(why),
        Error::InvalidCursor => {
            Code::InvalidCursor.because("the cursor does not belong to this listing; start without one")
        }
        Error::CursorExpired { .. } => {
            Code::CursorExpired.because("the events after this cursor are no longer kept; start from the oldest")
        }
    }
}

/// The refusal for a call about a budget or quota policy that came to nothing.
pub(crate) fn refused(failed: Failed) -> Rejection {
    match failed {
        Failed::Refused(refusal) => refusal,
        Failed::Store(error) => refusal(&error),
    }
}

/// The refusal of a process that stops.
pub(crate) fn shutting_down() -> Rejection {
    Code::ShuttingDown.because("this server is shutting down; ask another one")
}

/// The refusal for something that should not be; a person finds it in the log by the id the caller is given.
pub(crate) fn internal(why: &str) -> Rejection {
    let id = uuid::Uuid::from_u128(rand::random()).simple().to_string();
    tracing::error!(%id, %why, "something that should not be");
    Code::Internal
        .because(format!("something went wrong inside; the log has it under {id}"))
        .with("id", id)
}

//! What can go wrong between the engine and a store.

/// The answer of a backend.
pub type Result<T> = std::result::Result<T, Error>;

/// A call that was not answered as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was done; trying again may help. The text is for the log and never reaches a client.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// The call may or may not have been done: the reply was lost.
    #[error("the outcome of the call is unknown: {0}")]
    Unknown(String),
    /// The store holds something it should not; a person must look.
    #[error("the store holds something it should not: {0}")]
    Corrupt(String),
    /// The cursor is not one of this listing.
    #[error("the cursor does not belong to this listing")]
    InvalidCursor,
    /// The feed of a partition no longer reaches back to the position it was asked for, or never had it.
    #[error("the feed of {partition} does not hold this position")]
    CursorExpired {
        /// Whose feed.
        partition: ff_core::partition::Partition,
        /// The oldest position the feed still holds; `None` when it is empty.
        oldest: Option<crate::query::FeedPosition>,
    },
}

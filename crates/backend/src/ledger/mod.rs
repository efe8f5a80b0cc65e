//! The ledger: accounts as a store keeps them, and the one place where their arithmetic is written in Rust.
//!
//! A store that can run Rust inside its transaction gives [`Books`] and calls [`apply`]; one that cannot does the same in its
//! own language, and is compared with this. See [`ff_core::ledger`] for what the calls mean.

mod amend;
mod books;
mod draw;
mod give;
mod look;
mod take;

pub use books::Books;

use ff_core::ledger::{LedgerAnswer, LedgerCall};
use ff_core::time::Timestamp;

use crate::transaction::Generation;

/// The answer to one call.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerReply {
    /// The time of the account's partition, by which it was decided.
    pub now: Timestamp,
    /// The generation of that partition: in another one something that was taken may be missing.
    pub generation: Generation,
    /// What the call came to.
    pub answer: LedgerAnswer,
}

/// Does what a call says, as one step. Its accounts live in one partition: see [`LedgerCall::partition`].
pub fn apply<B: Books>(books: &mut B, call: &LedgerCall) -> Result<LedgerAnswer, B::Error> {
    match call {
        LedgerCall::Take(take) => take::take(books, take),
        LedgerCall::Draw(draw) => draw::draw(books, draw),
        LedgerCall::Give(give) => give::give(books, give),
        LedgerCall::Amend(amend) => amend::amend(books, amend),
        LedgerCall::Read(read) => look::read(books, read),
        LedgerCall::Holds(ask) => books.holds(ask).map(LedgerAnswer::Holds),
    }
}

//! Accounts: integers and moments that limit others. A store keeps them and knows no rule; what the numbers mean, which
//! bounds they have and what follows from an answer is said by [`crate::machine`].
//!
//! A number of an account is a [`Meter`]: what is *used* and what is *held*. What is held belongs to a grant and goes with it;
//! what is used stays until it is taken back or the account starts again.
//!
//! | call | what it does |
//! |---|---|
//! | [`Take`] | the first tier of entries that fits is taken whole, under a grant; else nothing |
//! | [`Draw`] | uses something, whatever the bounds say, and counts who has passed a limit |
//! | [`Give`] | a grant ends: what it holds is free again |
//! | [`Amend`] | the definition and single numbers, compared with what the caller has read |
//! | [`Read`], [`ReadHolds`] | look |
//!
//! Two names tell that something else changed. The *revision* changes with the definition: `Take` and `Draw` name the one
//! they were computed from and are refused under another. The *version* changes with every `Amend`, which compares it. `Take`,
//! `Draw` and `Give` change neither, so that no traffic starves an `Amend` and no `Amend` of a number sends callers back.
//!
//! The *generation* moves whenever something that waits may fit now: with a `Give` that gave something, a redefinition and a
//! restart. A *mark* says that work waits in a partition, and stands with the generation it was made in. Whoever marked
//! before a release began sees another generation afterwards; so nobody's work is forgotten.

mod account;
mod answer;
mod call;
mod meter;

pub use account::{AccountKey, AccountKind, AccountView, Due, Head, Hold, LastWatch, PlacesSeen, Took};
pub use answer::{LedgerAnswer, Seen};
pub use call::{
    Amend, Bound, Draw, Entry, Expected, Floor, Give, Identity, LedgerCall, Mark, Move, Moved, Number, PATH_MAX,
    PlaceEntry, Read, ReadHolds, ReadMeters, ReadPlaces, Take, TakeKind, Use, Watch,
};
pub use meter::{Meter, NUMBER_MAX, Numbers, sum};

//! How accounts are asked, and the loop that changes one.

use async_trait::async_trait;
use ff_core::error::Rejection;
use ff_core::ledger::{AccountKey, AccountKind, AccountView, Amend, LedgerAnswer, LedgerCall, Read, ReadMeters};
use ff_core::machine::{budget, quota, waiting};
use ff_core::name::Namespace;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;

use super::definitions::Definitions;
use crate::ledger::LedgerReply;
use crate::query::{Cursor, Listing, Page, Query};
use crate::tries::{Patience, Tries};
use crate::{Error, Result};

/// The accounts of a store, as whoever asks reaches them.
#[async_trait]
pub trait Accounts: Patience {
    /// Calls in one go; see [`crate::Backend::ledger`].
    async fn ask(&self, calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>>;

    /// One page of a listing.
    async fn page(&self, query: Query) -> Result<Page>;

    /// A number that nobody else gives.
    fn tag(&self) -> u64;

    /// What is known of definitions.
    fn definitions(&self) -> &Definitions;
}

/// Why nothing came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// The rules refuse it.
    Refused(Rejection),
    /// The store did not answer.
    Store(Error),
}

impl From<Rejection> for Failed {
    fn from(refusal: Rejection) -> Self {
        Failed::Refused(refusal)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Store(error)
    }
}

impl From<serde_json::Error> for Failed {
    fn from(error: serde_json::Error) -> Self {
        Failed::Store(Error::Corrupt(format!("the definition of an account: {error}")))
    }
}

/// An answer that no call of this kind has.
pub(super) fn unexpected(answer: &LedgerAnswer) -> Failed {
    Failed::Store(Error::Corrupt(format!("a call on an account was answered {answer:?}")))
}

/// The refusal for an account that is not there.
pub(super) fn not_found(account: AccountKey) -> Failed {
    Failed::Refused(match account {
        AccountKey::Budget(id) => budget::not_found(id),
        AccountKey::Quota(id) => quota::not_found(id),
    })
}

pub(super) async fn ask_one(accounts: &(impl Accounts + ?Sized), call: LedgerCall) -> Result<LedgerReply> {
    let mut replies = accounts.ask(vec![call]).await;
    let reply = replies.pop();
    reply.unwrap_or_else(|| Err(Error::Unknown("a call on an account was not answered".to_owned())))
}

/// Reads an account; `None`: it is not there.
pub(super) async fn read(
    accounts: &(impl Accounts + ?Sized),
    read: Read,
) -> std::result::Result<(Timestamp, Option<AccountView>), Failed> {
    let LedgerReply { now, answer, .. } = ask_one(accounts, LedgerCall::Read(read)).await?;
    match answer {
        LedgerAnswer::Account(view) => Ok((now, Some(*view))),
        LedgerAnswer::Absent(_) => Ok((now, None)),
        other => Err(unexpected(&other)),
    }
}

/// An account without its numbers.
pub(super) const fn bare(account: AccountKey) -> Read {
    Read {
        account,
        meters: ReadMeters::Only(Vec::new()),
        places: Vec::new(),
    }
}

/// Changes an account as it was decided from `seen`; `false`: it is another one by now, and must be decided again.
pub(super) async fn amend(
    accounts: &(impl Accounts + ?Sized),
    tries: &mut Tries,
    (seen, amend): (Option<&AccountView>, Amend),
) -> std::result::Result<bool, Failed> {
    if seen.is_some_and(|seen| amend.leaves(&seen.head)) {
        return Ok(true);
    }
    let (account, redefines) = (amend.account, amend.redefines);
    let answer = send(accounts, amend).await?;
    match answer {
        LedgerAnswer::Amended { .. } => {
            if redefines {
                accounts.definitions().forget(account);
            }
            Ok(true)
        }
        LedgerAnswer::Differs(_) => {
            tries.again(accounts).await?;
            Ok(false)
        }
        other => Err(unexpected(&other)),
    }
}

/// Changes an account whatever it is by now.
async fn amend_any(accounts: &(impl Accounts + ?Sized), amend: Amend) -> std::result::Result<(), Failed> {
    let account = amend.account;
    if amend.moves.is_empty() {
        return Ok(());
    }
    match send(accounts, amend).await? {
        LedgerAnswer::Amended { .. } => Ok(()),
        LedgerAnswer::Differs(None) => Err(not_found(account)),
        other => Err(unexpected(&other)),
    }
}

async fn send(accounts: &(impl Accounts + ?Sized), amend: Amend) -> Result<LedgerAnswer> {
    let tag = accounts.tag();
    let reply = ask_one(accounts, LedgerCall::Amend(Amend { tag, ..amend })).await?;
    Ok(reply.answer)
}

/// Work is about to wait for an account in these partitions; `true`: some of it needs no place.
pub async fn mark(
    accounts: &(impl Accounts + ?Sized),
    account: AccountKey,
    partitions: impl IntoIterator<Item = (Partition, bool)>,
) -> std::result::Result<(), Failed> {
    amend_any(accounts, waiting::mark(account, partitions)).await
}

/// The release that began with generation `round` left nothing in these partitions; `true`: nothing that needs no place.
pub async fn forget(
    accounts: &(impl Accounts + ?Sized),
    account: AccountKey,
    round: u64,
    partitions: impl IntoIterator<Item = (Partition, bool)>,
) -> std::result::Result<(), Failed> {
    amend_any(accounts, waiting::forget(account, round, partitions)).await
}

/// The generation of an account, which moves when it may admit more; `None`: it is not there.
pub async fn generation_of(
    accounts: &(impl Accounts + ?Sized),
    account: AccountKey,
) -> std::result::Result<Option<u64>, Failed> {
    let view = read(accounts, bare(account)).await?.1;
    Ok(view.map(|view| view.head.generation.cast_unsigned()))
}

/// One page of the accounts that a namespace's lists show.
pub(super) async fn listed(
    accounts: &(impl Accounts + ?Sized),
    (kind, namespace): (AccountKind, Namespace),
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<AccountKey>, Option<Cursor>)> {
    let of = Listing::Accounts { kind, namespace };
    let mut page = accounts.page(Query { of, after, limit }).await?;
    let next = page.next.take();
    Ok((page.accounts(), next))
}

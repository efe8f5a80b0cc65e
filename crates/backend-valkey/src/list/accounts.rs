//! Accounts of one kind that the lists of a namespace show, by key.

use ff_backend::codec::cursor::Cut;
use ff_backend::codec::key::escaped;
use ff_backend::query::Rows;
use ff_core::ledger::{AccountKey, AccountKind};
use ff_core::name::Namespace;
use ff_core::partition::Family;

use super::Found;
use super::reader::{Command, Reader};
use crate::error::corrupt;
use crate::keys::ACCOUNTS;
use crate::reply::{list, text};

pub(super) async fn accounts(reader: &mut Reader<'_>, kind: AccountKind, namespace: &Namespace, cut: &Cut) -> Found {
    let (family, kind) = match kind {
        AccountKind::Budget => (Family::Budget, "budget"),
        AccountKind::Quota => (Family::Quota, "quota"),
    };
    let namespace = escaped(namespace);
    let from = match cut.after::<AccountKey>()? {
        Some(account) => format!("({namespace} {account}"),
        None => format!("[{namespace} {kind}:"),
    };
    // ";" comes right after ":".
    let until = format!("({namespace} {kind};");
    let command = || Command::names(ACCOUNTS, from.clone(), until.clone()).first(cut.limit + 1);
    let partitions = reader.shared.counts.all(family);
    let mut found = Vec::new();
    for (_, reply) in reader.ask_all(partitions, command).await? {
        for member in list(reply)? {
            let (_, account) = text(&member)?
                .split_once(' ')
                .ok_or_else(|| corrupt("an account is listed without its name"))?;
            found.push(account.parse().map_err(corrupt)?);
        }
    }
    found.sort_unstable();
    let (rows, next) = cut.first(found, |account| *account);
    Ok((Rows::Accounts(rows), next))
}

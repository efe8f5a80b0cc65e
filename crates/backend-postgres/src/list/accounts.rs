//! Accounts of a namespace, by key.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::ledger::{AccountKey, AccountKind};
use ff_core::name::Namespace;

use super::{Found, one_more};
use crate::call::call;
use crate::error::corrupt;
use crate::shared::Shared;

impl Shared {
    pub(super) async fn list_accounts(&self, kind: AccountKind, namespace: &Namespace, cut: &Cut) -> Found {
        // A key begins with its kind and a colon, which the semicolon follows.
        let (first, before) = match kind {
            AccountKind::Budget => ("budget:", "budget;"),
            AccountKind::Quota => ("quota:", "quota;"),
        };
        let after = cut.after::<String>()?.unwrap_or_else(|| first.to_owned());
        let (now, answer) = self
            .ask(call!(reading list_accounts(
            own_namespace: &namespace.as_str(), after: &after, before: &before, at_most: &one_more(cut))))
            .await?;
        let found: Vec<String> = answer.get("answer")?;
        let (shown, next) = cut.first(found, Clone::clone);
        let keys = shown.iter().map(|key| key.parse().map_err(corrupt));
        let keys: Vec<AccountKey> = keys.collect::<ff_backend::Result<_>>()?;
        Ok((now, Rows::Accounts(keys), next))
    }
}

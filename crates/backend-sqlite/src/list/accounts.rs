//! Accounts of a namespace, by key.

use ff_backend::codec::cursor::Cut;
use ff_backend::query::Rows;
use ff_core::ledger::AccountKind;
use ff_core::name::Namespace;

use super::{Found, Reading};
use crate::column::parsed;
use crate::error::if_readable;
use crate::sql::{self, with};

impl Reading<'_, '_> {
    pub(super) fn list_accounts(&self, kind: AccountKind, namespace: &Namespace, cut: &Cut) -> Found {
        // A key begins with its kind and a colon, which the semicolon follows.
        let (first, before) = match kind {
            AccountKind::Budget => ("budget:", "budget;"),
            AccountKind::Quota => ("quota:", "quota;"),
        };
        let after = cut.after::<String>()?.unwrap_or_else(|| first.to_owned());
        let asked = with!(sql::LIST_ACCOUNTS, namespace: namespace.as_str(), after: after, before: before);
        let (rows, next) = self.database.rows(asked, |rows| {
            cut.page(rows.mapped(|row| Ok((row.get::<_, String>(0)?, if_readable(parsed(row, 0))?))))
        })?;
        Ok((Rows::Accounts(rows), next))
    }
}

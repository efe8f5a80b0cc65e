//! Accounts that are told something else than was asked.

use async_trait::async_trait;
use ff_backend::layer::Layer;
use ff_backend::ledger::LedgerReply;
use ff_backend::query::{Listing, Page, Query};
use ff_backend::{Backend, Result};
use ff_core::id::GrantId;
use ff_core::ledger::{Amend, Draw, Entry, LedgerCall, Take};
use ff_core::name::{IdempotencyKey, Namespace};
use ff_core::record::UsageIdentity;
use ff_core::time::Duration;
use uuid::Uuid;

use crate::liar::lies;

lies! {
    ();
    /// Answers about accounts come in another order.
    LedgerAnswersReversed,
    /// Every namespace lists the accounts of all.
    AccountsListedEverywhere,
    /// Every change sends callers back.
    RedefinesAlways,
    /// What was drawn is recognised for ever.
    DrawnForever,
    /// Every kind of identity is the same kind.
    IdentitiesMeet,
    /// A hold is forgotten when it is drawn from.
    ForgetsHolds,
    /// Nobody looks at who waits.
    MarksQuietly,
    /// Work that needs no place is thought to need one.
    PlacelessForgotten,
    /// Every grant takes a place of its own.
    PlacePerGrant,
    /// What is held is not given back.
    GivesForgotten,
}

#[async_trait]
impl Layer for Liar {
    fn inner(&self) -> &dyn Backend {
        &*self.honest
    }

    async fn ledger(&self, mut calls: Vec<LedgerCall>) -> Vec<Result<LedgerReply>> {
        for call in &mut calls {
            match call {
                LedgerCall::Amend(amend) => self.distort_amend(amend),
                LedgerCall::Draw(draw) => self.distort_draw(draw),
                LedgerCall::Take(take) => self.distort_take(take),
                LedgerCall::Give(give) if self.lie == Lie::GivesForgotten => {
                    give.grant = GrantId::from_uuid(Uuid::max());
                }
                _ => {}
            }
        }
        let mut replies = self.inner().ledger(calls).await;
        if self.lie == Lie::LedgerAnswersReversed {
            replies.reverse();
        }
        replies
    }

    async fn list(&self, mut query: Query) -> Result<Page> {
        if let (Lie::AccountsListedEverywhere, Listing::Accounts { namespace, .. }) = (self.lie, &mut query.of) {
            *namespace = Namespace::default_namespace();
        }
        self.inner().list(query).await
    }
}

impl Liar {
    fn distort_amend(&self, amend: &mut Amend) {
        match self.lie {
            Lie::RedefinesAlways => amend.redefines = true,
            Lie::AccountsListedEverywhere => {
                let shared = |listed: Option<Namespace>| listed.map(|_| Namespace::default_namespace());
                amend.listed = amend.listed.take().map(shared);
            }
            _ => {}
        }
    }

    fn distort_draw(&self, draw: &mut Draw) {
        match self.lie {
            Lie::ForgetsHolds => draw.grant = None,
            Lie::DrawnForever => {
                let identities = draw.identities.iter_mut();
                identities.for_each(|identity| identity.remembered = Duration::from_hours(24 * 365));
            }
            Lie::IdentitiesMeet => {
                let identities = draw.identities.iter_mut();
                identities.for_each(|name| name.identity = as_key(&name.identity));
            }
            _ => {}
        }
    }

    fn distort_take(&self, take: &mut Take) {
        match self.lie {
            Lie::MarksQuietly => take.mark = None,
            Lie::PlacelessForgotten => take.mark.iter_mut().for_each(|mark| mark.placeless = false),
            Lie::PlacePerGrant => {
                for entry in take.tiers.iter_mut().flatten() {
                    if let Entry::Place(place) = entry {
                        place.name = take.grant.to_string();
                    }
                }
            }
            _ => {}
        }
    }
}

fn as_key(identity: &UsageIdentity) -> UsageIdentity {
    let text = match identity {
        UsageIdentity::Key(key) => key.to_string(),
        UsageIdentity::Request(id) | UsageIdentity::Call(_, id) => id.to_string(),
        UsageIdentity::Effect(id) => id.to_string(),
    };
    UsageIdentity::Key(IdempotencyKey::parse(text).expect("a key"))
}

//! `ff quota list` and `ff quota get`.

use ff_core::command::quota::{QuotaPolicyView, QuotaState};
use ff_core::fabric::Fabric;
use ff_core::time::Timestamp;

use crate::verbs::operate::listing::Listing;
use crate::verbs::output::{Cell, Column, Details, Ink, Table};
use crate::verbs::session::Common;
use crate::verbs::which::OneQuota;
use crate::verbs::{id, when};

#[derive(clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    listing: Listing,
}

#[derive(clap::Args)]
pub(super) struct Get {
    #[command(flatten)]
    quota: OneQuota,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let ask = async |fabric: &dyn Fabric, of| fabric.list_quota_policies(of).await;
        let none = "There are no quotas. Make one with `ff quota create --rate 100 --window 1min`.";
        self.listing.print(ask, |quotas, _| table(quotas), none).await
    }
}

impl Get {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (session, id) = self.quota.open(&self.common).await?;
        let view = session.fabric.get_quota_policy(id).await?;
        session.out.one(&view, || details(&view, session.now))
    }
}

fn table(quotas: &[QuotaPolicyView]) -> Table {
    let columns = [
        Column::new("ID"),
        Column::new("STATE"),
        Column::new("STARTED"),
        Column::new("AT ONCE"),
    ];
    let mut table = Table::new(columns);
    for quota in quotas {
        let (state, ink) = state(quota.state);
        table.row([
            Cell::new(Ink::Strong, id::short(quota.quota_policy_id.uuid())),
            Cell::new(ink, state),
            rate(quota).into(),
            of(quota.in_use, quota.max_concurrent).into(),
        ]);
    }
    table
}

fn details(quota: &QuotaPolicyView, now: Timestamp) -> Details {
    let mut details = Details::default();
    details.painted(Ink::Strong, "id", quota.quota_policy_id.to_string());
    let (state, ink) = state(quota.state);
    details.painted(ink, "state", state);
    details.add("started", rate(quota));
    details.add("at once", of(quota.in_use, quota.max_concurrent));
    details.add("created", when::moment_from_now(quota.created_at, now));
    details
}

const fn state(state: QuotaState) -> (&'static str, Ink) {
    match state {
        QuotaState::Active => ("active", Ink::Good),
        QuotaState::Deleted => ("deleted", Ink::Faint),
    }
}

fn rate(quota: &QuotaPolicyView) -> String {
    match quota.max_requests_per_window {
        Some(_) => {
            let of = of(quota.requests_in_window, quota.max_requests_per_window);
            format!("{of} in {}", when::span(quota.window))
        }
        None => "no limit".to_owned(),
    }
}

fn of(taken: u64, limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("{taken} of {limit}"),
        None => format!("{taken}, no limit"),
    }
}

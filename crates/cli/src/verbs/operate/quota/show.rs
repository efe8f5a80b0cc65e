//! `ff quota list` and `ff quota get`.

use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::quota::{QuotaPolicyView, QuotaState};
use ff_core::time::Timestamp;

use crate::verbs::output::{Cell, Column, Details, Ink, Table};
use crate::verbs::paging::Limit;
use crate::verbs::session::Common;
use crate::verbs::{id, when};

#[derive(clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
pub(super) struct Get {
    /// Which: its id, or the last eight digits of its id
    quota: String,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let ask = async |page: PageRequest| {
            let namespace = session.own_namespace();
            session.fabric.list_quota_policies(ListOf { namespace, page }).await
        };
        let listed = self.limit.list(ask).await?;
        let none = "There are no quotas. Make one with `ff quota create --rate 100 --window 1min`.";
        session.out.list(&listed.items, || table(&listed.items), none)?;
        self.limit.tell_of_more(&listed);
        Ok(())
    }
}

impl Get {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let session = self.common.open().await?;
        let quota = id::quota(&session, &self.quota).await?;
        let view = session.fabric.get_quota_policy(quota).await?;
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

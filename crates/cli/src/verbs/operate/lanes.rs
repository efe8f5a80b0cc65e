//! `ff lanes`, and `ff lane pause|resume|drain|disable`.

use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::Changed;
use ff_core::command::submit::LaneState;
use ff_core::fabric::Fabric;
use ff_core::name::LaneId;
use ff_core::state::PublicState;
use ff_core::time::Timestamp;
use ff_core::view::LaneView;

use super::listing::Listing;
use crate::verbs::output::{Cell, Column, Ink, Table};
use crate::verbs::session::Common;
use crate::verbs::when;

/// List the lanes with how much is in each
#[derive(clap::Args)]
pub(crate) struct Lanes {
    #[command(flatten)]
    listing: Listing,
}

/// Say what a lane accepts and hands out
#[derive(clap::Args)]
pub(crate) struct Lane {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Accept, but hand nothing out
    Pause(Change),
    /// Accept and hand out
    Resume(Change),
    /// Hand out, but accept nothing new
    Drain(Change),
    /// Neither accept nor hand out; what runs may end
    Disable(Change),
}

#[derive(clap::Args)]
struct Change {
    /// Which lane
    lane: LaneId,
    #[command(flatten)]
    common: Common,
}

impl Lanes {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let ask = async |fabric: &dyn Fabric, of| fabric.list_lanes(of).await;
        let none = "There are no lanes: they appear with the first thing that is submitted to them.";
        self.listing.print(ask, table, none).await
    }
}

/// A row for each lane.
pub(crate) fn table(lanes: &[LaneView], now: Timestamp) -> Table {
    let columns = [
        Column::new("LANE").cut(),
        Column::new("STATE"),
        Column::number("WAITING"),
        Column::number("ACTIVE"),
        Column::number("BLOCKED"),
        Column::number("DONE").spare(),
        Column::number("FAILED").spare(),
        Column::number("PER S"),
        Column::number("OLDEST").spare(),
    ];
    let mut table = Table::new(columns);
    for lane in lanes {
        let count = |states: &[PublicState]| states.iter().filter_map(|state| lane.depth.get(state)).sum::<u64>();
        let number = |states: &[PublicState]| match count(states) {
            0 => Cell::new(Ink::Faint, "0"),
            some => some.to_string().into(),
        };
        let oldest = lane.oldest_eligible.map(|at| when::span(now.since(at)));
        let (state, ink) = state(lane.state);
        table.row([
            Cell::new(Ink::Strong, lane.lane_id.as_str()),
            Cell::new(ink, state),
            number(&[PublicState::Waiting, PublicState::Resumable]),
            number(&[PublicState::Active]),
            number(&BLOCKED),
            number(&[PublicState::Completed]),
            number(&[PublicState::Failed, PublicState::Expired]),
            format!("{:.1}", lane.throughput).into(),
            oldest.unwrap_or_default().into(),
        ]);
    }
    table
}

/// States of what waits for something else than a worker.
pub(crate) const BLOCKED: [PublicState; 4] = [
    PublicState::Delayed,
    PublicState::WaitingChildren,
    PublicState::RateLimited,
    PublicState::Suspended,
];

const fn state(state: LaneState) -> (&'static str, Ink) {
    match state {
        LaneState::Active => ("active", Ink::Good),
        LaneState::Paused => ("paused", Ink::Warning),
        LaneState::Draining => ("draining", Ink::Warning),
        LaneState::Disabled => ("disabled", Ink::Bad),
    }
}

impl Lane {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let (change, wanted, now) = match self.action {
            Action::Pause(change) => (change, LaneState::Paused, "accepts, and hands nothing out"),
            Action::Resume(change) => (change, LaneState::Active, "accepts and hands out"),
            Action::Drain(change) => (change, LaneState::Draining, "hands out, and accepts nothing new"),
            Action::Disable(change) => (change, LaneState::Disabled, "neither accepts nor hands out"),
        };
        let session = change.common.open().await?;
        let command = SetLaneState {
            namespace: session.own_namespace(),
            lane_id: change.lane.clone(),
            state: wanted,
        };
        let changed = session.fabric.set_lane_state(command).await?;
        let (lane, (state, _)) = (change.lane, state(wanted));
        let sentence = match changed {
            Changed::Now => format!("lane {lane} is {state}: it {now}"),
            Changed::Already => format!("lane {lane} was {state} before"),
        };
        session.out.done(&changed, sentence)
    }
}

//! S6: how long it takes until every member of a flow is cancelled, for small and for large flows. Once the call that asks for it has
//! answered nobody is given a member any more, which the run checks before it waits for the rest.

use std::time::{Duration, Instant};

use ff_core::command::flow::{CancelFlow, CancelProgress};
use ff_core::fabric::{Fabric, On};
use ff_core::id::FlowId;
use ff_core::record::CancelFlowPolicy;
use ff_core::state::PublicState;

use super::graph::{Shape, submit_flow};
use super::load::{LoadArguments, claim};
use super::run::{Run, RunArguments};

/// S6: how long it takes to cancel small and large flows.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Members of the flows, one flow after the other
    #[arg(long, value_delimiter = ',', default_value = "10,1000,10000")]
    members: Vec<usize>,
    /// Rounds of all of them
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// What cancelling a flow took.
struct Cancelled {
    /// Until the call answered.
    answered: Duration,
    /// Until every member was reached, without what was looked at in between.
    whole: Duration,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let what = format!("flows of {:?} members are cancelled", arguments.members);
    let run = Run::begin("s6", &arguments.run, &what).await?;
    let fabric = &*run.fabric;
    // The first flow finds everything cold.
    cancelled(fabric, 10, arguments.load).await?;
    for _ in 0..arguments.rounds {
        let mut figures = run.figures("in process");
        for members in &arguments.members {
            let took = cancelled(fabric, *members, arguments.load).await?;
            let millis = |time: Duration| time.as_secs_f64() * 1e3;
            figures = figures
                .with(format!("cancel_{members}_answered_ms"), millis(took.answered))
                .with(format!("cancel_{members}_ms"), millis(took.whole));
        }
        run.tell(&figures)?;
    }
    run.end().await;
    Ok(())
}

async fn cancelled(fabric: &dyn Fabric, members: usize, load: LoadArguments) -> anyhow::Result<Cancelled> {
    let shape = Shape {
        members,
        payload: load.payload,
        chained: false,
    };
    let (flow, _) = submit_flow(fabric, shape).await?;
    let asked = Instant::now();
    let mut progress = cancel(fabric, flow, Duration::ZERO).await?;
    let answered = asked.elapsed();
    for worker in 0..load.workers {
        let given = fabric.claim(claim(worker, load.batch, 0)?).await?;
        anyhow::ensure!(
            given.is_empty(),
            "{} members were claimed after the cancel",
            given.len()
        );
    }
    let rest = Instant::now();
    while progress != CancelProgress::Cancelled {
        progress = cancel(fabric, flow, Duration::from_secs(30)).await?;
    }
    let whole = answered + rest.elapsed();
    let states = fabric.get_flow(flow).await?.counts.states;
    anyhow::ensure!(
        states.get(&PublicState::Cancelled) == Some(&(members as u64)),
        "not every one of {members} members is cancelled: {states:?}"
    );
    Ok(Cancelled { answered, whole })
}

async fn cancel(fabric: &dyn Fabric, flow: FlowId, wait: Duration) -> anyhow::Result<CancelProgress> {
    let command = CancelFlow {
        reason: "measured".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: ff_core::time::Duration::from_secs(wait.as_secs()),
    };
    Ok(fabric.cancel_flow(On::new(flow, command)).await?.cancelled.progress)
}

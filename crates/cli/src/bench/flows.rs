//! S4: linear flows. A node may only be claimed after the one before it has ended, which the run checks for every edge.

use std::collections::HashMap;

use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use futures::future::try_join_all;

use super::graph::{Shape, submit_flow};
use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::run::{Run, RunArguments};

/// S4: linear flows, with every edge in order.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Flows to run
    #[arg(long, default_value_t = 500)]
    flows: usize,
    /// Nodes of each flow
    #[arg(long, default_value_t = 10)]
    nodes: usize,
    #[command(flatten)]
    load: LoadArguments,
    #[command(flatten)]
    run: RunArguments,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { flows, nodes, load, .. } = *arguments;
    let what = format!("{flows} linear flows of {nodes} nodes, {} workers", load.workers);
    let run = Run::begin("s4", &arguments.run, &what).await?;
    let shape = Shape {
        members: nodes,
        payload: load.payload,
        chained: true,
    };
    let work = async {
        let workers = Workers::start(std::slice::from_ref(&run.fabric), Loop::Calls, load, flows * nodes);
        let submitted = try_join_all((0..flows).map(|_| submit_flow(&*run.fabric, shape))).await?;
        anyhow::Ok((submitted, workers.completed().await?))
    };
    let ((submitted, completed), took) = run.measure(work).await?;
    let members: Vec<Vec<ExecutionId>> = submitted.into_iter().map(|(_, members)| members).collect();
    check_delivery(&members.concat(), &completed)?;
    let edges = check_order(&*run.fabric, &members).await?;
    let figures = run.figures("in process").done(flows * nodes, took.time);
    run.tell(
        &figures
            .using(took.used.each(flows * nodes))
            .with("edges_in_order", edges as f64),
    )?;
    run.end().await;
    Ok(())
}

/// Every node started at or after the end of the one before it, by the clock of their partition; how many edges that were.
async fn check_order(fabric: &dyn Fabric, flows: &[Vec<ExecutionId>]) -> anyhow::Result<usize> {
    let mut edges = 0;
    for flow in flows {
        let mut times = HashMap::new();
        for id in flow {
            let view = fabric.get_execution(*id).await?;
            times.insert(*id, (view.started_at, view.completed_at));
        }
        for pair in flow.windows(2) {
            let (ended, started) = (times[&pair[0]].1, times[&pair[1]].0);
            anyhow::ensure!(
                ended.is_some() && started >= ended,
                "{} started before {} had ended",
                pair[1],
                pair[0]
            );
            edges += 1;
        }
    }
    Ok(edges)
}

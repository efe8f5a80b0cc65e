//! S4: linear flows. A node may only be claimed after the one before it has ended, which the run checks for every edge.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ff_backend::Backend;
use ff_core::command::flow::{Assembly, CreateFlow, CreateFlowWith, FlowGraph, GraphEdge, GraphMember};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::Fabric;
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, FlowKind, Namespace};
use ff_core::payload::Payload;
use ff_core::record::{DependencyKind, Tags};
use ff_engine::Engine;
use futures::future::try_join_all;

use super::load::{LoadArguments, Loop, Workers, check_delivery};
use super::measured::{Measured, StoreArguments};
use super::output::{Beside, Figures, Output};
use crate::open;

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
    store: StoreArguments,
    #[command(flatten)]
    output: Output,
}

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured = Measured::open(&arguments.store).await?;
    let engine = open::engine(Arc::clone(&measured.backend) as Arc<dyn Backend>);
    let nodes = arguments.flows * arguments.nodes;
    let (before, started) = (measured.usage().await?, Instant::now());
    let workers = Workers::start(
        &(Arc::new(engine.clone()) as Arc<dyn Fabric>),
        Loop::Calls,
        arguments.load,
        nodes,
    );
    let graphs = (0..arguments.flows).map(|_| submit(&engine, arguments));
    let flows: Vec<Vec<ExecutionId>> = try_join_all(graphs).await?;
    let completed = workers.completed().await?;
    let took = started.elapsed().as_secs_f64();
    let used = measured.usage().await?.since(before);
    check_delivery(&flows.concat(), &completed)?;
    let edges = check_order(&engine, &flows).await?;
    engine.stop().await;
    let figures = Figures {
        scenario: "s4",
        store: &measured.name,
        way: "in process",
        tasks: nodes,
        seconds: took,
        each: used.each(nodes),
        beside: Beside::new(),
    };
    let output = arguments.output;
    output.say(format_args!(
        "S4 on {}: {} linear flows of {} nodes, {} workers",
        measured.name, arguments.flows, arguments.nodes, arguments.load.workers
    ));
    output.say(format_args!(
        "  {:.0} nodes/s, {:.0} flows/s",
        nodes as f64 / took,
        arguments.flows as f64 / took
    ));
    output.say(format_args!(
        "  all {edges} edges in order, each node delivered exactly once"
    ));
    output.say(format_args!("  per node: {}", figures.each));
    output.round(&figures)
}

async fn submit(engine: &Engine, arguments: &Arguments) -> anyhow::Result<Vec<ExecutionId>> {
    let kind = ExecutionKind::parse("bench")?;
    let submission = CreateExecution::new(kind, Payload::binary(vec![7; arguments.load.payload]));
    let member = |number: usize| GraphMember {
        key: number.to_string(),
        submission: submission.clone(),
    };
    let edge = |number: usize| GraphEdge {
        upstream: (number - 1).to_string(),
        downstream: number.to_string(),
        dependency_kind: DependencyKind::SuccessOnly,
        data_passing_ref: None,
    };
    let graph = FlowGraph {
        flow: CreateFlowWith {
            flow_id: None,
            definition: CreateFlow {
                namespace: Namespace::default_namespace(),
                flow_kind: FlowKind::parse("bench")?,
                tags: Tags::new(),
                retention: None,
                assembly: Assembly::Assembling,
            },
        },
        members: (0..arguments.nodes).map(member).collect(),
        edges: (1..arguments.nodes).map(edge).collect(),
        open: true,
    };
    Ok(engine.create_flow_graph(graph).await?.execution_ids)
}

/// Every node started at or after the end of the one before it, by the clock of their partition; how many edges that were.
async fn check_order(engine: &Engine, flows: &[Vec<ExecutionId>]) -> anyhow::Result<usize> {
    let mut edges = 0;
    for flow in flows {
        let mut times = HashMap::new();
        for id in flow {
            let view = engine.get_execution(*id).await?;
            let started = view.started_at;
            let ended = view.completed_at;
            times.insert(*id, (started, ended));
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

//! S1 through servers in processes of their own: as many as are asked for beside one, in turn.

use std::sync::Arc;
use std::time::Duration;

use ff_core::fabric::Fabric;
use ff_sdk::Remote;

use super::load::Loop;
use super::measured::Measured;
use super::server::Server;
use super::throughput::{Arguments, round};

/// Runs the scenario with one server and with `count`, and prints the figures of each.
pub(super) async fn run(measured: &Measured, arguments: &Arguments, count: usize) -> anyhow::Result<()> {
    anyhow::ensure!(
        arguments.store.store.is_some(),
        "a SQLite file belongs to one server: name a PostgreSQL or Valkey store"
    );
    // The folder is that of a file, of which there is none.
    let (_, store) = arguments.store.for_servers(std::path::Path::new("."));
    for number in 0..arguments.rounds {
        // Neither is always behind the other.
        let turns = if number % 2 == 0 { [1, count] } else { [count, 1] };
        for servers in turns {
            measure(measured, arguments, &store, servers).await?;
        }
    }
    Ok(())
}

async fn measure(measured: &Measured, arguments: &Arguments, store: &str, count: usize) -> anyhow::Result<()> {
    let (mut servers, mut fabrics) = (Vec::new(), Vec::<Arc<dyn Fabric>>::new());
    for _ in 0..count {
        let server = Server::start(store).await?;
        fabrics.push(Arc::new(Remote::connect(server.url()).open()?));
        servers.push(server);
    }
    let cpu = || servers.iter().filter_map(Server::cpu).sum::<Duration>();
    let before = cpu();
    let mut round = round(measured, &fabrics, Loop::Exchange, arguments.amount()).await?;
    let clients = round.used.cpu;
    // What the store was asked is not known here.
    (round.used.cpu, round.used.calls) = (cpu() - before, 0);
    let figures = round.figures("s1", measured, arguments.tasks, format!("servers: {count}"));
    let clients_us = clients.as_secs_f64() * 1e6 / arguments.tasks as f64;
    arguments
        .output
        .tell(&figures.with("clients_cpu_us_per_task", clients_us))?;
    for server in servers {
        server.end().await?;
    }
    Ok(())
}

//! A server in a process of its own.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::process::cpu_of;

/// How long it may take to come up or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// What it says where it listens.
const LISTENING: &str = "listening on http://";

/// A server that is ready.
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
    /// From its start until it was.
    pub(super) ready_after: Duration,
}

impl Server {
    /// Starts one on a store.
    pub(super) async fn start(store: &str) -> anyhow::Result<Self> {
        timeout(PATIENCE, Self::come_up(store))
            .await
            .context("the server was not ready in time")?
    }

    async fn come_up(store: &str) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--store", store, "--listen", "127.0.0.1:0"]);
        command.env("FF_LOG", "warn").stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start a server")?;
        let stdout = child.stdout.take().context("a server without an output")?;
        let mut lines = BufReader::new(stdout).lines();
        let address = loop {
            let line = lines.next_line().await?.context("the server ended as it started")?;
            if let Some(address) = line.strip_prefix(LISTENING) {
                break address.parse()?;
            }
        };
        // Whoever still says something is heard.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        while !is_ready(address).await? {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(Self {
            child,
            address,
            ready_after: started.elapsed(),
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// CPU time it has used.
    pub(super) fn cpu(&self) -> Option<Duration> {
        cpu_of(self.child.id()?)
    }

    /// Ends it as an operator would.
    pub(super) async fn end(mut self) -> anyhow::Result<()> {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(Pid::from_raw) {
            kill_process(id, Signal::TERM)?;
        }
        let ended = timeout(PATIENCE, self.child.wait())
            .await
            .context("the server did not end")??;
        anyhow::ensure!(ended.success(), "the server ended with {ended}");
        Ok(())
    }
}

async fn is_ready(address: SocketAddr) -> anyhow::Result<bool> {
    let mut connection = TcpStream::connect(address).await?;
    let ask = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    connection.write_all(ask.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

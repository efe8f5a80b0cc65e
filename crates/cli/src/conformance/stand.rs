//! Where a worker is tried: an engine whose time stands still, a server that may misbehave, and the worker itself.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use axum::middleware::from_fn_with_state;
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::submit::CreateExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, Namespace};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::Worker;
use ff_core::state::PublicState;
use ff_core::view::{ExecutionView, GetResult};
use ff_engine::VirtualTime;
use ff_sdk::{Client, Run, Task};
use ff_server::{Server, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::faults::{Faults, misbehave};
use super::ledger::Ledger;
use crate::process::{Ended, Process, shell};

/// How long a worker may take for anything here, by the clock on the wall.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// How long it may take to end.
const DRAIN: Duration = Duration::from_secs(40);
/// How often it is looked.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where a worker is tried.
pub(super) struct Stand {
    pub(super) time: VirtualTime,
    pub(super) client: Client,
    pub(super) faults: Faults,
    pub(super) ledger: Ledger,
    command: String,
    address: SocketAddr,
    serving: JoinHandle<()>,
    worker: tokio::sync::Mutex<Option<Process>>,
    told: Arc<Mutex<Vec<String>>>,
    round_trips: Mutex<Option<f64>>,
}

/// An execution of any kind.
#[derive(Serialize, Deserialize)]
pub(super) struct Anything {}

impl Task for Anything {
    const KIND: &'static str = "anything";
    type Output = Value;
    type Inputs = ();
}

impl Stand {
    /// A server without a worker.
    pub(super) async fn start(command: &str) -> anyhow::Result<Self> {
        let time = VirtualTime::for_server();
        let (faults, ledger) = (Faults::default(), Ledger::start().await?);
        let server = Server::with_virtual_time(time.clone(), Settings::loopback());
        let state = (faults.clone(), time.engine().clone());
        let routes = server.router().layer(from_fn_with_state(state, misbehave));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
            if let Err(error) = axum::serve(listener, routes).await {
                tracing::warn!(%error, "the server has ended");
            }
        });
        let clock = time.clone();
        Ok(Self {
            client: Client::local(time.engine().clone()).clock(move || clock.now()),
            time,
            faults,
            ledger,
            command: command.to_owned(),
            address,
            serving,
            worker: tokio::sync::Mutex::default(),
            told: Arc::default(),
            round_trips: Mutex::default(),
        })
    }

    /// Ends everything.
    pub(super) async fn end(self) {
        if let Some(worker) = self.worker.lock().await.take() {
            worker.kill().await;
        }
        self.serving.abort();
    }

    /// Starts the worker, and waits until it is registered.
    pub(super) async fn start_worker(&self) -> anyhow::Result<()> {
        let mut command = shell(&self.command);
        command
            .env("FF_URL", format!("http://{}", self.address))
            .env("FF_LEDGER", self.ledger.url())
            .env("FF_DRAIN", "at_step")
            .env("PYTHONUNBUFFERED", "1")
            .env_remove("FF_KEY");
        let told = Arc::clone(&self.told);
        let process = Process::start(command, move |line| {
            told.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(line.to_owned());
        })?;
        *self.worker.lock().await = Some(process);
        self.until("the worker does not register", async || {
            Ok(!self.workers().await?.is_empty())
        })
        .await
    }

    /// Kills the worker where it is. Its leases are over: they would never be while time stands still.
    pub(super) async fn kill_worker(&self) -> anyhow::Result<()> {
        let worker = self.worker.lock().await.take();
        worker.context("there is no worker to kill")?.kill().await;
        for worker in self.workers().await? {
            self.time.lose_worker(&worker.instance).await?;
        }
        Ok(())
    }

    /// Tells the worker to end, and waits until it has.
    pub(super) async fn drain_worker(&self) -> anyhow::Result<Ended> {
        let worker = self.worker.lock().await.take();
        Ok(worker.context("there is no worker to drain")?.end(DRAIN).await)
    }

    /// Those that are registered.
    pub(super) async fn workers(&self) -> anyhow::Result<Vec<Worker>> {
        let all = ListOf {
            namespace: Namespace::default_namespace(),
            page: PageRequest::default(),
        };
        Ok(self.client.list_workers(all).await?.items)
    }

    /// Submits something.
    pub(super) async fn submit(&self, kind: &str, input: &Value) -> anyhow::Result<ExecutionId> {
        self.submit_with(kind, Payload::json(input), &serde_json::json!({}))
            .await
    }

    /// The same with bytes and a policy.
    pub(super) async fn submit_with(&self, kind: &str, input: Payload, policy: &Value) -> anyhow::Result<ExecutionId> {
        let command = CreateExecution {
            policy: Policy::from_json(policy)?,
            ..CreateExecution::new(ExecutionKind::parse(kind)?, input)
        };
        Ok(self.client.create_execution(command).await?.execution_id())
    }

    /// The handle of an execution.
    pub(super) fn run(&self, id: ExecutionId) -> Run<Value> {
        self.client.run::<Anything>(id)
    }

    pub(super) async fn view(&self, id: ExecutionId) -> anyhow::Result<ExecutionView> {
        Ok(self.client.get_execution(id).await?)
    }

    /// Waits until it has completed, and gives its result.
    pub(super) async fn completed(&self, id: ExecutionId) -> anyhow::Result<Value> {
        let result = self.completed_bytes(id).await?;
        let text = || format!("the result is no JSON: {:?}", result.bytes);
        serde_json::from_slice(&result.bytes).with_context(text)
    }

    pub(super) async fn completed_bytes(&self, id: ExecutionId) -> anyhow::Result<Payload> {
        self.in_state(id, PublicState::Completed).await?;
        Ok(self.client.get_result(On::new(id, GetResult::default())).await?)
    }

    /// Waits until it stands so.
    pub(super) async fn in_state(&self, id: ExecutionId, state: PublicState) -> anyhow::Result<ExecutionView> {
        let began = Instant::now();
        loop {
            let view = self.view(id).await?;
            let now = view.state.public_state;
            if now == state {
                return Ok(view);
            }
            let why = view
                .failure
                .as_ref()
                .map_or_else(String::new, |failure| format!(": {}", failure.reason));
            anyhow::ensure!(
                !now.is_terminal(),
                "a {} is {now}, not {state}{why}",
                view.execution_kind
            );
            let late = began.elapsed() > PATIENCE;
            anyhow::ensure!(
                !late,
                "a {} is still {now} after {PATIENCE:?}, not {state}",
                view.execution_kind
            );
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until an effect was noted so often.
    pub(super) async fn noted(&self, id: ExecutionId, effect: &str, times: usize) -> anyhow::Result<()> {
        let what = format!("the effect {effect:?} does not come {times} times");
        self.until(&what, async || Ok(self.ledger.count(id, effect) >= times))
            .await
    }

    /// The keys of steps that are recorded.
    pub(super) async fn recorded(&self, id: ExecutionId) -> anyhow::Result<Vec<String>> {
        let steps = self.run(id).steps().await?;
        Ok(steps.iter().map(|step| step.view.key.to_string()).collect())
    }

    /// Waits until so many steps are recorded, and gives their keys.
    pub(super) async fn recorded_at_least(&self, id: ExecutionId, count: usize) -> anyhow::Result<Vec<String>> {
        let not = format!("{count} steps are not recorded");
        let recorded = self
            .until(&not, async || Ok(self.recorded(id).await?.len() >= count))
            .await;
        if recorded.is_err() {
            let state = self.view(id).await?.state.public_state;
            recorded.with_context(|| format!("the execution is {state}"))?;
        }
        self.recorded(id).await
    }

    /// Looks again and again until something holds.
    pub(super) async fn until(&self, not: &str, holds: impl AsyncFn() -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let began = Instant::now();
        while !holds().await? {
            anyhow::ensure!(began.elapsed() < PATIENCE, "{not} within {PATIENCE:?}");
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }

    /// What the worker said.
    pub(super) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn round_trips(&self) -> Option<f64> {
        *self.round_trips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note_round_trips(&self, round_trips: f64) {
        *self.round_trips.lock().unwrap_or_else(PoisonError::into_inner) = Some(round_trips);
    }
}

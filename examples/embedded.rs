//! Durable tasks inside a web application: engine, worker and server in one process, and a file beside it.
//!
//! `cargo run --example embedded`, then `curl -d '{"question":"why?"}' -H 'content-type: application/json' 127.0.0.1:3000/ask`.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::net::SocketAddr;

use axum::extract::State as App;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use ff_sdk::embedded::{self, Engine};
use ff_sdk::prelude::*;
use ff_server::Settings;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "ask", output = String, retries = 3)]
struct Ask {
    question: String,
}

/// The work, which outlives the request that asked for it and the process that began it.
async fn answer(Input(job): Input<Ask>, ctx: Ctx) -> Result<String, TaskError> {
    ctx.step("think", |_| async { Ok(format!("{} Because.", job.question)) })
        .await
}

/// A route of the application: submits, and waits a little while.
async fn ask(App(ff): App<Client>, Json(ask): Json<Ask>) -> Result<String, (StatusCode, String)> {
    let run = ff
        .submit(ask)
        .await
        .map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()))?;
    // It goes on all the same when the time is over: the message has its id.
    run.result_within(secs(20))
        .await
        .map_err(|error| (StatusCode::GATEWAY_TIMEOUT, error.to_string()))
}

/// Serves the application and works, until one of them ends.
pub async fn run(engine: Engine, listener: TcpListener) -> Result<(), Box<dyn Error>> {
    // The engine's own interface under /v1, for `ff` and for workers in other languages: for everybody on this machine.
    let interface = ff_server::router(engine.clone(), Settings::loopback());
    let app = Router::new()
        .route("/ask", post(ask))
        .with_state(Client::local(engine.clone()));
    let app = app.merge(interface).into_make_service_with_connect_info::<SocketAddr>();
    let worker = Worker::new(engine.clone()).task(answer).build()?;
    tokio::select! {
        served = axum::serve(listener, app) => served?,
        worked = worker.run() => worked?,
    }
    engine.stop().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join("flowfabric-example.db");
    let engine = embedded::open(&format!("sqlite:{}", file.display())).await?;
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("http://{} with its store in {}", listener.local_addr()?, file.display());
    run(engine, listener).await
}

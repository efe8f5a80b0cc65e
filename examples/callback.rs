//! A third party calls back: the handler hands out an address, waits up to three days for a POST to it, and goes on with what came.
//! The address is all the other side needs, and it is good for nothing else.
//!
//! `cargo run --example callback` runs a server inside this process; with `FF_URL=http://127.0.0.1:7117` it talks to another.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::future::pending;

use ff_sdk::prelude::*;
use ff_sdk::{ExecutionId, embedded};
use ff_server::{Server, Settings, serve};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "order", output = String)]
struct Order {
    article: String,
}

/// What is called back with.
#[derive(Deserialize)]
struct Payment {
    payer: String,
    cents: u32,
}

/// Instead of a payment provider: it is told where to call when somebody has paid. Told the same address twice, it is the same
/// invoice.
#[derive(Clone)]
struct Provider {
    told: mpsc::UnboundedSender<String>,
}

impl Provider {
    async fn invoice(&self, call_back: String) -> Result<(), TaskError> {
        Ok(self.told.send(call_back)?)
    }
}

/// What the provider does once somebody has paid. All it knows of us is the address.
async fn call_back(address: &str) -> reqwest::Result<u16> {
    let post = reqwest::Client::new()
        .post(address)
        .header("content-type", "application/json")
        // As webhooks do it: what has the same id is the same message, however often it is delivered.
        .header("webhook-id", "payment-1")
        .body(r#"{"payer": "Ana", "cents": 4200}"#);
    Ok(post.send().await?.status().as_u16())
}

/// Where our server is for the rest of the world.
#[derive(Clone)]
struct Public(String);

async fn order(
    Input(job): Input<Order>,
    State(provider): State<Provider>,
    State(server): State<Public>,
    ctx: Ctx,
) -> Result<String, TaskError> {
    // The same address in every attempt, and given away in a step: nobody gets two invoices because a worker died.
    let paid = ctx.callback("paid").await?;
    ctx.step("invoice", |_| async {
        provider.invoice(paid.handle()?.url(&server.0)).await
    })
    .await?;
    match paid.wait::<Payment>().timeout(days(3)).await? {
        Some(Payment { payer, cents }) => Ok(format!("{} for {payer}, who paid {cents} cents", job.article)),
        None => Err(TaskError::permanent("nobody has paid in three days")),
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Sold {
    /// The order.
    pub id: ExecutionId,
    /// What the handler gave.
    pub receipt: String,
    /// How each call was answered.
    pub answers: Vec<u16>,
}

/// Orders, and lets the provider call three times: it got no answer the first time, or so it believes.
pub async fn run(ff: Client) -> Result<Sold, Box<dyn Error>> {
    let server = ff.remote().ok_or("nobody can call an engine without a server")?;
    let server = Public(server.url().to_owned());
    let (told, mut addresses) = mpsc::unbounded_channel();
    let worker = Worker::new(ff.clone()).state(Provider { told }).state(server);
    let worker = worker.task(order).build()?;

    let sold = async {
        let article = "a lamp".to_owned();
        let run = ff.submit(Order { article }).await?;
        println!("submitted {}", run.id());
        let address = addresses.recv().await.ok_or("nobody was told where to call")?;

        let mut answers = vec![call_back(&address).await?, call_back(&address).await?];
        let receipt = run.result().await?;
        answers.push(call_back(&address).await?);
        println!("{receipt}; the calls were answered with {answers:?}");
        let id = run.id();
        Ok(Sold { id, receipt, answers })
    };
    tokio::select! {
        ended = worker.run() => Err(format!("the worker has ended: {ended:?}").into()),
        sold = sold => sold,
    }
}

/// A server for who has none: calls come over HTTP.
async fn own_server() -> Result<String, Box<dyn Error>> {
    let server = Server::new(embedded::open("memory:").await?, Settings::loopback());
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { serve(&server, listener, None, pending()).await });
    Ok(url)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let ff = match std::env::var_os("FF_URL") {
        Some(_) => Client::from_env()?,
        None => Client::connect(own_server().await?).open()?,
    };
    run(ff).await?;
    Ok(())
}

//! S7: how soon a reader has what a task puts out, with one reader and with many, beside what the store takes to answer who asks for
//! nothing; and how many connections the readers cost the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use ff_core::command::claim::Task;
use ff_core::command::stream::AppendFrame;
use ff_core::fabric::{Fabric, On};
use ff_core::frame::FrameMode;
use ff_core::name::FrameType;
use ff_core::payload::Payload;
use ff_sdk::Remote;
use ff_sdk::remote::Messages;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::load::{claim, complete};
use super::run::{Run, RunArguments};
use super::submit::{submit, task};
use super::through::served;
use super::times::Times;

/// S7: how soon a reader has what a task puts out, and what many readers cost the store.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Readers of one output at the same time, one number after the other
    #[arg(long, value_delimiter = ',', default_value = "1,1000")]
    readers: Vec<usize>,
    /// Frames that are put out
    #[arg(long, default_value_t = 200)]
    frames: usize,
    /// Between two of them, in milliseconds
    #[arg(long, default_value_t = 20)]
    pause: u64,
    /// Bytes of each
    #[arg(long, default_value_t = 256)]
    payload: usize,
    /// Rounds of all of it
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    #[command(flatten)]
    run: RunArguments,
}

/// How long it may take until everybody reads.
const PATIENCE: Duration = Duration::from_secs(60);

/// When each frame was there, in the order they came.
type Received = JoinHandle<anyhow::Result<Vec<Instant>>>;

/// Runs the scenario and prints its figures.
pub(crate) async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    crate::serve::open_many_files();
    let what = format!("{} frames, read by {:?}", arguments.frames, arguments.readers);
    let run = Run::begin("s7", &arguments.run, &what).await?;
    let server = Remote::connect(served(&run.engine).await?).open()?;
    for _ in 0..arguments.rounds {
        for readers in &arguments.readers {
            measure(&run, &server, arguments, *readers).await?;
        }
    }
    run.end().await;
    Ok(())
}

async fn measure(run: &Run, server: &Remote, arguments: &Arguments, readers: usize) -> anyhow::Result<()> {
    let task = task_to_follow(&run.fabric, arguments.payload).await?;
    let without = run.measured.connections().await?;
    let (ready, mut heard) = mpsc::unbounded_channel();
    let read = |messages| tokio::spawn(receive(messages, arguments.frames, ready.clone()));
    let reading: Vec<Received> = (0..readers)
        .map(|_| read(server.follow_output(task.execution_id, None)))
        .collect();
    for _ in 0..readers {
        let begun = timeout(PATIENCE, heard.recv()).await;
        begun.context("a reader has gone")?;
    }
    let with = run.measured.connections().await?;
    let (mut asked, mut pings) = (Vec::new(), Vec::new());
    for number in 0..arguments.frames {
        asked.push(Instant::now());
        append(&*run.fabric, &task, number, arguments.payload).await?;
        pings.extend(run.measured.ping().await?);
        tokio::time::sleep(Duration::from_millis(arguments.pause)).await;
    }
    let mut waits = Vec::new();
    for reader in reading {
        let received = reader.await??;
        waits.extend(received.iter().zip(&asked).map(|(received, asked)| *received - *asked));
    }
    complete(&*run.fabric, &task).await?;
    let waits = Times::of(waits);
    let mut figures = run.figures(format!("readers: {readers}")).times("frame", &waits);
    if !pings.is_empty() {
        let pings = Times::of(pings);
        let trips = waits.at(99).as_secs_f64() / pings.at(99).as_secs_f64();
        figures = figures.times("ping", &pings).with("frame_p99_to_ping_p99", trips);
    }
    if let Some((with, without)) = with.zip(without) {
        figures = figures.with("store_connections_more", with as f64 - without as f64);
    }
    run.tell(&figures)
}

/// A task that somebody holds.
async fn task_to_follow(fabric: &Arc<dyn Fabric>, payload: usize) -> anyhow::Result<Task> {
    submit(std::slice::from_ref(fabric), 1, 1, &task(payload)?).await?;
    let tasks = fabric.claim(claim(0, 1, 30)?).await?;
    tasks.into_iter().next().context("nothing was claimed")
}

async fn append(fabric: &dyn Fabric, task: &Task, number: usize, payload: usize) -> anyhow::Result<()> {
    let frame = AppendFrame {
        fence: Some(task.fence),
        frame_type: FrameType::parse("bench")?,
        payload: Payload::binary(vec![7; payload]),
        mode: FrameMode::Durable,
        correlation_id: Some(number.to_string()),
        request_id: None,
    };
    fabric.append_frame(On::new(task.execution_id, frame)).await?;
    Ok(())
}

/// Reads so many frames; fails unless each comes once and in its order.
async fn receive(
    mut messages: Messages,
    frames: usize,
    ready: mpsc::UnboundedSender<()>,
) -> anyhow::Result<Vec<Instant>> {
    let mut received = Vec::with_capacity(frames);
    while received.len() < frames {
        let message = messages.next().await.context("the stream ended too early")??;
        if message.event == "attempt" {
            // Whoever measures may have given up.
            let _ = ready.send(());
        }
        if message.event != "frame" {
            continue;
        }
        let frame: serde_json::Value = serde_json::from_str(&message.data)?;
        let expected = received.len().to_string();
        anyhow::ensure!(frame["correlation_id"] == expected, "not frame {expected} but {frame}");
        received.push(Instant::now());
    }
    Ok(received)
}

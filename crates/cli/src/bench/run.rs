//! A scenario that runs: a store, an engine over it, how that is reached, and where figures go.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ff_core::fabric::Fabric;
use ff_engine::Engine;
use ff_sdk::Remote;

use super::measured::{Measured, StoreArguments};
use super::output::{Figures, Output};
use super::through::served;
use super::usage::Usage;

/// What a scenario takes beside its own numbers.
#[derive(clap::Args)]
pub(super) struct RunArguments {
    /// Reach the engine through a client and a server instead of in process
    #[arg(long, value_enum)]
    through: Option<Way>,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    output: Output,
}

/// How an engine is reached that is in another process.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Way {
    /// Over sockets of this machine, in JSON
    Http,
}

/// A scenario that runs.
pub(super) struct Run {
    scenario: &'static str,
    pub(super) measured: Measured,
    pub(super) engine: Engine,
    /// The engine, as it is to be reached.
    pub(super) fabric: Arc<dyn Fabric>,
    through: Option<Way>,
    output: Output,
}

/// What something took.
pub(super) struct Took {
    pub(super) time: Duration,
    pub(super) used: Usage,
}

impl Run {
    /// Opens the store, starts an engine and says what is measured.
    pub(super) async fn begin(scenario: &'static str, arguments: &RunArguments, what: &str) -> anyhow::Result<Self> {
        let RunArguments { through, store, output } = arguments;
        let measured = Measured::open(store).await?;
        let engine = measured.engine();
        let fabric: Arc<dyn Fabric> = match through {
            Some(Way::Http) => Arc::new(Remote::connect(served(&engine).await?).open()?),
            None => Arc::new(engine.clone()),
        };
        output.say(format_args!("{scenario} on {}: {what}", measured.name));
        Ok(Self {
            scenario,
            measured,
            engine,
            fabric,
            through: *through,
            output: *output,
        })
    }

    /// Figures of one thing, called so.
    pub(super) fn figures<'a>(&'a self, what: impl Into<Cow<'a, str>>) -> Figures<'a> {
        let what = what.into();
        let way = match self.through {
            Some(Way::Http) => format!("{what}, through HTTP").into(),
            None => what,
        };
        Figures::of(self.scenario, &self.measured.name, way)
    }

    /// Says a line to people.
    pub(super) fn say(&self, text: impl std::fmt::Display) {
        self.output.say(text);
    }

    pub(super) fn tell(&self, figures: &Figures<'_>) -> anyhow::Result<()> {
        self.output.tell(figures)
    }

    /// Waits for something; what it answers, and what it took.
    pub(super) async fn measure<T>(&self, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<(T, Took)> {
        let (before, started) = (self.measured.usage().await?, Instant::now());
        let answer = work.await?;
        let time = started.elapsed();
        let used = self.measured.usage().await?.since(before);
        Ok((answer, Took { time, used }))
    }

    pub(super) async fn end(self) {
        self.engine.stop().await;
    }
}

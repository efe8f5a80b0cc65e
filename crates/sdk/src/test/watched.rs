//! The line between a test's worker and its engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use ff_core::fabric::types::*;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::{argument, outcome};
use ff_engine::Engine;
use tokio::sync::Notify;

use super::records::Records;
use super::trouble::{Losses, lost, take_back};

/// The line between one worker and the engine. It sees what is recorded; once it is cut, nothing is answered on it.
#[derive(Clone)]
pub(super) struct Watched {
    engine: Engine,
    records: Arc<Records>,
    losses: Losses,
    is_cut: Arc<AtomicBool>,
    crashed: Arc<Notify>,
}

impl Watched {
    pub(super) fn new(engine: Engine, (records, losses): (Arc<Records>, Losses), crashed: Arc<Notify>) -> Self {
        Self {
            engine,
            records,
            losses,
            is_cut: Arc::default(),
            crashed,
        }
    }

    /// Nobody hears from a worker that is dead, and it hears nothing.
    async fn unless_cut<T>(&self, said: T) -> T {
        if self.is_cut.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        said
    }

    /// What was done may not be heard of.
    fn unless_lost<T>(&self, answer: Result<T>) -> Result<T> {
        match answer {
            Ok(_) if self.losses.loses() => Err(lost()),
            answer => answer,
        }
    }

    /// Notes what an exchange recorded; the worker may be meant to die of it.
    fn note(&self, told: &Told, exchanged: &Exchanged) {
        let finished = told.finished.iter().zip(exchanged.results.iter().map(Result::is_ok));
        let steps = told.steps.iter().zip(exchanged.steps.iter().map(Result::is_ok));
        let recorded = finished.chain(steps).filter(|(_, is_ok)| *is_ok);
        let dies = recorded
            .flat_map(|(keys, _)| keys)
            .filter(|(id, key)| self.records.record(*id, key))
            .count()
            > 0;
        self.die_if(dies);
    }

    /// Notes children that were started.
    fn note_children(&self, children: &[(ExecutionId, StepKey)]) {
        let dies = children
            .iter()
            .filter(|(id, key)| self.records.record(*id, key))
            .count()
            > 0;
        self.die_if(dies);
    }

    fn die_if(&self, dies: bool) {
        if dies {
            self.is_cut.store(true, Ordering::SeqCst);
            self.crashed.notify_one();
        }
    }
}

/// The keys that an exchange would record, by item.
struct Told {
    finished: Vec<Vec<(ExecutionId, StepKey)>>,
    steps: Vec<Vec<(ExecutionId, StepKey)>>,
}

impl Told {
    fn of(exchange: &Exchange) -> Self {
        let finished = |on: &On<ExecutionId, Finish>| key_of(&on.command).map(|key| (on.id, key)).into_iter().collect();
        let steps = |on: &On<ExecutionId, RecordSteps>| {
            let keys = on.command.steps.iter().map(|step| step.key.clone());
            keys.map(|key| (on.id, key)).collect()
        };
        Self {
            finished: exchange.finished.iter().map(finished).collect(),
            steps: exchange.steps.iter().map(steps).collect(),
        }
    }
}

/// The step that an end of a lease records.
fn key_of(finish: &Finish) -> Option<StepKey> {
    match finish {
        Finish::Delay(delay) => delay.step.clone(),
        Finish::Suspend(suspend) => suspend.step.clone(),
        _ => None,
    }
}

macro_rules! watched {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Watched {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    let command = self.unless_cut(command).await;
                    let answer = call!(self, $name, command);
                    self.unless_cut(answer).await
                }
            )+)+
        }
    };
}

/// Calls an operation, and looks at what came of those that record steps.
macro_rules! call {
    ($self:ident, exchange, $command:ident) => {{
        let told = Told::of(&$command);
        let answer = $self.engine.exchange($command).await;
        if let Ok(exchanged) = &answer {
            $self.note(&told, exchanged);
        }
        match answer {
            Ok(exchanged) if $self.losses.loses() => {
                take_back(&$self.engine, &exchanged.tasks).await;
                Err(lost())
            }
            answer => answer,
        }
    }};
    ($self:ident, spawn_children, $command:ident) => {{
        let (id, children) = ($command.id, &$command.command.children);
        let told: Vec<_> = children.iter().map(|child| (id, child.step.clone())).collect();
        let answer = $self.engine.spawn_children($command).await;
        if answer.is_ok() {
            $self.note_children(&told);
        }
        $self.unless_lost(answer)
    }};
    ($self:ident, $name:ident, $command:ident) => {
        $self.unless_lost($self.engine.$name($command).await)
    };
}

ff_core::operations!(watched);

//! Somebody who calls the fabric through whichever replica is there, and calls again when nobody answers.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use ff_core::command::budget::Reported;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Fabric, Result};
use futures::future::BoxFuture;

use super::board::Board;
use super::policies::DEDUP_WINDOW_MIN;
use super::replicas::{Replicas, Sees};
use super::told::Told;
use crate::invariants::{SentReport, Violation};
use crate::luck::Luck;
use crate::stage::Stage;
use crate::tally::Operation;

/// Tries of one call before its caller gives up.
const TRIES: u32 = 6;
/// Calls in which the caller repeats what was answered well: one in this many.
const REPEATED_ONE_IN: u64 = 8;

/// How a command is sent to a fabric.
pub(crate) type Sending<C, T> = fn(Arc<dyn Fabric>, C) -> BoxFuture<'static, Result<T>>;

/// A worker, a client or an operator.
#[derive(Clone)]
pub(crate) struct Actor {
    pub(crate) name: Arc<str>,
    pub(crate) stage: Stage,
    pub(crate) luck: Luck,
    pub(crate) replicas: Arc<Replicas>,
    pub(crate) board: Arc<Board>,
    pub(crate) sees: Sees,
}

/// What became of a call.
pub(crate) enum Heard<T> {
    /// It was answered.
    Told(T),
    /// It was refused.
    Refused(Rejection),
    /// Nobody answered, however often it was tried; it may have been done.
    Nothing,
}

impl<T> Heard<T> {
    /// The answer, if there is one.
    pub(crate) fn told(self) -> Option<T> {
        match self {
            Heard::Told(answer) => Some(answer),
            Heard::Refused(_) | Heard::Nothing => None,
        }
    }
}

/// Calls an operation: `call!(actor, complete, command)`.
macro_rules! call {
    ($actor:expr, $operation:ident, $command:expr) => {
        $actor.ask(stringify!($operation), $command, |fabric, command| {
            Box::pin(async move { fabric.$operation(command).await })
        })
    };
}

/// The same for a call that has an identity: now and then it is repeated, and must have acted once.
macro_rules! call_once {
    ($actor:expr, $operation:ident, $command:expr) => {
        $actor.ask_once(stringify!($operation), $command, |fabric, command| {
            Box::pin(async move { fabric.$operation(command).await })
        })
    };
}

pub(crate) use {call, call_once};

impl Actor {
    /// Calls until somebody answers.
    pub(crate) async fn ask<C, T>(&self, operation: Operation, command: C, send: Sending<C, T>) -> Heard<T>
    where
        C: Clone + Debug + Send + 'static,
        T: Told + Debug + Send + 'static,
    {
        let name = &self.name;
        for try_number in 0..TRIES {
            self.stage.tally().steps += 1;
            self.stage.trace.note(|| format!("{name} → {operation} {command:?}"));
            let answer = self.replicas.call((&self.luck, self.sees), command.clone(), send).await;
            self.stage
                .trace
                .note(|| format!("{name} ← {operation} {}", describe(&answer)));
            match answer {
                Some(Ok(told)) => {
                    self.stage.tally().accept(operation, told.outcome());
                    return Heard::Told(told);
                }
                Some(Err(rejection)) => {
                    self.stage.tally().refuse(operation, rejection.code);
                    if rejection.code == Code::Internal {
                        self.complain("nothing goes wrong inside", format!("{operation}: {rejection}"));
                    }
                    if !rejection.code.retryable() {
                        return Heard::Refused(rejection);
                    }
                }
                None => self.stage.tally().unanswered += 1,
            }
            self.pause(10 << try_number.min(8), 200 << try_number.min(8)).await;
        }
        Heard::Nothing
    }

    /// Calls, and now and then calls again in the same way: the second answer must say that the call acted once.
    pub(crate) async fn ask_once<C, T>(&self, operation: Operation, command: C, send: Sending<C, T>) -> Heard<T>
    where
        C: Clone + Debug + Send + 'static,
        T: Told + Debug + Send + 'static,
    {
        let failovers = self.stage.watch.failovers();
        let known_until = self.stage.watch.now() + DEDUP_WINDOW_MIN;
        let heard = self.ask(operation, command.clone(), send).await;
        let Heard::Told(first) = heard else { return heard };
        if self.luck.one_in(REPEATED_ONE_IN) {
            if self.luck.flip() {
                self.pause(0, 2_000).await;
            }
            if let Heard::Told(second) = self.ask(operation, command.clone(), send).await {
                // A store that forgot the first call, or need not know of it any more, did the second one for the first time.
                let watch = &self.stage.watch;
                let forgotten = watch.failovers() > failovers || known_until.has_come(watch.now());
                if forgotten || first.agrees(&second) {
                    self.stage.tally().repeats += 1;
                } else {
                    let detail = format!("{operation} {command:?}: first {first:?}, then {second:?}");
                    self.complain("a repeated call acts once", detail);
                }
            }
        }
        Heard::Told(first)
    }

    /// Was told what came of a usage report; `failovers`: how many there had been when it was sent.
    pub(crate) fn reported(&self, report: SentReport, reported: &Reported, failovers: u64) {
        let forgotten = self.stage.watch.failovers() > failovers;
        if *reported != Reported::Gone && !forgotten {
            self.stage.watch.reported(report);
        }
    }

    /// Does nothing for a while, in milliseconds.
    pub(crate) async fn pause(&self, at_least: u64, at_most: u64) {
        let millis = self.luck.between(at_least, at_most);
        self.stage.executor.sleep(Duration::from_millis(millis)).await;
    }

    /// Something did not hold that this actor saw.
    pub(crate) fn complain(&self, invariant: &'static str, detail: String) {
        self.stage.watch.report(Violation { invariant, detail });
    }
}

fn describe<T: Debug>(answer: &Option<Result<T>>) -> String {
    match answer {
        Some(Ok(told)) => format!("{told:?}"),
        Some(Err(rejection)) => format!("refused: {}", rejection.code),
        None => "nothing".to_owned(),
    }
}

//! The loop of a worker: the one place that talks to the engine about its leases.
//!
//! One call for new tasks is parked at a time, or when there is no room for any, one that waits to be told what is to stop;
//! beside it go calls that wait for nothing: renewals, and what tasks say. Of one
//! task only one thing is on its way, so that everything arrives in order; what comes meanwhile goes with the next call.
//!
//! | where | what |
//! |---|---|
//! | `held` | a lease, and what its task wants to be said |
//! | `claim` | new tasks, and their start |
//! | `report` | what tasks say: steps, output, ends |
//! | `gathering` | output and progress, which wait a moment for company |
//! | `progress` | how far tasks are, where no step takes it along |
//! | `batch` | what fits into one call, and whose answer is whose |
//! | `renew` | keeping leases, and noticing that they are lost |
//! | `drain` | the end |
//! | `connection` | whether the engine answers |

mod batch;
mod claim;
mod connection;
mod drain;
mod gathering;
mod held;
mod progress;
mod renew;
mod report;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ff_core::command::claim::{Exchange, Exchanged, IssuedGrant, Task};
use ff_core::command::steps::ProgressNote;
use ff_core::command::worker::WorkerLoad;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Result;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::batch::Batch;
use self::connection::Connection;
use self::drain::Draining;
use self::held::Held;
use super::backoff::Backoff;
use super::lease::Said;
use super::shared::Shared;

/// How long a call that waits for nothing may take before it is sent again: long for the engine, short for a lease.
const CALL_PATIENCE: Duration = Duration::from_secs(10);

/// What a worker is told to do.
pub(super) enum Order {
    /// Run nothing new, and end when what runs has ended.
    Drain,
    /// Drop what runs, give it back and end.
    Abandon,
    /// End as if the process had died: nobody is told anything.
    #[cfg(feature = "test")]
    Crash,
    /// Run the execution of a grant.
    Take(Box<IssuedGrant>, oneshot::Sender<Result<TookOrNot>>),
}

/// What became of a grant.
pub(super) enum TookOrNot {
    Took,
    AtCapacity,
}

/// What came of a call.
enum Done {
    Reported(Batch, Instant, Result<Exchanged>),
    Renewed(Vec<u64>, Instant, Result<Exchanged>),
    Noted(u64, ProgressNote, Result<()>),
    Took(Result<Box<Task>>, oneshot::Sender<Result<TookOrNot>>),
}

/// A call that waits at the engine.
type Parked = BoxFuture<'static, Result<Exchanged>>;

enum Event {
    Order(Order),
    Said(Said),
    Done(Done),
    Claimed(Result<Exchanged>),
    Moment,
}

pub(super) struct Loop {
    shared: Arc<Shared>,
    /// Where handlers run.
    runtime: Handle,
    orders: mpsc::UnboundedReceiver<Order>,
    inbox: mpsc::UnboundedReceiver<Said>,
    to_loop: mpsc::UnboundedSender<Said>,
    held: HashMap<u64, Held>,
    /// Leases that have something to say, in the order in which they said so.
    talkative: VecDeque<u64>,
    last_number: u64,
    /// Tasks that were handed out before there is room for them.
    waiting: VecDeque<(u64, Task)>,
    /// Grants that are being redeemed.
    taking: usize,
    claiming: Option<Parked>,
    /// Stays parked when there is room again: a call that is dropped costs a connection.
    listening: Option<Parked>,
    claim_not_before: Option<Instant>,
    claim_backoff: Backoff,
    under_way: FuturesUnordered<BoxFuture<'static, Done>>,
    reports_under_way: usize,
    notes_under_way: usize,
    renewals_under_way: usize,
    connection: Connection,
    draining: Option<Draining>,
    /// Why the worker cannot go on.
    refused: Option<Rejection>,
    /// An operator's wish was told.
    told_of_drain: bool,
    has_crashed: bool,
}

impl Loop {
    pub(super) fn new(shared: Arc<Shared>, runtime: Handle, orders: mpsc::UnboundedReceiver<Order>) -> Self {
        let (to_loop, inbox) = mpsc::unbounded_channel();
        Self {
            shared,
            runtime,
            orders,
            inbox,
            to_loop,
            held: HashMap::new(),
            talkative: VecDeque::new(),
            last_number: 0,
            waiting: VecDeque::new(),
            taking: 0,
            claiming: None,
            listening: None,
            claim_not_before: None,
            claim_backoff: Backoff::of_calls(),
            under_way: FuturesUnordered::new(),
            reports_under_way: 0,
            notes_under_way: 0,
            renewals_under_way: 0,
            connection: Connection::default(),
            draining: None,
            refused: None,
            told_of_drain: false,
            has_crashed: false,
        }
    }

    /// Registers, works until it is told to end, and takes its leave.
    pub(super) async fn run(mut self) -> Result<()> {
        self.register().await?;
        while !self.has_ended() {
            self.look_at_the_clock();
            self.renew_what_is_due();
            self.report_what_is_said();
            self.claim_what_fits();
            self.listen();
            let event = self.next_event().await;
            self.handle(event);
            // Everything that is there by now goes with the same call.
            while let Ok(said) = self.inbox.try_recv() {
                self.hear(said);
            }
        }
        if !self.has_crashed {
            self.take_leave().await;
        }
        self.refused.map_or(Ok(()), Err)
    }

    async fn next_event(&mut self) -> Event {
        let moment = self.next_moment();
        let Self {
            orders,
            inbox,
            under_way,
            claiming,
            listening,
            ..
        } = self;
        tokio::select! {
            Some(order) = orders.recv() => Event::Order(order),
            Some(said) = inbox.recv() => Event::Said(said),
            Some(done) = under_way.next() => Event::Done(done),
            claimed = answered(claiming) => Event::Claimed(claimed),
            told = answered(listening) => Event::Claimed(told),
            () = come(moment) => Event::Moment,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Order(order) => self.obey(order),
            Event::Said(said) => self.hear(said),
            Event::Done(Done::Reported(batch, sent, answer)) => self.reported(batch, sent, answer),
            Event::Done(Done::Renewed(numbers, sent, answer)) => self.renewed(&numbers, sent, answer),
            Event::Done(Done::Noted(number, note, answer)) => self.noted(number, note, answer),
            Event::Done(Done::Took(task, answer)) => self.took(task, answer),
            Event::Claimed(answer) => self.claimed(answer),
            Event::Moment => {}
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Drain => self.drain(),
            Order::Abandon => self.abandon(),
            #[cfg(feature = "test")]
            Order::Crash => self.crash(),
            Order::Take(grant, answer) => self.take(*grant, answer),
        }
    }

    /// The earliest moment at which something has to be done without anybody saying so.
    fn next_moment(&self) -> Option<Instant> {
        let can_renew = self.can_renew();
        let of_leases = self.held.values().filter_map(|held| held.next_moment(can_renew));
        let of_draining = self.draining.as_ref().and_then(Draining::next_moment);
        of_leases.chain(of_draining).chain(self.claim_not_before).min()
    }

    /// An exchange that says nothing yet.
    fn exchange(&self) -> Exchange {
        let shared = &self.shared;
        let running = u32::try_from(self.running()).unwrap_or(u32::MAX);
        Exchange {
            namespace: shared.identity.namespace.clone(),
            worker: shared.identity.worker.clone(),
            instance: shared.identity.instance.clone(),
            incarnation: shared.identity.incarnation,
            finished: Vec::new(),
            renew: Vec::new(),
            steps: Vec::new(),
            frames: Vec::new(),
            usage: Vec::new(),
            want: None,
            load: WorkerLoad {
                slots: u32::try_from(shared.concurrency).ok(),
                running: Some(running),
                version: shared.version.clone(),
            },
            wait: ff_core::time::Duration::ZERO,
            request_id: None,
        }
    }

    /// Sends an exchange that waits for nothing.
    fn send(&self, exchange: Exchange) -> impl Future<Output = Result<Exchanged>> + use<> {
        let fabric = Arc::clone(&self.shared.fabric);
        async move { in_time(CALL_PATIENCE, fabric.exchange(exchange)).await }
    }
}

/// An answer, or that there is none in time.
async fn in_time<T>(patience: Duration, call: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Err(Code::Unavailable.because(format!("no answer within {} s", patience.as_secs())));
    tokio::time::timeout(patience, call).await.unwrap_or_else(late)
}

async fn answered(parked: &mut Option<Parked>) -> Result<Exchanged> {
    let Some(call) = parked else {
        return std::future::pending().await;
    };
    let answer = call.await;
    *parked = None;
    answer
}

async fn come(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

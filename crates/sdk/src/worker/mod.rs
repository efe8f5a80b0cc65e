//! Workers: processes that run tasks.
//!
//! | where | what |
//! |---|---|
//! | `builder` | what a worker is told, and whether it can do it |
//! | `exchange/` | its loop, which alone talks to the engine about leases |
//! | `thread` | where the loops run: a handler that blocks its thread costs nobody a lease |
//! | `attempt` | one task, from its claim until it is let go |
//! | `drive`, `finish` | a handler's run, and what the engine is told of it |
//! | `lease`, `output` | a task's way to the loop, and the room for what it puts out |
//! | `registry` | handlers by kind, and their limits |
//! | `layer` | what runs around handlers |

mod attempt;
mod backoff;
mod builder;
mod clock;
mod drain;
mod drive;
mod exchange;
mod finish;
mod instance;
mod journal;
mod layer;
mod lease;
mod output;
mod registry;
mod shared;
mod shutdown;
pub(crate) mod thread;

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ff_core::command::claim::IssuedGrant;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::Fabric;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinError, JoinHandle};

use self::exchange::{Loop, Order, TookOrNot};
use self::shared::Shared;
use crate::client::Client;

pub(crate) use self::attempt::codec_failed;
pub(crate) use self::backoff::Backoff;
pub use self::builder::{BuildError, WorkerBuilder};
pub(crate) use self::clock::StoreClock;
pub use self::drain::{Drain, DrainThen};
pub use self::layer::{Layer, Next, from_fn};
pub(crate) use self::lease::{Lease, is_lost};
pub use self::shared::UnknownKind;

/// A process that runs tasks. Clones are the same worker.
///
/// ```no_run
/// use ff_sdk::{Client, Input, Task, Worker};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # struct Hello { name: String }
/// # impl Task for Hello { const KIND: &'static str = "hello"; type Output = String; type Inputs = (); }
///
/// async fn hello(Input(job): Input<Hello>) -> String {
///     format!("hello {}", job.name)
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let ff = Client::connect("http://127.0.0.1:7117").open()?;
/// Worker::new(ff).name("web").concurrency(32).task(hello).build()?.run().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Worker {
    shared: Arc<Shared>,
    orders: Orders,
}

/// Why a worker ended that was not told to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// Another process lives under the same instance.
    #[error(
        "another process lives as worker instance {instance:?}: give each process its own .instance(…), or none, or wait until the \
         other one is gone ({refusal})"
    )]
    InstanceTaken {
        /// The instance.
        instance: String,
        /// What the engine said.
        refusal: Rejection,
    },
    /// The engine hands out nothing to this worker.
    #[error("the engine refuses this worker: {0}")]
    Refused(#[source] Rejection),
    /// It runs already.
    #[error("this worker runs already")]
    RunsAlready,
    /// The system gives no thread.
    #[error("the worker's own thread cannot be started: {0}")]
    NoThread(#[source] std::io::Error),
    /// The loop has panicked.
    #[error("the worker's loop has ended by a panic; that is a mistake in this library")]
    Broken,
}

/// Why a grant was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// There is no room: the grant is as good as before.
    #[error("the worker runs as many tasks as it can; the grant was not touched")]
    AtCapacity,
    /// The worker does not run.
    #[error("the worker does not run: a grant is taken while it does; the grant was not touched")]
    NotRunning,
    /// The engine refuses the grant.
    #[error("the grant cannot be redeemed: {0}")]
    Refused(#[from] Rejection),
}

impl Worker {
    /// A worker of the engine in this process, or of the server behind a client.
    #[expect(clippy::new_ret_no_self, reason = "a worker is described before it is built")]
    pub fn new<F: Fabric + Clone + 'static>(fabric: F) -> WorkerBuilder {
        // A client stays the one it is, with its tenant and its codec.
        let client = (&fabric as &dyn Any).downcast_ref::<Client>().cloned();
        WorkerBuilder::new(client.unwrap_or_else(|| Client::local(fabric)))
    }

    fn of(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            orders: Orders::default(),
        }
    }

    /// What this process is called.
    pub fn instance(&self) -> &str {
        self.shared.identity.instance.as_str()
    }

    /// Works until the process is told to end (SIGTERM or SIGINT), then drains. A second signal drops what still runs.
    ///
    /// Handlers run on the runtime of the caller.
    pub fn run(&self) -> impl Future<Output = Result<(), WorkerError>> + Send + use<> {
        let worker = self.clone();
        async move { worker.until_told().await }
    }

    async fn until_told(&self) -> Result<(), WorkerError> {
        let mut signals = shutdown::signals().map_err(WorkerError::NoThread)?;
        let mut running = self.start()?;
        let mut order = Order::Drain;
        loop {
            tokio::select! {
                ended = running.ended() => return self.told(ended),
                Some(()) = signals.recv() => running.orders.send(std::mem::replace(&mut order, Order::Abandon)),
            }
        }
    }

    /// Works until `end` completes, then drains. Dropped, it drops what runs and gives the tasks back.
    ///
    /// Handlers run on the runtime of the caller.
    pub fn run_until<E>(&self, end: E) -> impl Future<Output = Result<(), WorkerError>> + use<E>
    where
        E: Future<Output = ()>,
    {
        let worker = self.clone();
        async move { worker.until(end).await }
    }

    async fn until(&self, end: impl Future<Output = ()>) -> Result<(), WorkerError> {
        let mut running = self.start()?;
        tokio::select! {
            ended = running.ended() => return self.told(ended),
            () = end => running.orders.send(Order::Drain),
        }
        let ended = running.ended().await;
        self.told(ended)
    }

    /// Runs the execution of a claim or reclaim grant that somebody else asked for, for this worker and instance. It returns as
    /// soon as the task has begun, and leaves the grant untouched where there is no room.
    pub async fn take(&self, grant: IssuedGrant) -> Result<(), TakeError> {
        let (answer, answered) = oneshot::channel();
        self.orders.send(Order::Take(Box::new(grant), answer));
        match answered.await {
            Ok(Ok(TookOrNot::Took)) => Ok(()),
            Ok(Ok(TookOrNot::AtCapacity)) => Err(TakeError::AtCapacity),
            Ok(Err(refusal)) => Err(TakeError::Refused(refusal)),
            Err(_) => Err(TakeError::NotRunning),
        }
    }

    /// Ends as if the process had died: handlers are dropped, and nobody is told anything.
    #[cfg(feature = "test")]
    pub(crate) fn crash(&self) {
        self.orders.send(Order::Crash);
    }

    /// The lanes it takes work from.
    #[cfg(feature = "test")]
    pub(crate) fn lanes(&self) -> &[ff_core::name::LaneId] {
        &self.shared.lanes
    }

    fn start(&self) -> Result<Running, WorkerError> {
        let runtime = thread::runtime().map_err(WorkerError::NoThread)?;
        let ordered = self.orders.open().ok_or(WorkerError::RunsAlready)?;
        let work = Loop::new(Arc::clone(&self.shared), Handle::current(), ordered).run();
        Ok(Running {
            orders: self.orders.clone(),
            work: runtime.spawn(work),
        })
    }

    fn told(&self, ended: Result<ff_core::fabric::Result<()>, JoinError>) -> Result<(), WorkerError> {
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(refusal)) if refusal.code == Code::DuplicateWorkerInstance => Err(WorkerError::InstanceTaken {
                instance: self.instance().to_owned(),
                refusal,
            }),
            Ok(Err(refusal)) => Err(WorkerError::Refused(refusal)),
            Err(_) => Err(WorkerError::Broken),
        }
    }
}

/// The way to a worker's loop, while it runs.
#[derive(Clone, Default)]
struct Orders(Arc<Mutex<Option<mpsc::UnboundedSender<Order>>>>);

impl Orders {
    /// Opens it, unless it is open.
    fn open(&self) -> Option<mpsc::UnboundedReceiver<Order>> {
        let mut sender = self.sender();
        if sender.is_some() {
            return None;
        }
        let (orders, ordered) = mpsc::unbounded_channel();
        *sender = Some(orders);
        Some(ordered)
    }

    /// Without a loop the order is dropped, and whoever waits for its answer learns that.
    fn send(&self, order: Order) {
        if let Some(orders) = &*self.sender() {
            let _ = orders.send(order);
        }
    }

    fn sender(&self) -> MutexGuard<'_, Option<mpsc::UnboundedSender<Order>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A loop that runs. Nobody listens to a worker whose run was dropped: it gives back what it has.
struct Running {
    orders: Orders,
    work: JoinHandle<ff_core::fabric::Result<()>>,
}

impl Running {
    async fn ended(&mut self) -> Result<ff_core::fabric::Result<()>, JoinError> {
        (&mut self.work).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.orders.send(Order::Abandon);
        *self.orders.sender() = None;
    }
}

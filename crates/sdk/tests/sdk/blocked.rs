//! Handlers that block the threads they run on: nobody loses a lease for that.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::{Duration, Instant};

use ff_sdk::{Client, Fabric, Input, State, Task, Worker, embedded};
use ff_server::{Server, Settings, serve};
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use crate::shaky::Shaky;
use crate::working::{Door, Hello, Working};

const LEASE: Duration = Duration::from_secs(1);
/// Tasks that run beside those that block.
const OTHERS: usize = 8;

#[derive(Serialize, Deserialize, Task)]
#[task(kind = "blocking", output = ())]
struct Blocking {}

/// Blocks threads until somebody lets them go.
#[derive(Clone)]
struct Blocker {
    has_begun: mpsc::Sender<()>,
    is_free: Arc<(Mutex<bool>, Condvar)>,
}

async fn blocking(_: Input<Blocking>, State(blocker): State<Blocker>) {
    blocker.has_begun.send(()).unwrap();
    let (is_free, freed) = &*blocker.is_free;
    drop(freed.wait_while(is_free.lock().unwrap(), |is_free| !*is_free).unwrap());
}

async fn slow(_: Input<Hello>, State((door, begun)): State<(Door, Arc<AtomicUsize>)>) -> String {
    begun.fetch_add(1, Ordering::SeqCst);
    door.pass().await;
    String::new()
}

/// Lets the blocked go once all threads are, and leases were renewed for longer than two of them last.
fn let_go_later(threads: usize, told: mpsc::Receiver<()>) -> Blocker {
    let (has_begun, begun) = mpsc::channel();
    let blocker = Blocker {
        has_begun,
        is_free: Arc::default(),
    };
    let is_free = Arc::clone(&blocker.is_free);
    std::thread::spawn(move || {
        (0..threads).for_each(|_| begun.recv().unwrap());
        let blocked_since = Instant::now();
        while blocked_since.elapsed() < LEASE * 5 / 2 {
            // Without an exchange for so long all would be lost; let the handlers go, so that the test sees it.
            let _ = told.recv_timeout(LEASE);
        }
        *is_free.0.lock().unwrap() = true;
        is_free.1.notify_all();
    });
    blocker
}

fn runtime(threads: usize) -> Runtime {
    let mut builder = match threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(threads).enable_all().build().unwrap()
}

/// Blocks all threads of the runtime this is called on while others run. A worker has connections of its own, so it is given
/// a fabric of its own.
async fn block_all(threads: usize, client: Client, of_worker: impl Fabric + 'static) {
    let (shaky, told) = Shaky::new(of_worker);
    let (door, begun) = (Door::default(), Arc::new(AtomicUsize::new(0)));
    let builder = Worker::new(shaky)
        .lease(LEASE)
        .state(let_go_later(threads, told))
        .state((door.clone(), Arc::clone(&begun)));
    let working = Working::new(&builder.task(slow).task(blocking).build().unwrap());
    let mut others = Vec::new();
    for _ in 0..OTHERS {
        others.push(client.submit(Hello::ana()).await.unwrap());
        door.reached().await;
    }
    let mut blocked = Vec::new();
    for _ in 0..threads {
        blocked.push(client.submit(Blocking {}).await.unwrap());
    }
    for run in blocked {
        run.result().await.unwrap();
    }
    for run in others {
        door.open();
        run.result().await.unwrap();
    }
    assert_eq!(begun.load(Ordering::SeqCst), OTHERS, "each has begun once");
    working.end().await.unwrap();
}

/// The address of a server on a thread of its own.
fn served_elsewhere() -> String {
    let (told, telling) = mpsc::channel();
    std::thread::spawn(move || {
        runtime(1).block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            told.send(format!("http://{}", listener.local_addr().unwrap())).unwrap();
            let engine = embedded::open("memory:").await.unwrap();
            let server = Server::new(engine, Settings::loopback());
            serve(&server, listener, None, std::future::pending()).await;
        });
    });
    telling.recv().unwrap()
}

#[test]
fn who_blocks_every_thread_loses_nobody_a_lease_at_a_server() {
    for threads in [1, 2] {
        let url = served_elsewhere();
        let client = || Client::connect(&url).open().unwrap();
        runtime(threads).block_on(block_all(threads, client(), client()));
    }
}

#[test]
fn who_blocks_every_thread_loses_nobody_a_lease_at_an_engine_in_the_same_process() {
    for threads in [1, 2] {
        runtime(threads).block_on(async {
            let engine = embedded::open("memory:").await.unwrap();
            block_all(threads, Client::local(engine.clone()), engine.clone()).await;
            engine.stop().await;
        });
    }
}

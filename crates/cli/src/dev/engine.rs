//! What `ff dev` runs on.

use ff_engine::{Engine, VirtualTime};
use ff_server::{Server, Settings};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::failure::{Class, Failure};
use crate::open::{self, Address};

/// An engine, and what serves it.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    server: Server,
}

/// A server that serves until it is stopped.
pub(crate) struct Serving {
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Opened {
    /// Serves it.
    pub(crate) fn serve(self, listener: TcpListener) -> Serving {
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            // Whoever could say so is gone too when this fails.
            let stopped = async { _ = stopped.await };
            ff_server::serve(&self.server, listener, None, stopped).await;
        });
        Serving { stop, served }
    }
}

impl Serving {
    /// Ends it, with what is under way.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        drop(self.stop);
        Ok(self.served.await?)
    }
}

/// Opens the store and starts the engine; with a clock that only tests move, if that was asked for.
pub(crate) async fn open(store: &Address, virtual_clock: bool) -> anyhow::Result<Opened> {
    if virtual_clock {
        return with_virtual_clock(store);
    }
    let opened = open::open(store, &open::Options::default()).await?;
    let engine = open::engine(opened.store, opened.counts);
    let server = Server::new(engine.clone(), Settings::loopback());
    Ok(Opened { engine, server })
}

/// Times in the future would stay in a store that outlives this process.
fn with_virtual_clock(store: &Address) -> anyhow::Result<Opened> {
    if *store != Address::Memory {
        let failure = Failure::new(
            Class::Other,
            "--virtual-clock is for a store in memory only: a test that moves time moves it for good",
        );
        return Err(failure.advise("Say --memory, too.").into());
    }
    let time = VirtualTime::for_server();
    let engine = time.engine().clone();
    let server = Server::with_virtual_time(time, Settings::loopback());
    Ok(Opened { engine, server })
}

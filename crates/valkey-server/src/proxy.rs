//! A connection that fails on demand.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// A TCP proxy on loopback in front of a server; dropping it closes everything.
///
/// New connections are accepted at any time, also right after a cut: what is tested is a client that comes back.
pub struct Proxy {
    port: u16,
    faults: Arc<Faults>,
    accepting: JoinHandle<()>,
}

/// What goes wrong, shared by all connections.
struct Faults {
    /// Counts the cuts; a connection ends when the count changes.
    cuts: watch::Sender<u64>,
    stalled: watch::Sender<bool>,
    /// How many more bytes of replies pass before a cut; `None` when all do.
    reply_bytes_left: Mutex<Option<usize>>,
}

impl Proxy {
    /// Starts a proxy in front of a port on loopback; it runs on the current runtime.
    ///
    /// # Panics
    ///
    /// When there is no free port.
    pub async fn start(target_port: u16) -> Proxy {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("could not open a port for a proxy");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let faults = Arc::new(Faults {
            cuts: watch::Sender::new(0),
            stalled: watch::Sender::new(false),
            reply_bytes_left: Mutex::new(None),
        });
        let accepting = tokio::spawn(accept(listener, target_port, Arc::clone(&faults)));
        Proxy {
            port,
            faults,
            accepting,
        }
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where clients connect; for a server with a password see [`crate::Server::url_at`].
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// Closes all connections at once.
    pub fn cut(&self) {
        self.faults.cut();
    }

    /// Lets this many more bytes of replies pass, counted over all connections, and cuts in place of the next one.
    ///
    /// With zero the next command is executed and its reply is lost.
    pub fn cut_replies_after(&self, bytes: usize) {
        *self.faults.reply_bytes_left() = Some(bytes);
    }

    /// How often connections were cut.
    pub fn cuts(&self) -> u64 {
        *self.faults.cuts.borrow()
    }

    /// Holds everything back, in both directions.
    pub fn stall(&self) {
        self.faults.stalled.send_replace(true);
    }

    /// Lets everything go on, first what was held back.
    pub fn resume(&self) {
        self.faults.stalled.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Faults {
    fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }

    fn reply_bytes_left(&self) -> std::sync::MutexGuard<'_, Option<usize>> {
        self.reply_bytes_left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of these bytes may pass. Whoever gets less than it asked for must cut.
    fn allowed(&self, bytes: usize) -> usize {
        let mut left = self.reply_bytes_left();
        match *left {
            None => bytes,
            Some(rest) if rest >= bytes => {
                *left = Some(rest - bytes);
                bytes
            }
            Some(rest) => {
                *left = None;
                rest
            }
        }
    }

    async fn flowing(&self) {
        // The sender is `self`: it cannot be gone.
        let _ = self.stalled.subscribe().wait_for(|stalled| !stalled).await;
    }
}

async fn accept(listener: TcpListener, target_port: u16, faults: Arc<Faults>) {
    // Ends with this task, and all connections with it.
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(connect(client, target_port, Arc::clone(&faults)));
        while connections.try_join_next().is_some() {}
    }
}

/// Carries one connection until either side or a cut ends it; both sockets close with this function.
async fn connect(client: TcpStream, target_port: u16, faults: Arc<Faults>) {
    let mut cut = faults.cuts.subscribe();
    let carry = async {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, target_port)).await?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::select! {
            ended = carry_commands(from_client, to_server, &faults) => ended,
            ended = carry_replies(from_server, to_client, &faults) => ended,
        }
    };
    tokio::select! {
        // How a connection ended is for the client to find out.
        _ = carry => {}
        _ = cut.changed() => {}
    }
}

async fn carry_commands(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: &Faults) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        faults.flowing().await;
        to.write_all(&buffer[..length]).await?;
    }
}

async fn carry_replies(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: &Faults) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = from.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        faults.flowing().await;
        let allowed = faults.allowed(length);
        to.write_all(&buffer[..allowed]).await?;
        if allowed < length {
            faults.cut();
            return Ok(());
        }
    }
}

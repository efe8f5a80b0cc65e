//! The typed client: what programs submit, wait for and watch with, near or far.

mod clock;
#[cfg(feature = "client")]
mod connect;
mod delegate;
mod values;

use std::fmt;
use std::sync::Arc;

use ff_core::command::lease::Holder;
use ff_core::fabric::Fabric;
use ff_core::name::Namespace;

use self::clock::Clock;
use crate::codec::{Codec, Json};
use crate::error::Result;
#[cfg(feature = "client")]
use crate::remote::Remote;

pub(crate) use self::clock::timestamp;
#[cfg(feature = "client")]
pub use self::connect::Connect;

/// FlowFabric as programs use it: over an engine in the same process, or a server far away. Cheap to clone.
///
/// It is a [`Fabric`] too: every operation of the engine can be called on it as it is.
///
/// ```no_run
/// # async fn example() -> ff_sdk::Result<()> {
/// use ff_sdk::Client;
///
/// let ff = Client::connect("http://127.0.0.1:7117").key("k-1").open()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    fabric: Arc<dyn Fabric>,
    shared: Arc<Shared>,
}

/// What clones and derived clients have in common.
#[derive(Clone)]
struct Shared {
    namespace: Namespace,
    codec: Arc<dyn Codec>,
    clock: Clock,
    #[cfg(feature = "client")]
    remote: Option<connect::Server>,
}

impl Client {
    /// A client of the engine in this process, or of anything else that is a fabric.
    pub fn local(fabric: impl Fabric + 'static) -> Self {
        Self::over(Arc::new(fabric))
    }

    /// The same for a fabric that is shared already.
    pub fn over(fabric: Arc<dyn Fabric>) -> Self {
        Self {
            fabric,
            shared: Arc::new(Shared {
                namespace: Namespace::default_namespace(),
                codec: Arc::new(Json),
                clock: Clock::default(),
                #[cfg(feature = "client")]
                remote: None,
            }),
        }
    }

    /// A client of the server at `url`, as in `http://127.0.0.1:7117`. Nothing is sent before the first call, which asks the
    /// server what it is.
    #[cfg(feature = "client")]
    pub fn connect(url: impl Into<String>) -> Connect {
        Connect::new(url)
    }

    /// The same client for another tenant; `default` unless said.
    pub fn namespace(&self, namespace: impl AsRef<str>) -> Result<Self> {
        let namespace = Namespace::parse(namespace)?;
        Ok(self.with(|shared| shared.namespace = namespace))
    }

    /// The same client with another codec: what it submits and reads goes through it.
    #[must_use]
    pub fn codec(&self, codec: impl Codec) -> Self {
        self.shared_codec(Arc::new(codec))
    }

    fn shared_codec(&self, codec: Arc<dyn Codec>) -> Self {
        self.with(|shared| shared.codec = codec)
    }

    /// The fabric behind it.
    pub fn fabric(&self) -> Arc<dyn Fabric> {
        Arc::clone(&self.fabric)
    }

    /// The same client, whose calls show the lease of a task: what its holder may do besides, they may. An engine in the same
    /// process needs no such proof.
    #[must_use]
    pub fn holding(&self, lease: Holder) -> Self {
        #[cfg(feature = "client")]
        if let Some(remote) = self.remote() {
            return Self {
                fabric: Arc::new(remote.holding(lease)),
                shared: Arc::clone(&self.shared),
            };
        }
        #[cfg(not(feature = "client"))]
        let _ = lease;
        self.clone()
    }

    /// The same client over another fabric.
    #[cfg(feature = "test")]
    pub(crate) fn at(&self, fabric: impl Fabric + 'static) -> Self {
        Self {
            fabric: Arc::new(fabric),
            shared: Arc::clone(&self.shared),
        }
    }

    /// The connection to the server, where there is one.
    #[cfg(feature = "client")]
    pub fn remote(&self) -> Option<&Remote> {
        self.shared.remote.as_ref().map(connect::Server::remote)
    }

    fn with(&self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Shared::clone(&self.shared);
        change(&mut shared);
        Self {
            fabric: Arc::clone(&self.fabric),
            shared: Arc::new(shared),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Client");
        #[cfg(feature = "client")]
        if let Some(remote) = self.remote() {
            debug.field("remote", remote);
        }
        debug.field("namespace", &self.shared.namespace).finish_non_exhaustive()
    }
}

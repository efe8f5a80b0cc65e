//! A client of a server: how it is opened, and what it has learnt of the server.

use std::sync::Arc;
use std::time::SystemTime;

use ff_core::time::Timestamp;
use ff_core::view::ServerInfo;
use tokio::sync::OnceCell;

use super::Client;
use super::clock::timestamp;
use crate::codec::{Codec, Json};
use crate::error::{Error, Result};
use crate::remote::{self, Greeting, Remote};

/// Where a server of this machine listens unless told otherwise.
const URL: &str = "http://127.0.0.1:7117";
/// The interface this client speaks: the first number of its version.
const API_MAJOR: &str = "1";

/// A client that is being described.
#[must_use = "open it"]
pub struct Connect {
    remote: remote::Connect,
    namespace: Option<String>,
    codec: Arc<dyn Codec>,
}

impl Connect {
    pub(super) fn new(url: impl Into<String>) -> Self {
        Self {
            remote: Remote::connect(url),
            namespace: None,
            codec: Arc::new(Json),
        }
    }

    /// As the variables of a process say.
    fn told_by(variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name| variable(name).filter(|value| !value.is_empty());
        let connect = Self::new(given("FF_URL").unwrap_or_else(|| URL.to_owned()));
        match given("FF_KEY") {
            Some(key) => connect.key(key),
            None => connect,
        }
    }

    /// Calls are made with this key.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.remote = self.remote.key(key);
        self
    }

    /// Servers whose certificates this one signed are trusted besides those the system trusts; PEM.
    pub fn root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.remote = self.remote.root_certificate(pem);
        self
    }

    /// A call that gets no answer is sent this many times at most, at least once; 5 unless given.
    pub fn tries(mut self, tries: usize) -> Self {
        self.remote = self.remote.tries(tries);
        self
    }

    /// The tenant whose things it submits and lists; `default` unless given. A key bound to a tenant wants its name here.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// What is submitted and read goes through this codec.
    pub fn codec(mut self, codec: impl Codec) -> Self {
        self.codec = Arc::new(codec);
        self
    }

    /// The client. Refuses an address, a key or a tenant that cannot be one; whether there is a server shows with the first call.
    pub fn open(self) -> Result<Client> {
        let remote = self.remote.open()?;
        let client = Client::over(Arc::new(remote.clone()));
        let client = client.with(|shared| shared.remote = Some(Server::new(remote)));
        let client = client.shared_codec(self.codec);
        match self.namespace {
            Some(namespace) => client.namespace(namespace),
            None => Ok(client),
        }
    }
}

/// A server, and what it said about itself when it was asked.
#[derive(Clone)]
pub(super) struct Server {
    remote: Remote,
    known: Arc<OnceCell<Known>>,
}

struct Known {
    greeting: Greeting,
    /// When it said so, by our clock.
    at: Timestamp,
}

impl Server {
    fn new(remote: Remote) -> Self {
        Self {
            remote,
            known: Arc::default(),
        }
    }

    pub(super) const fn remote(&self) -> &Remote {
        &self.remote
    }

    /// What the server says first, asked once.
    async fn known(&self) -> Result<&Known> {
        let ask = || async {
            let greeting = self.remote.greeting().await?;
            self.check(&greeting)?;
            let at = timestamp(SystemTime::now());
            Ok(Known { greeting, at })
        };
        self.known.get_or_try_init(ask).await
    }

    /// Refuses to talk to a server of another time: every call would fail in a way of its own.
    fn check(&self, greeting: &Greeting) -> Result<()> {
        let major = greeting.api.split('.').next().unwrap_or_default();
        if major == API_MAJOR {
            return Ok(());
        }
        let is_older = major.parse().is_ok_and(|major: u32| major < 1);
        Err(Error::OtherServer {
            url: self.remote.url().to_owned(),
            theirs: greeting.version.clone(),
            own: env!("CARGO_PKG_VERSION"),
            api: greeting.api.clone(),
            now_what: if is_older {
                "upgrade the server"
            } else {
                "upgrade ff-sdk"
            },
        })
    }

    /// Whether tests move its time.
    async fn has_virtual_clock(&self) -> Result<bool> {
        Ok(self.known().await?.greeting.clock == "virtual")
    }

    /// The store's time: what the server said, and what has passed since. A clock that a test moves is asked every time.
    pub(super) async fn now(&self) -> Result<Timestamp> {
        let known = self.known().await?;
        if self.has_virtual_clock().await? {
            return Ok(self.remote.greeting().await?.server_time);
        }
        let passed = timestamp(SystemTime::now()).since(known.at);
        Ok(known.greeting.server_time + passed)
    }
}

impl Client {
    /// A client of the server that the environment names: its address in `FF_URL`, `http://127.0.0.1:7117` unless given, and in
    /// `FF_KEY` the key to show, if any.
    pub fn from_env() -> Result<Self> {
        Connect::told_by(|name| std::env::var(name).ok()).open()
    }

    /// What the server is, can do and takes; `None` for an engine in this process.
    pub async fn server_info(&self) -> Result<Option<ServerInfo>> {
        match self.remote() {
            Some(remote) => Ok(Some(remote.info().await?)),
            None => Ok(None),
        }
    }

    /// Whether the server's time is moved by tests. A server that does not say so has a real clock.
    pub(crate) async fn has_virtual_clock(&self) -> bool {
        match &self.shared.remote {
            Some(server) => server.has_virtual_clock().await.unwrap_or(false),
            None => false,
        }
    }

    /// Asks the server what it is before something is sent to it; only the first call takes time.
    pub(crate) async fn check_server(&self) -> Result<()> {
        if let Some(server) = &self.shared.remote {
            server.known().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_server_and_key_and_nothing_has_to_be_said() {
        let told = |url: &'static str, key: &'static str| {
            let connect = Connect::told_by(|name| match name {
                "FF_URL" => Some(url.to_owned()),
                "FF_KEY" => Some(key.to_owned()),
                _ => None,
            });
            connect.open()
        };
        let url = |client: Client| client.remote().unwrap().url().to_owned();
        assert_eq!(url(told("http://ff.example:1", "k-1").unwrap()), "http://ff.example:1");
        assert_eq!(url(told("", "").unwrap()), URL);
        assert_eq!(url(Connect::told_by(|_| None).open().unwrap()), URL);
        assert!(told("", "no\nkey").is_err(), "the key is looked at");
    }
}

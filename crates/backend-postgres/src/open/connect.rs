//! Where the server is, and connections to it.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;
use crate::hints::Listener;

/// How long a connection may take to be made, and one that is free to be had.
const PATIENCE: Duration = Duration::from_secs(5);
/// A connection that is silent for this long is tried: a vanished machine says nothing.
const KEEPALIVE: Duration = Duration::from_secs(15);
/// What plans are made of: statements find what they want by their keys, however small a table was when the plan was made. And who stands
/// still in the middle of a large answer keeps its transaction open, which holds back all events: the server waits five seconds for it.
const SETTINGS: &str = "-c application_name=flowfabric -c jit=off -c plan_cache_mode=force_generic_plan \
    -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c enable_bitmapscan=off -c tcp_user_timeout=5000";

/// A call needs some megabytes of memory, which glibc gives back to the kernel after each: every page of it is then a fault once more, a tenth
/// of all the server does. Once something larger was given back it keeps what is smaller. It is made of long pieces and measured in bytes:
/// letter by letter that takes longer than opening the connection.
const KEEP_MEMORY: &str = "SELECT octet_length(repeat(repeat('-', 8192), 512))";

/// Where the server is and how one logs in there. It never prints itself: it knows passwords.
#[derive(Clone)]
pub(crate) struct Address {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Address {
    /// The server a text names. No message repeats any part of it.
    pub(super) fn parse(url: &str) -> Result<Self, OpenError> {
        let invalid = |error: tokio_postgres::Error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            OpenError::Address(source.unwrap_or_else(|| error.to_string()))
        };
        let mut config: Config = url.parse().map_err(invalid)?;
        if config.get_hosts().is_empty() {
            return Err(OpenError::Address("it names no host".to_owned()));
        }
        let options = config
            .get_options()
            .map_or_else(|| SETTINGS.to_owned(), |own| format!("{SETTINGS} {own}"));
        config
            .options(options)
            .connect_timeout(PATIENCE)
            .keepalives_idle(KEEPALIVE)
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self { config, tls: tls() })
    }

    /// A connection of its own.
    pub(super) async fn connect(&self) -> Result<Client, OpenError> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL has ended");
            }
        });
        Ok(client)
    }

    /// A connection that notifications come in on.
    pub(crate) async fn listener(&self) -> Result<Listener, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        Listener::start(client, connection).await
    }

    /// Connections that calls share, made as they are needed.
    pub(super) fn pool(&self, connections_max: usize) -> Result<Pool, OpenError> {
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(
            self.config.clone(),
            self.tls.clone(),
            ManagerConfig { recycling_method },
        );
        let pool = Pool::builder(manager)
            .max_size(connections_max.max(1))
            .runtime(Runtime::Tokio1)
            .post_create(Hook::async_fn(|client, _| {
                Box::pin(async move { client.batch_execute(KEEP_MEMORY).await.map_err(HookError::Backend) })
            }))
            .timeouts(Timeouts {
                wait: Some(PATIENCE),
                create: Some(PATIENCE),
                recycle: Some(PATIENCE),
            });
        pool.build().map_err(|error| OpenError::Address(error.to_string()))
    }
}

/// Certificates are checked against those the system trusts, or those in the file that `SSL_CERT_FILE` names.
fn tls() -> MakeRustlsConnect {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider knows the versions of this library");
    MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth())
}

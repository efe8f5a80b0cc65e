//! An engine over the store that an address names.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use ff_backend::Backend;
use ff_backend::memory::MemoryBackend;
use ff_backend_postgres::PostgresBackend;
use ff_backend_sqlite::{Durability, Problem, SqliteBackend};
use ff_backend_valkey::ValkeyBackend;
use ff_core::partition::{Family, PartitionCounts};
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use serde::{Deserialize, Serialize};

/// What the addresses of Valkey begin with.
const VALKEY: [&str; 5] = ["valkey", "valkeys", "valkey-cluster", "redis", "rediss"];
/// What the address of a PostgreSQL database begins with.
const POSTGRES: [&str; 2] = ["postgres", "postgresql"];
/// What the address of a SQLite file may begin with.
const SQLITE: &str = "sqlite:";
/// The address of a store that forgets everything when the process ends.
const MEMORY: &str = "memory:";
/// How fine its clock is.
const MEMORY_TICK: Duration = Duration::from_millis(2);

/// Where a store is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(into = "String", from = "String")]
#[schemars(with = "String")]
pub(crate) enum Address {
    /// This process.
    Memory,
    /// A SQLite file.
    File(PathBuf),
    /// A Valkey server, or some nodes of a cluster.
    Valkey(Nodes),
    /// A PostgreSQL database.
    Postgres(Nodes),
    /// Nothing we know, and why. It is refused when it is opened: whoever reads arguments and files repeats what they do not
    /// understand, with the password that is in it.
    Unknown(String),
}

/// What the address of a Valkey cluster begins with.
const CLUSTER: &str = "valkey-cluster://";
/// Partitions for executions of a new cluster. They are spread over its primaries, and there can never be more of them.
const CLUSTER_FLOW_PARTITIONS: u16 = 1_024;

impl Address {
    /// How many partitions a new store there has unless somebody says otherwise.
    fn usual_counts(&self) -> anyhow::Result<PartitionCounts> {
        let is_cluster = matches!(self, Self::Valkey(nodes) if nodes.iter().any(|node| node.starts_with(CLUSTER)));
        let usual = Partitions {
            flow: is_cluster.then_some(CLUSTER_FLOW_PARTITIONS),
            ..Partitions::default()
        };
        usual.or(PartitionCounts::default())
    }
}

/// Addresses of servers, with their passwords.
#[derive(Clone, PartialEq)]
pub(crate) struct Nodes(Vec<String>);

impl std::ops::Deref for Nodes {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl std::fmt::Debug for Nodes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Nodes")
    }
}

impl From<String> for Address {
    fn from(text: String) -> Self {
        if text == MEMORY {
            return Self::Memory;
        }
        if let Some(path) = text.strip_prefix(SQLITE) {
            return Self::File(path.strip_prefix("//").unwrap_or(path).into());
        }
        match text.split_once("://").map(|(scheme, _)| scheme) {
            None => Self::File(text.into()),
            Some(scheme) if VALKEY.contains(&scheme) => {
                Self::Valkey(Nodes(text.split(',').map(str::to_owned).collect()))
            }
            // Several hosts stand in one address.
            Some(scheme) if POSTGRES.contains(&scheme) => Self::Postgres(Nodes(vec![text])),
            Some(scheme) => Self::Unknown(format!(
                "{scheme:?} is no kind of store; use sqlite:PATH, postgres://USER@HOST/DATABASE, valkey://HOST:PORT, valkeys://…, \
                 valkey-cluster://… or memory:"
            )),
        }
    }
}

impl FromStr for Address {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.to_owned().into())
    }
}

/// As it is given, without user and password.
impl From<Address> for String {
    fn from(address: Address) -> Self {
        match address {
            Address::Memory => MEMORY.to_owned(),
            Address::File(path) => format!("{SQLITE}{}", path.display()),
            Address::Valkey(nodes) | Address::Postgres(nodes) => {
                let shown: Vec<_> = nodes.0.iter().map(|url| without_login(url)).collect();
                shown.join(",")
            }
            Address::Unknown(_) => "?://".to_owned(),
        }
    }
}

fn without_login(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split_once(['?', '#']).map_or(place, |(place, _)| place);
    format!("{scheme}://{place}")
}

/// An address may carry a password: what is shown names the kind of store, and the file.
impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => f.write_str("this process: it forgets everything when it ends"),
            Self::File(path) => write!(f, "{} (SQLite)", path.display()),
            Self::Valkey(_) => f.write_str("Valkey"),
            Self::Postgres(_) => f.write_str("PostgreSQL"),
            Self::Unknown(why) => f.write_str(why),
        }
    }
}

/// Partitions of each family as somebody wants them. What is left open is what the store has, or what suits a new one.
#[derive(Clone, Copy, Default)]
pub(crate) struct Partitions {
    pub(crate) flow: Option<u16>,
    pub(crate) budget: Option<u16>,
    pub(crate) quota: Option<u16>,
}

impl Partitions {
    fn or(self, usual: PartitionCounts) -> anyhow::Result<PartitionCounts> {
        let count = |wanted: Option<u16>, family| wanted.unwrap_or_else(|| usual.count(family));
        Ok(PartitionCounts::new(
            count(self.flow, Family::Flow),
            count(self.budget, Family::Budget),
            count(self.quota, Family::Quota),
        )?)
    }
}

/// How a store is opened.
pub(crate) struct Options {
    pub(crate) partitions: Partitions,
    pub(crate) durability: Durability,
    /// Events kept per partition; absent: as many as suit the kind of store.
    pub(crate) feed_lines_max: Option<u32>,
    /// Connections to PostgreSQL that calls share.
    pub(crate) postgres_connections_max: usize,
    /// How long a store that cannot be reached is tried.
    pub(crate) patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            partitions: Partitions::default(),
            durability: Durability::Full,
            feed_lines_max: None,
            postgres_connections_max: ff_backend_postgres::CONNECTIONS_MAX,
            patience: Duration::from_secs(60),
        }
    }
}

/// A store that is open, and what it says about itself.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Backend>,
    pub(crate) counts: PartitionCounts,
    pub(crate) about: String,
}

/// The store at `address`, created when it is not there.
pub(crate) async fn open(address: &Address, options: &Options) -> anyhow::Result<Opened> {
    let counts = options.partitions.or(address.usual_counts()?)?;
    let refused = match open_with(address, options, counts).await {
        Err(refused) => refused,
        opened => return opened,
    };
    match stored_counts(&refused).map(|stored| options.partitions.or(stored)) {
        // It was made with others, which nobody has spoken against.
        Some(Ok(stored)) if stored != counts => open_with(address, options, stored).await,
        _ => Err(refused),
    }
}

/// What a store was made with that could not be opened for that reason.
fn stored_counts(refused: &anyhow::Error) -> Option<PartitionCounts> {
    let sqlite = |refused: &ff_backend_sqlite::OpenError| match &refused.problem {
        Problem::Counts(mismatch) => Some(mismatch.stored),
        _ => None,
    };
    match (refused.downcast_ref(), refused.downcast_ref()) {
        (Some(ff_backend_valkey::OpenError::Counts(mismatch)), _)
        | (_, Some(ff_backend_postgres::OpenError::Counts(mismatch))) => Some(mismatch.stored),
        _ => refused.downcast_ref().and_then(sqlite),
    }
}

async fn open_with(address: &Address, options: &Options, counts: PartitionCounts) -> anyhow::Result<Opened> {
    let (store, about): (Arc<dyn Backend>, String) = match address {
        Address::Unknown(why) => anyhow::bail!("{why}"),
        Address::Memory => (
            memory(counts),
            "memory: everything is forgotten when this process ends".to_owned(),
        ),
        Address::File(path) => {
            let mut given = ff_backend_sqlite::Options {
                durability: options.durability,
                counts,
                ..ff_backend_sqlite::Options::new(path)
            };
            given.feed_lines_max = options
                .feed_lines_max
                .map_or(given.feed_lines_max, |lines| lines as usize);
            let store = sqlite_with(path, &given)?;
            let about = format!("{} in {}", store.about(), path.display());
            (store, about)
        }
        Address::Valkey(nodes) => {
            let mut given = ff_backend_valkey::Options {
                urls: nodes.0.clone(),
                counts,
                patience: options.patience,
                ..ff_backend_valkey::Options::new("")
            };
            given.feed_lines_max = options.feed_lines_max.unwrap_or(given.feed_lines_max);
            let store = ValkeyBackend::open(&given).await?;
            let about = store.about().await?;
            (Arc::new(store), about)
        }
        Address::Postgres(nodes) => {
            let given = ff_backend_postgres::Options {
                counts,
                ..postgres_options(nodes, options)
            };
            let store = PostgresBackend::open(&given).await?;
            let about = store.about().await?;
            (Arc::new(store), about)
        }
    };
    Ok(Opened { store, counts, about })
}

/// How a PostgreSQL database is opened.
pub(crate) fn postgres_options(nodes: &Nodes, options: &Options) -> ff_backend_postgres::Options {
    ff_backend_postgres::Options {
        connections_max: options.postgres_connections_max,
        patience: options.patience,
        ..ff_backend_postgres::Options::new(nodes.0.concat())
    }
}

/// A store in this process. It has no clock of its own: the process lends it its own.
fn memory(counts: PartitionCounts) -> Arc<MemoryBackend> {
    let since_1970 = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(millis(since_1970)), counts));
    let (lent, start) = (Arc::downgrade(&store), tokio::time::Instant::now());
    tokio::spawn(async move {
        let (mut ticks, mut told) = (tokio::time::interval(MEMORY_TICK), 0);
        while let Some(store) = lent.upgrade() {
            let elapsed = millis(start.elapsed());
            store.advance(ff_core::time::Duration::from_millis(elapsed - told));
            told = elapsed;
            drop(store);
            ticks.tick().await;
        }
    });
    store
}

/// The SQLite store at `path`.
pub(crate) fn sqlite(path: &Path, durability: Durability) -> anyhow::Result<Arc<SqliteBackend>> {
    let options = ff_backend_sqlite::Options {
        durability,
        ..ff_backend_sqlite::Options::new(path)
    };
    sqlite_with(path, &options)
}

fn sqlite_with(path: &Path, options: &ff_backend_sqlite::Options) -> anyhow::Result<Arc<SqliteBackend>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    Ok(Arc::new(SqliteBackend::open(options)?))
}

/// An engine over `store`, running, with everything else as it is by default.
pub(crate) fn engine(store: Arc<dyn Backend>, counts: PartitionCounts) -> Engine {
    engine_with(store, Config::new(counts))
}

/// An engine over `store`, running.
pub(crate) fn engine_with(store: Arc<dyn Backend>, config: Config) -> Engine {
    let engine = Engine::new(store, Arc::new(TokioHost::new()), config);
    engine.start();
    engine
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(partitions: u16) -> Options {
        Options {
            partitions: Partitions {
                flow: Some(partitions),
                ..Partitions::default()
            },
            ..Options::default()
        }
    }

    #[tokio::test]
    async fn a_store_keeps_the_partitions_it_was_made_with_whoever_says_nothing_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let address = Address::File(folder.path().join("ff.db"));
        let made = open(&address, &flow(7)).await.unwrap();
        assert_eq!(made.counts, PartitionCounts::new(7, 32, 32).unwrap());
        drop(made);
        assert_eq!(
            open(&address, &Options::default())
                .await
                .unwrap()
                .counts
                .count(Family::Flow),
            7
        );
        let refused = open(&address, &flow(256)).await.err().unwrap().to_string();
        assert!(refused.contains("flow 7") && refused.contains("flow 256"), "{refused}");
        assert!(open(&address, &flow(0)).await.is_err());
    }

    #[test]
    fn a_new_cluster_has_more_partitions() {
        let flow = |text: &str| {
            let counts = Address::from(text.to_owned()).usual_counts().unwrap();
            counts.count(Family::Flow)
        };
        assert_eq!(flow("valkey-cluster://a,valkey-cluster://b"), 1_024);
        assert_eq!(
            (flow("valkey://a"), flow("a.db"), flow("postgres://a/d")),
            (256, 256, 256)
        );
    }

    #[test]
    fn a_store_is_named_by_an_address() {
        let parsed = |text: &str| Address::from(text.to_owned());
        assert_eq!(parsed("memory:"), Address::Memory);
        for file in ["sqlite:a/b.db", "sqlite://a/b.db", "a/b.db"] {
            assert_eq!(parsed(file), Address::File("a/b.db".into()));
        }
        for valkey in [
            "valkey://h",
            "valkeys://h",
            "valkey-cluster://a,valkey-cluster://b",
            "rediss://h",
        ] {
            assert!(matches!(parsed(valkey), Address::Valkey(_)), "{valkey}");
        }
        for postgres in [
            "postgres://me:hunter2@h/d",
            "postgresql://me:hunter2@a,b/d?sslmode=require",
        ] {
            let address = parsed(postgres);
            assert!(matches!(address, Address::Postgres(_)), "{postgres}");
            assert!(!String::from(address).contains("hunter2"));
        }
        let refused = parsed("mysql://:hunter2@h").to_string();
        assert!(refused.contains("mysql") && !refused.contains("hunter2"), "{refused}");
    }
}

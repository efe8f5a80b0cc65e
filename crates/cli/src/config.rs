//! What a server can be told: by flags, by the environment, by a file, in this order of strength. Every setting is one entry of
//! the table below, from which all three ways, `--print-config` and `docs/reference/config.md` are made.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::{Args as _, FromArgMatches as _, ValueEnum};
use ff_core::limits::{PAYLOAD_BYTES_DEFAULT, STEP_OUTPUT_BYTES_DEFAULT, STEPS_DEFAULT};
use ff_core::partition::PartitionCounts;
use ff_server::Settings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::open::Address;

/// Read when no other file is named, if it is there.
const FILE: &str = "ff.toml";

/// A setting that is there, or may be absent.
macro_rules! settled {
    ($type:ty) => { Option<$type> };
    ($type:ty, $default:expr) => { $type };
}

/// What was given, or the default.
macro_rules! settle {
    ($given:expr) => {
        $given
    };
    ($given:expr, $default:expr) => {
        $given.unwrap_or_else(|| $default)
    };
}

macro_rules! table {
    ($(
        $(#[doc = $doc:literal])+
        $(#[arg($($arg:tt)+)])?
        $name:ident ($variable:literal): $type:ty $(= $default:expr)?;
    )+) => {
        /// What somebody has said: on the command line and in the environment, or in a file.
        #[derive(Default, clap::Args, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Given {
            $(
                $(#[doc = $doc])+
                #[arg(long, env = $variable, hide_env_values = true $(, $($arg)+)?)]
                $name: Option<$type>,
            )+
        }

        /// What holds.
        #[derive(Serialize)]
        pub(crate) struct Config {
            $(pub(crate) $name: settled!($type $(, $default)?),)+
        }

        impl Given {
            /// What `self` says, else what `weaker` says.
            fn or(self, weaker: Given) -> Given {
                Given { $($name: self.$name.or(weaker.$name),)+ }
            }

            fn settled(self) -> Config {
                Config { $($name: settle!(self.$name $(, $default)?),)+ }
            }
        }

        /// Each setting with its variable and what it means.
        #[cfg(test)]
        const TABLE: &[(&str, &str, &str)] = &[$((stringify!($name), $variable, concat!($($doc),+)),)+];
    };
}

table! {
    /// Where the store is: sqlite:PATH, postgres://USER@HOST/DATABASE, valkey://HOST:PORT, valkeys://…, valkey-cluster://HOST:PORT,… or memory:
    store ("FF_STORE"): Address = Address::File("ff.db".into());
    /// The address to listen on
    listen ("FF_LISTEN"): SocketAddr = (Ipv4Addr::LOCALHOST, 7117).into();
    /// Listen on an address that other machines reach although there are no keys: whoever reaches it may do everything
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    insecure ("FF_INSECURE"): bool = false;
    /// The server's certificate, and those that vouch for it, as a PEM file; read again on SIGHUP
    tls_cert ("FF_TLS_CERT"): PathBuf;
    /// The key of the certificate, as a PEM file
    tls_key ("FF_TLS_KEY"): PathBuf;
    /// Origins whose web pages may use the server, such as `https://console.example.org`
    #[arg(value_delimiter = ',')]
    origins ("FF_ORIGINS"): Vec<String> = Vec::new();
    /// Let everybody read /metrics
    #[arg(num_args = 0..=1, default_missing_value = "true")]
    open_metrics ("FF_OPEN_METRICS"): bool = false;
    /// Streams that one key may have open
    streams_per_key_max ("FF_STREAMS_PER_KEY_MAX"): usize = Settings::default().streams_per_key_max;
    /// Streams that all keys together may have open
    streams_max ("FF_STREAMS_MAX"): usize = Settings::default().streams_max;
    /// Requests of one key that may wait for something to happen
    parked_polls_per_key_max ("FF_PARKED_POLLS_PER_KEY_MAX"): usize = Settings::default().parked_polls_per_key_max;
    /// Requests per second that one key may make
    requests_per_second_per_key ("FF_REQUESTS_PER_SECOND_PER_KEY"): NonZeroU32;
    /// Connections that may be open
    connections_max ("FF_CONNECTIONS_MAX"): usize = Settings::default().connections_max;
    /// How long a connection may be idle between two requests
    idle_timeout_ms ("FF_IDLE_TIMEOUT_MS"): u64 = millis(Settings::default().idle_timeout);
    /// How long a client may take to send the head of a request
    header_timeout_ms ("FF_HEADER_TIMEOUT_MS"): u64 = millis(Settings::default().header_timeout);
    /// How long a client may take to send the body of a request
    body_timeout_ms ("FF_BODY_TIMEOUT_MS"): u64 = millis(Settings::default().body_timeout);
    /// How long requests that are under way may take to end when the server stops, at most 12,000
    #[arg(value_parser = clap::value_parser!(u64).range(..=12_000))]
    shutdown_timeout_ms ("FF_SHUTDOWN_TIMEOUT_MS"): u64 = millis(Settings::default().shutdown_timeout);
    /// Largest payload and result in bytes
    payload_bytes_max ("FF_PAYLOAD_BYTES_MAX"): usize = PAYLOAD_BYTES_DEFAULT;
    /// Steps that one execution may have recorded
    steps_max ("FF_STEPS_MAX"): u64 = STEPS_DEFAULT;
    /// Bytes that the steps of one execution may leave together
    step_output_bytes_max ("FF_STEP_OUTPUT_BYTES_MAX"): u64 = STEP_OUTPUT_BYTES_DEFAULT;
    /// How long an expired lease waits before its execution goes back to its lane
    reclaim_grace_ms ("FF_RECLAIM_GRACE_MS"): u64 = 0;
    /// Events kept per partition; unless given, as many as suit the kind of store
    events_max_per_partition ("FF_EVENTS_MAX_PER_PARTITION"): u32;
    /// How long to try a store that cannot be reached
    store_patience_ms ("FF_STORE_PATIENCE_MS"): u64 = 60_000;
    /// When SQLite has a commit on disk: full (before it is acknowledged) or normal (a little later)
    sqlite_durability ("FF_SQLITE_DURABILITY"): Durability = Durability::Full;
    /// Connections to PostgreSQL that calls share; one more is kept to listen on
    postgres_connections_max ("FF_POSTGRES_CONNECTIONS_MAX"): usize = ff_backend_postgres::CONNECTIONS_MAX;
    /// Partitions for executions and flows of a new store, which never change; unless given 256, in a Valkey cluster 1,024
    flow_partitions ("FF_FLOW_PARTITIONS"): u16;
    /// Partitions for budgets of a new store; unless given 32
    budget_partitions ("FF_BUDGET_PARTITIONS"): u16;
    /// Partitions for quota policies of a new store; unless given 32
    quota_partitions ("FF_QUOTA_PARTITIONS"): u16;
}

/// When a commit is on disk.
#[derive(Clone, Copy, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Durability {
    Full,
    Normal,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The JSON Schema of a file with settings.
pub(crate) fn schema() -> anyhow::Result<Value> {
    let mut schema = serde_json::to_value(schemars::schema_for!(Given))?;
    let defaults = serde_json::to_value(Given::default().settled())?;
    schema["title"] = "Settings of FlowFabric".into();
    if let (Some(settings), Some(defaults)) = (schema["properties"].as_object_mut(), defaults.as_object()) {
        for (name, setting) in settings {
            if let Some(default) = defaults.get(name).filter(|default| !default.is_null()) {
                setting["default"] = default.clone();
            }
        }
    }
    Ok(schema)
}

impl Given {
    /// What the environment says.
    pub(crate) fn from_environment() -> anyhow::Result<Self> {
        let read = Given::augment_args(clap::Command::new("ff")).try_get_matches_from(["ff"])?;
        Ok(Given::from_arg_matches(&read)?)
    }

    /// With this store, if there is one.
    pub(crate) fn with_store(self, store: Option<Address>) -> Self {
        let stronger = Given {
            store,
            ..Given::default()
        };
        stronger.or(self)
    }

    /// With what the file says: the one that is named, else `ff.toml` if it is there.
    pub(crate) fn with_file(self, named: Option<&Path>) -> anyhow::Result<Config> {
        let path = named.unwrap_or(Path::new(FILE));
        let read = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => String::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let file: Given = toml::from_str(&read).map_err(|error| told(path, &read, &error))?;
        let config = self.or(file).settled();
        anyhow::ensure!(
            config.tls_cert.is_some() == config.tls_key.is_some(),
            "tls_cert and tls_key belong together: give both or neither"
        );
        anyhow::ensure!(
            config.shutdown_timeout_ms <= 12_000,
            "shutdown_timeout_ms is at most 12000: a server that is told to stop is gone after 15 s"
        );
        Ok(config)
    }
}

/// What is wrong with a file. The parser's own message shows the line, which may hold a password.
fn told(path: &Path, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    anyhow::anyhow!("{}, line {line}: {}", path.display(), error.message())
}

impl Config {
    /// What the server is told.
    pub(crate) fn server(&self) -> Settings {
        let loopback = self.listen.ip().is_loopback();
        Settings {
            keyless: loopback || self.insecure,
            everybody: None,
            any_host: !loopback,
            tls: self.tls_cert.is_some(),
            origins: self.origins.clone(),
            open_metrics: self.open_metrics,
            streams_per_key_max: self.streams_per_key_max,
            streams_max: self.streams_max,
            parked_polls_per_key_max: self.parked_polls_per_key_max,
            requests_per_second_per_key: self.requests_per_second_per_key,
            connections_max: self.connections_max,
            idle_timeout: Duration::from_millis(self.idle_timeout_ms),
            header_timeout: Duration::from_millis(self.header_timeout_ms),
            body_timeout: Duration::from_millis(self.body_timeout_ms),
            shutdown_timeout: Duration::from_millis(self.shutdown_timeout_ms),
        }
    }

    /// What the engine over a store with these partitions is told.
    pub(crate) fn engine(&self, counts: PartitionCounts) -> ff_engine::Config {
        ff_engine::Config {
            rules: ff_core::machine::Settings {
                reclaim_grace: ff_core::time::Duration::from_millis(self.reclaim_grace_ms),
                payload_bytes_max: self.payload_bytes_max,
                steps_max: self.steps_max,
                step_output_bytes_max: self.step_output_bytes_max,
            },
            ..ff_engine::Config::new(counts)
        }
    }

    /// Everything but secrets, as a file could say it.
    pub(crate) fn print(&self) -> anyhow::Result<String> {
        Ok(toml::to_string(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Config> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("it.toml");
        std::fs::write(&path, text)?;
        Given::default().with_file(Some(&path))
    }

    #[test]
    fn what_is_said_aloud_is_stronger_than_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.toml");
        std::fs::write(&path, "streams_max = 7\nstreams_per_key_max = 7\n").unwrap();
        let said = Given {
            streams_max: Some(8),
            ..Given::default()
        };
        let config = said.with_file(Some(&path)).unwrap();
        assert_eq!((config.streams_max, config.streams_per_key_max), (8, 7));
        assert_eq!(config.connections_max, Settings::default().connections_max);
    }

    #[test]
    fn what_nobody_knows_is_refused_and_no_line_is_repeated() {
        let refused = read("listen = \"127.0.0.1:1\"\nstroe = \"valkey://:hunter2@host\"\n")
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("line 2") && refused.contains("stroe"), "{refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
        let unknown = read("store = \"http://:hunter2@host\"").unwrap().print().unwrap();
        assert!(!unknown.contains("hunter2"), "{unknown}");
        assert!(read("tls_cert = \"cert.pem\"").is_err() && read("shutdown_timeout_ms = 60000").is_err());
        assert!(Given::default().with_file(Some(Path::new("/nowhere/ff.toml"))).is_err());
    }

    #[test]
    fn what_is_printed_can_be_read_again_and_holds_no_password() {
        let printed = read("store = \"valkey://me:hunter2@host:7000/1\"\ninsecure = true")
            .unwrap()
            .print()
            .unwrap();
        assert!(!printed.contains("hunter2") && !printed.contains("me:"), "{printed}");
        assert!(
            printed.contains("host:7000/1") && printed.contains("insecure = true"),
            "{printed}"
        );
        assert_eq!(read(&printed).unwrap().print().unwrap(), printed);
    }

    #[test]
    fn the_page_lists_every_setting() {
        let defaults = toml::Table::try_from(Given::default().settled()).unwrap();
        let mut page = include_str!("config_page.md").to_owned();
        for (name, variable, meaning) in TABLE {
            let default = defaults.get(*name).map_or(String::new(), |value| format!("`{value}`"));
            let flag = name.replace('_', "-");
            page += &format!(
                "| `{name}` | `--{flag}` | `{variable}` | {default} | {} |\n",
                meaning.trim()
            );
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/config.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            page,
            "UPDATE_DOCS=1 writes it anew"
        );
    }
}

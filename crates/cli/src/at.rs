//! Where a command finds its fabric: at a server, or in a store itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::time::Timestamp;
use ff_core::view::ServerInfo;
use ff_engine::{Engine, TokioHost};
use ff_sdk::Remote;

use crate::config::{Config, Given};
use crate::failure::{Class, Failure};
use crate::open::{self, Address};
use crate::serve;

/// Where `ff dev` and `ff serve` listen unless told otherwise.
const URL: &str = "http://127.0.0.1:7117";
/// Tries of one call: a person waits for it.
const TRIES: usize = 3;
/// How long a store that cannot be reached is tried: a person waits for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the fabric is.
#[derive(Clone, clap::Args)]
pub(crate) struct At {
    /// The address of a server, which is shown the key in FF_KEY [default: http://127.0.0.1:7117]
    #[arg(long, env = "FF_URL", hide_env_values = true)]
    url: Option<String>,
    #[command(flatten)]
    store: StoreAt,
}

/// Where a store is.
#[derive(Clone, clap::Args)]
pub(crate) struct StoreAt {
    /// The store itself instead of a server, as `ff serve` takes it
    #[arg(long)]
    store: Option<Address>,
    /// The file with settings, for the store [default: ff.toml, if it is there]
    #[arg(long, env = "FF_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
}

/// What that comes to.
pub(crate) enum Place {
    /// A server at this address.
    Server(String),
    /// A store, opened as these settings say.
    Store(Box<Config>),
}

/// A fabric that answers.
pub(crate) struct Opened {
    pub(crate) fabric: Arc<dyn Fabric>,
    /// The store's time.
    pub(crate) now: Timestamp,
    /// What it says about itself.
    pub(crate) about: About,
}

/// What a fabric says about itself.
pub(crate) enum About {
    Server(Box<ServerInfo>),
    Store(String),
}

impl At {
    /// A server unless a store is named: that of `ff dev`, if nothing is named at all.
    pub(crate) fn place(&self) -> anyhow::Result<Place> {
        match self.store.store {
            Some(_) => Ok(Place::Store(Box::new(self.store.config()?))),
            None => Ok(Place::Server(self.url.clone().unwrap_or_else(|| URL.to_owned()))),
        }
    }

    /// A store unless a server is named, for what must work before there is one: what `ff serve` would use here, if nothing is
    /// named at all.
    pub(crate) fn place_before_serving(&self) -> anyhow::Result<Place> {
        match &self.url {
            Some(url) if self.store.store.is_none() => Ok(Place::Server(url.clone())),
            _ => Ok(Place::Store(Box::new(self.store.config()?))),
        }
    }

    /// What the file with settings says, and the environment over it.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        self.store.config()
    }
}

impl StoreAt {
    /// The settings that the store is opened with: what `ff serve` would use here.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        Given::from_environment()?
            .with_store(self.store.clone())
            .with_file(self.config.as_deref())
    }
}

impl Place {
    /// The fabric there. A store that is not there yet is not made: whoever looks for something has mistyped its name.
    pub(crate) async fn open(self) -> anyhow::Result<Opened> {
        if let Self::Store(config) = &self {
            refuse_empty(&config.store)?;
        }
        self.open_or_make().await
    }

    /// The same, and a store that is not there yet is made.
    pub(crate) async fn open_or_make(self) -> anyhow::Result<Opened> {
        match self {
            Self::Server(url) => of_server(&url).await,
            Self::Store(config) => of_store(&config).await,
        }
    }
}

async fn of_server(url: &str) -> anyhow::Result<Opened> {
    let mut client = Remote::connect(url).tries(TRIES);
    if let Some(key) = std::env::var("FF_KEY").ok().filter(|key| !key.is_empty()) {
        client = client.key(key);
    }
    let client = client.open()?;
    let info = client.info().await.map_err(|refused| match refused.code {
        Code::Unavailable if refused.detail.starts_with("cannot reach") => nobody_answers(url),
        _ => refused.into(),
    })?;
    Ok(Opened {
        fabric: Arc::new(client),
        now: info.server_time,
        about: About::Server(Box::new(info)),
    })
}

fn nobody_answers(url: &str) -> anyhow::Error {
    let failure = Failure::new(Class::Unreachable, format!("nobody answers at {url}"));
    let advice = if url == URL {
        "Start a server with `ff dev`, or name one: --url http://HOST:PORT, or FF_URL."
    } else {
        "Is that the address, and does a server run there? --url and FF_URL name another one."
    };
    failure.advise(advice).into()
}

async fn of_store(config: &Config) -> anyhow::Result<Opened> {
    let options = open::Options {
        patience: PATIENCE,
        ..serve::options(config)
    };
    let opened = open::open(&config.store, &options)
        .await
        .with_context(|| format!("the store cannot be used: {}", config.store))?;
    let engine = Engine::new(opened.store, Arc::new(TokioHost::new()), config.engine(opened.counts));
    // Whoever waits for something hears of it; what time brings is left to those who serve the store.
    engine.listen();
    let now = engine.ping().await?;
    Ok(Opened {
        fabric: Arc::new(engine),
        now,
        about: About::Store(opened.about),
    })
}

fn refuse_empty(store: &Address) -> anyhow::Result<()> {
    match store {
        Address::Memory => Err(
            Failure::new(Class::Other, "a store in memory belongs to the process that made it")
                .advise("Ask the server that has it: --url http://HOST:PORT.")
                .into(),
        ),
        Address::File(path) if !path.exists() => {
            let what = format!("there is no store at {}", path.display());
            let advice = "Look for it with another --store, or leave --store away and ask a server.";
            Err(Failure::new(Class::NotFound, what).advise(advice).into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure;

    #[test]
    fn whoever_has_named_nothing_is_told_how_to_start_a_server() {
        let usual = At {
            url: None,
            store: StoreAt {
                store: None,
                config: None,
            },
        };
        assert!(matches!(usual.place(), Ok(Place::Server(url)) if url == URL));
        assert!(failure::advice(&nobody_answers(URL)).is_some_and(|advice| advice.contains("`ff dev`")));
        assert!(failure::advice(&nobody_answers("http://other:1")).is_some_and(|advice| !advice.contains("ff dev")));
    }
}

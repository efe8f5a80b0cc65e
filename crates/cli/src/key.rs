//! `ff key`: the keys that callers of a server show. On a server, or on the store itself, because somebody must make the first
//! one.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, KeyView, RevokeKey};
use ff_core::command::page::PageRequest;
use ff_core::fabric::Fabric;
use ff_core::name::{Identity, Namespace};
use ff_core::time::{Duration, Timestamp};
use ff_engine::{Engine, TokioHost};
use ff_sdk::Remote;

use crate::config::Given;
use crate::open::{self, Address};
use crate::{say, serve};

/// Make, list and revoke the keys that callers show.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Make a key and print it, this once
    Create {
        /// Who will show it: histories, approvals and the audit name it so
        name: Identity,
        /// What it allows: worker, reader, submitter, operator or admin
        #[arg(long, value_parser = role)]
        role: Role,
        /// The one namespace it reaches [default: all of them]
        #[arg(long)]
        namespace: Option<Namespace>,
        /// After how many days it is worth nothing [default: never]
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=36_500))]
        days: Option<u64>,
        #[command(flatten)]
        at: At,
    },
    /// List the keys there are; what they are is not known to anybody but who has them
    List {
        #[command(flatten)]
        at: At,
    },
    /// Make a key worth nothing, everywhere within five seconds
    Revoke {
        /// Whose
        name: Identity,
        #[command(flatten)]
        at: At,
    },
}

/// Where the keys are.
#[derive(clap::Args)]
struct At {
    /// The address of a server, which is shown the key in FF_KEY; not used with --store
    #[arg(long, env = "FF_URL")]
    url: Option<String>,
    /// The store, as `ff serve` takes it [default: what `ff serve` would use here]
    #[arg(long)]
    store: Option<Address>,
    /// The file with settings [default: ff.toml, if it is there]
    #[arg(long, env = "FF_CONFIG")]
    config: Option<PathBuf>,
}

fn role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.into_iter().find(|role| role.as_str() == text);
    found.ok_or_else(|| format!("a role is {}", Role::ALL.map(Role::as_str).join(", ")))
}

impl At {
    /// The interface there, and the time.
    async fn open(self) -> anyhow::Result<(Arc<dyn Fabric>, Timestamp)> {
        if let Some(url) = self.url.filter(|_| self.store.is_none()) {
            let mut client = Remote::connect(url);
            if let Ok(key) = std::env::var("FF_KEY") {
                client = client.key(key);
            }
            let client = client.open()?;
            let now = client.info().await?.server_time;
            return Ok((Arc::new(client), now));
        }
        let config = Given::from_environment()?
            .with_store(self.store)
            .with_file(self.config.as_deref())?;
        let opened = open::open(&config.store, &serve::options(&config)?)
            .await
            .context("the store cannot be used")?;
        let engine = Engine::new(opened.store, Arc::new(TokioHost::new()), config.engine()?);
        let now = engine.ping().await?;
        Ok((Arc::new(engine), now))
    }
}

/// Does what was asked.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    match arguments.action {
        Action::Create {
            name,
            role,
            namespace,
            days,
            at,
        } => {
            let (fabric, now) = at.open().await?;
            let lifetime = days.map(|days| Duration::from_hours(days.saturating_mul(24)));
            let command = CreateKey {
                name,
                role,
                namespace,
                expires_at: lifetime.map(|lifetime| now + lifetime),
            };
            let created = fabric.create_key(command).await?;
            // Alone on its line, for whoever reads it with a program.
            say::line(created.key.expose());
        }
        Action::List { at } => {
            let (fabric, now) = at.open().await?;
            let mut page = PageRequest::default();
            loop {
                let keys = fabric.list_keys(page.clone()).await?;
                keys.items.iter().for_each(|key| say::line(shown(key, now)));
                let Some(next) = keys.next else { break };
                page.cursor = Some(next);
            }
        }
        Action::Revoke { name, at } => {
            let (fabric, _) = at.open().await?;
            fabric.revoke_key(RevokeKey { name }).await?;
        }
    }
    Ok(())
}

fn shown(key: &KeyView, now: Timestamp) -> String {
    let namespace = key.namespace.as_ref().map_or("all namespaces", Namespace::as_str);
    let used = key
        .last_used_at
        .map_or("never used".to_owned(), |at| format!("used {} ago", span(at, now)));
    let ends = match key.expires_at {
        Some(at) if at <= now => "  expired".to_owned(),
        Some(at) => format!("  for {} more", span(now, at)),
        None => String::new(),
    };
    let (name, role) = (key.name.as_str(), key.role.as_str());
    format!("{name:<24}  {role:<9}  {namespace:<16}  {used}{ends}")
}

/// A time between two moments, as a person would say it.
fn span(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.as_millis().saturating_sub(from.as_millis()) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

//! `ff key`: the keys that callers of a server show. On a server, or on the store itself, because somebody must make the first
//! one.

use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, KeyView, RevokeKey};
use ff_core::command::page::PageRequest;
use ff_core::name::{Identity, Namespace};
use ff_core::time::{Duration, Timestamp};

use crate::at::{At, Opened};
use crate::say;
use crate::verbs::when;

/// Make, list and revoke the keys that callers show
///
/// At the server that --url names; without one on the store that `ff serve` would use here, because somebody must make the first
/// key.
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

fn role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.into_iter().find(|role| role.as_str() == text);
    found.ok_or_else(|| format!("a role is {}", Role::ALL.map(Role::as_str).join(", ")))
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
            let Opened { fabric, now, .. } = at.place_before_serving()?.open_or_make().await?;
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
            let Opened { fabric, now, .. } = at.place_before_serving()?.open_or_make().await?;
            let mut page = PageRequest::default();
            loop {
                let keys = fabric.list_keys(page.clone()).await?;
                keys.items.iter().for_each(|key| say::line(shown(key, now)));
                let Some(next) = keys.next else { break };
                page.cursor = Some(next);
            }
        }
        Action::Revoke { name, at } => {
            let Opened { fabric, .. } = at.place_before_serving()?.open_or_make().await?;
            fabric.revoke_key(RevokeKey { name }).await?;
        }
    }
    Ok(())
}

fn shown(key: &KeyView, now: Timestamp) -> String {
    let namespace = key.namespace.as_ref().map_or("all namespaces", Namespace::as_str);
    let used = key.last_used_at.map_or("never used".to_owned(), |at| {
        format!("used {}", when::from_now(at, now))
    });
    let ends = match key.expires_at {
        Some(at) if at <= now => "  expired".to_owned(),
        Some(at) => format!("  for {} more", when::span(at.since(now))),
        None => String::new(),
    };
    let (name, role) = (key.name.as_str(), key.role.as_str());
    format!("{name:<24}  {role:<9}  {namespace:<16}  {used}{ends}")
}

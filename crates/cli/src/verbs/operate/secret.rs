//! `ff rotate-secret`.

use ff_core::keyring::{RotateWaitpointSecret, RotationStatus, Secret};
use ff_core::name::Kid;
use ff_core::time::Duration;

use crate::verbs::session::Common;
use crate::verbs::{input, when};

/// Let another key sign tokens, grants and cursors from now on
#[derive(clap::Args)]
pub(crate) struct RotateSecret {
    /// What the new key is called; tokens show it
    kid: Kid,
    /// The new secret, 32 bytes or more as hex: @FILE, or - for standard input [default: a random one]
    #[arg(long, value_name = "@FILE")]
    secret: Option<String>,
    /// How long what the key before has signed is still good
    #[arg(long, default_value = "24h", value_parser = when::parse_span)]
    grace: Duration,
    /// The key before is known to others: nothing it signed is good any more
    #[arg(long)]
    compromised: bool,
    #[command(flatten)]
    common: Common,
}

impl RotateSecret {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        let new_secret = match &self.secret {
            Some(given) => {
                // On a command line others of this machine would see it.
                let is_elsewhere = given == "-" || given.starts_with('@');
                anyhow::ensure!(
                    is_elsewhere,
                    "a secret comes from a file (@FILE) or from standard input (-)"
                );
                Secret::parse_hex(input::text(given)?.trim())?
            }
            None => Secret::from_random(rand::random()),
        };
        let session = self.common.open().await?;
        let command = RotateWaitpointSecret {
            new_kid: self.kid,
            new_secret,
            grace: self.grace,
            compromised: self.compromised,
        };
        let rotated = session.fabric.rotate_waitpoint_secret(command).await?;
        let current = &rotated.current_kid;
        let before = match (&rotated.previous_kid, rotated.previous_valid_until) {
            (Some(kid), Some(until)) if until > session.now => {
                let until = when::moment_from_now(until, session.now);
                format!("; what {kid} signed is good until {until}")
            }
            (Some(kid), _) => format!("; what {kid} signed is worth nothing"),
            (None, _) => String::new(),
        };
        let sentence = match rotated.status {
            RotationStatus::Rotated => format!("{current} signs now{before}"),
            RotationStatus::Unchanged => format!("{current} signed already{before}"),
        };
        session.out.done(&rotated, sentence)
    }
}

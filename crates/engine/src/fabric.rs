//! The engine's door to each operation, made from the table: the caller's role, or the lease it shows, is checked here, once,
//! the function of the operation's name does the rest, and a privileged act leaves its line.

use async_trait::async_trait;
use ff_core::caller::Role;
use ff_core::fabric::types::*;
use ff_core::fabric::{Access, Fabric, Result, Target, op};
use ff_core::{argument, outcome, wire};

use crate::engine::Engine;
use crate::{audit, holder, ops};

/// The command, once it is clear that the caller may.
macro_rules! admitted {
    ($engine:ident, $operation:expr, $command:ident) => {{
        $engine.caller.check($operation)?;
        $command
    }};
    ($engine:ident, $operation:expr, $command:ident, holder) => {{
        let mut command = $command;
        holder::check($engine, $operation, &mut command).await?;
        command
    }};
}

/// What a privileged call is about, for the audit.
macro_rules! about {
    ((of $id:ty), $operation:expr, $command:ident) => {
        audit::is_privileged($operation)
            .then(|| audit::about($operation, wire::to_json(&<$id as Target>::Fields::from($command))))
    };
    ((many $name:ident: $item:ty), $operation:expr, $command:ident) => {
        audit::is_privileged($operation).then(String::new)
    };
    ($take:tt, $operation:expr, $command:ident) => {
        audit::is_privileged($operation).then(|| audit::about($operation, wire::to_json(&$command)))
    };
}

macro_rules! doors {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Engine {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    let about = about!($take, &op::$name, command);
                    let acting = async {
                        let command = admitted!(self, &op::$name, command $(, $holder)?);
                        ops::$noun::$name(self, command).await
                    };
                    let answer = acting.await;
                    audit::note(&self.caller, op::$name.name, about.as_deref(), &answer);
                    answer
                }
            )+)+
        }
    };
}

ff_core::operations!(doors);

impl Engine {
    /// Refuses a caller who may not call what has this name, before anybody reads what was sent. What it sends may hold the
    /// lease that lets a worker in.
    pub fn check_access(&self, access: Access, name: &str) -> Result<()> {
        if matches!(access, Access::RoleOrHolder(_)) && self.caller.role.contains(Role::Worker) {
            return Ok(());
        }
        let answer = self.caller.check_access(access, name);
        audit::note(&self.caller, name, None, &answer);
        answer
    }
}

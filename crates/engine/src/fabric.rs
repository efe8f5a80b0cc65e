//! The engine's door to each operation, made from the table: the caller's role, or the lease it shows, is checked here, once,
//! and the function of the operation's name does the rest.

use std::sync::Arc;

use async_trait::async_trait;
use ff_core::caller::Caller;
use ff_core::fabric::types::*;
use ff_core::fabric::{ActsFor, Fabric, Result, op};
use ff_core::{argument, outcome};

use crate::engine::Engine;
use crate::holder;
use crate::ops;

impl ActsFor for Engine {
    fn acting_for(&self, caller: Caller) -> Arc<dyn Fabric> {
        Arc::new(self.acting_as(caller))
    }
}

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

macro_rules! doors {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Engine {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    let command = admitted!(self, &op::$name, command $(, $holder)?);
                    ops::$noun::$name(self, command).await
                }
            )+)+
        }
    };
}

ff_core::operations!(doors);

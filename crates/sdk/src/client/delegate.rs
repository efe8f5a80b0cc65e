//! A client is a fabric: every operation is passed on as it is.

use async_trait::async_trait;
use ff_core::fabric::types::*;
use ff_core::fabric::{Fabric, Result};
use ff_core::{argument, outcome};

use super::Client;

macro_rules! delegate {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        #[async_trait]
        impl Fabric for Client {
            $($(
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)> {
                    self.fabric.$name(command).await
                }
            )+)+
        }
    };
}

ff_core::operations!(delegate);

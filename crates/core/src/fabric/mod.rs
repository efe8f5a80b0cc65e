//! Everything FlowFabric does, as one interface: the engine implements it in process, every [`Transport`] from afar.
//!
//! One struct in, one outcome out. A refusal is a [`Rejection`] with a stable code. Every operation is safe to repeat after a
//! lost reply: by the id it creates, by the lease it ends, by the key or request id it carries.
//!
//! The operations stand in [`crate::operations`], a line each.

#[macro_use]
mod table;
#[macro_use]
mod shape;
mod on;
mod operation;
mod remote;
pub mod types;

use async_trait::async_trait;

use self::types::*;
use crate::caller::Role;
use crate::error::Rejection;

pub use on::{OfBudget, OfExecution, OfFlow, OfQuotaPolicy, On, Target};
pub use operation::{Access, Body, Call, Method, Operation, Reply, path_fields};
pub use remote::Transport;

/// What the paths of operations stand below.
pub const BASE_PATH: &str = "/v1";

/// The answer to an operation.
pub type Result<T> = std::result::Result<T, Rejection>;

/// Makes the interface from the table: a method, and an entry of data, for each operation.
macro_rules! interface {
    ($($noun:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident: $method:ident $path:literal, $who:ident $(or $holder:ident)?, $body:ident, $take:tt => $give:tt;
    )+ })+) => {
        /// All of FlowFabric.
        #[async_trait]
        pub trait Fabric: Send + Sync {
            $($(
                $(#[doc = $doc])+
                async fn $name(&self, command: argument!($take)) -> Result<outcome!($give)>;
            )+)+
        }

        /// What the table says about each operation, under its name.
        #[expect(non_upper_case_globals, reason = "an operation has one name, which is that of its method")]
        pub mod op {
            use super::types::*;
            use super::{Access, Body, Fabric, Method, Operation, Role};

            $($(
                $(#[doc = $doc])+
                pub static $name: Operation = Operation {
                    name: stringify!($name),
                    noun: stringify!($noun),
                    summary: concat!($($doc, "\n"),+),
                    method: Method::$method,
                    path: $path,
                    access: access!($who $(or $holder)?),
                    body: Body::$body,
                    call: |fabric, fields| Box::pin(async move {
                        let answer = Fabric::$name(fabric, read_argument!($take, fields)).await?;
                        write_outcome!($give, answer)
                    }),
                    #[cfg(feature = "schema")]
                    shape: |schemas| crate::schema::Shape {
                        takes: schema_of_argument!($take, schemas),
                        gives: schema_of_outcome!($give, schemas),
                    },
                };
            )+)+
        }

        /// Every operation, in the order of the table.
        pub static OPERATIONS: &[&Operation] = &[$($(&op::$name,)+)+];
    };
}

operations!(interface);

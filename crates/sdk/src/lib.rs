//! FlowFabric for programs.
//!
//! [`Client`] is the interface of a server far away: it implements [`Fabric`], as the engine does in its own process, so that
//! whatever is written against one runs against the other.
//!
//! ```no_run
//! # async fn example() -> ff_sdk::Result<()> {
//! use ff_sdk::{Client, Fabric};
//!
//! let client = Client::connect("http://127.0.0.1:7117").open()?;
//! let id = "fp:12:01999999-0000-7000-8000-000000000000".parse()?;
//! println!("{:?}", client.get_state(id).await?.public_state);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "client")]
pub mod client;

#[cfg(feature = "client")]
pub use client::Client;
pub use ff_core::fabric::{Fabric, Result};

//! A server by itself.

use std::ops::Deref;

use crate::options::Options;
use crate::server::Server;

/// One server that belongs to no cluster; everything one can do with it is a method of [`Server`].
pub struct Standalone(Server);

impl Standalone {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it does not start; the message ends with its log.
    pub async fn start(options: Options) -> Standalone {
        Standalone(Server::start_alone(&options).await)
    }
}

impl Deref for Standalone {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.0
    }
}

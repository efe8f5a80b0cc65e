//! What a server can be told.

use std::num::NonZeroU32;
use std::time::Duration;

use ff_core::caller::Caller;

/// The settings of a server. Limits are per key; without keys, everybody shares those of one.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether whoever asks without a key may do everything as long as there are no keys. Only for a server that no other
    /// machine reaches.
    pub keyless: bool,
    /// Whom everybody who asks without a key acts for, whether there are keys or not: for a program that serves the router
    /// itself and lets only those reach it who may.
    pub everybody: Option<Caller>,
    /// Without keys: whether names of other machines are taken for ours. Whoever turns this on says that the network is safe.
    pub any_host: bool,
    /// Whether clients reach the server through TLS.
    pub tls: bool,
    /// Origins whose pages may use the server beside its own, such as `https://console.example.org`.
    pub origins: Vec<String>,
    /// Whether `/metrics` answers without a key.
    pub open_metrics: bool,
    /// Streams of events or frames that are open at once.
    pub streams_per_key_max: usize,
    /// The same for all keys together.
    pub streams_max: usize,
    /// Requests that wait for something to happen.
    pub parked_polls_per_key_max: usize,
    /// Requests per second, with as many at once; absent: no limit.
    pub requests_per_second_per_key: Option<NonZeroU32>,
    /// Connections that are open at once; further ones wait to be accepted.
    pub connections_max: usize,
    /// How long a connection may be idle between two requests. Longer than what proxies in front keep theirs, or they send
    /// a request into a connection that is just being closed.
    pub idle_timeout: Duration,
    /// How long a client may take to send the head of a request.
    pub header_timeout: Duration,
    /// How long a client may take to send the body of a request.
    pub body_timeout: Duration,
    /// How long requests that are under way may take to end when the server stops.
    pub shutdown_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keyless: false,
            everybody: None,
            any_host: false,
            tls: false,
            origins: Vec::new(),
            open_metrics: false,
            streams_per_key_max: 2_000,
            streams_max: 20_000,
            parked_polls_per_key_max: 10_000,
            requests_per_second_per_key: None,
            connections_max: 50_000,
            idle_timeout: Duration::from_secs(75),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(8),
        }
    }
}

impl Settings {
    /// Those of a server on a loopback address.
    pub fn loopback() -> Self {
        Self {
            keyless: true,
            ..Self::default()
        }
    }
}

//! What is said first, and what to try: only what is there.

use std::net::SocketAddr;
use std::time::Duration;

use super::PORT;
use crate::open::Address;
use crate::say;

/// How a person at this terminal reaches the server.
#[derive(Clone)]
pub(crate) struct Shown {
    /// What `ff` is called here: a newcomer may have started it by its path.
    program: String,
    address: SocketAddr,
}

impl Shown {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let program = std::env::args().next().unwrap_or_else(|| "ff".to_owned());
        Self { program, address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A line that can be pasted: `ff` asks the usual port unless it is told another.
    pub(crate) fn command(&self, verb: &str) -> String {
        let program = &self.program;
        match self.address.port() {
            PORT => format!("{program} {verb}"),
            _ => format!("FF_URL={} {program} {verb}", self.url()),
        }
    }

    /// Where everything is.
    pub(crate) fn greet(&self, store: &Address, took: Duration) {
        let (version, took) = (env!("CARGO_PKG_VERSION"), took.as_millis());
        say::line(format_args!(
            "FlowFabric {version} · store {store} · ready in {took} ms"
        ));
        let url = self.url();
        say::line(format_args!("  Dashboard  {url}/"));
        say::line(format_args!("  API        {url}/v1"));
        say::line(format_args!("  Docs       {url}/docs"));
    }

    /// What to try now, with the demonstration or without.
    pub(crate) fn invite(&self, has_demo: bool) {
        say::line("\nYour turn, in another terminal:");
        for (command, what) in if has_demo { self.with_demo() } else { self.without() } {
            say::line(format_args!("  {command}\n      {what}"));
        }
        say::line("\nPress Ctrl-C to stop.\n");
    }

    fn with_demo(&self) -> Vec<(String, &'static str)> {
        let address = self.address;
        vec![
            (self.command("approve demo-refund"), "it goes on while you watch"),
            (
                self.command("steps demo-agent"),
                "what it recorded, and in which attempt",
            ),
            (
                // Short enough for one line of 80 columns.
                format!("curl -sd '{{\"words\":3}}' '{address}/v1/submit/demo.greet?lane=demo&wait_ms=5000'"),
                "submits, and waits for the result",
            ),
            (
                format!("{} init python hello", self.program),
                "a worker of your own, in three files",
            ),
        ]
    }

    fn without(&self) -> Vec<(String, &'static str)> {
        vec![
            (
                format!("curl -sd '{{\"name\":\"Ana\"}}' '{}/v1/submit/hello'", self.url()),
                "submits an execution of kind `hello` to the lane `default`",
            ),
            (self.command("list"), "what there is"),
        ]
    }
}

//! Where `ff dev` listens: on this machine only.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use tokio::net::TcpListener;

use super::PORT;
use crate::failure::{Class, Failure};
use crate::say;

/// So many ports after a busy one are tried.
const NEXT_MAX: u16 = 100;

/// Listens on the port that was asked for. Nobody asked: on the usual one, or on the next that is free.
pub(crate) async fn listen(asked: Option<u16>) -> anyhow::Result<TcpListener> {
    if let Some(port) = asked {
        return on(port).await.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => busy(port),
            _ => anyhow::Error::new(error).context(format!("cannot listen on port {port}")),
        });
    }
    for port in PORT..=PORT + NEXT_MAX {
        match on(port).await {
            Ok(listener) => {
                if port != PORT {
                    say::line(format_args!(
                        "Port {PORT} is busy: this server listens on {port} instead. Elsewhere: export \
                         FF_URL=http://127.0.0.1:{port}"
                    ));
                }
                return Ok(listener);
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => return Err(error).with_context(|| format!("cannot listen on port {port}")),
        }
    }
    Err(busy(PORT))
}

async fn on(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

fn busy(port: u16) -> anyhow::Error {
    let failure = Failure::new(Class::Other, format!("port {port} of this machine is busy"));
    failure
        .advise("Choose another with --port, or --port 0 for any that is free.")
        .into()
}

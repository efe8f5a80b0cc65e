//! Addresses: where the servers are and how one logs in there.

use std::time::Duration;

use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};

use crate::error::OpenError;

/// A connection that is silent for this long is tried: hints may be rare, and a vanished machine says nothing.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Some of the servers, at least one. It never prints itself: it knows passwords.
#[derive(Clone)]
pub(crate) struct Addresses(Vec<ConnectionInfo>);

impl Addresses {
    /// The servers these addresses name. No message repeats any part of an address.
    pub(crate) fn parse(urls: &[String]) -> Result<Self, OpenError> {
        let nodes: Vec<ConnectionInfo> = urls
            .iter()
            .enumerate()
            .map(|(at, url)| parse(url).map_err(|reason| invalid(at, &reason)))
            .collect::<Result<_, _>>()?;
        let first = nodes
            .first()
            .ok_or_else(|| OpenError::Address("none was given".to_owned()))?;
        let database = first.redis_settings().db();
        if let Some(at) = nodes.iter().position(|node| node.redis_settings().db() != database) {
            return Err(invalid(at, "it names another database than the first"));
        }
        Ok(Self(nodes))
    }

    /// The servers, in the order they were given.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ConnectionInfo> {
        self.0.iter()
    }

    /// The server that was named first.
    pub(crate) fn first(&self) -> &ConnectionInfo {
        &self.0[0]
    }

    /// The number of the database, the same for all of them.
    pub(crate) fn database(&self) -> i64 {
        self.0.first().map_or(0, |node| node.redis_settings().db())
    }

    /// Whether connections are encrypted.
    pub(crate) fn need_tls(&self) -> bool {
        let encrypted = |node: &ConnectionInfo| matches!(node.addr(), ConnectionAddr::TcpTls { .. });
        self.0.iter().any(encrypted)
    }
}

/// How connections are kept.
fn tcp_settings() -> TcpSettings {
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
    TcpSettings::default().set_nodelay(true).set_keepalive(keepalive)
}

fn invalid(at: usize, reason: &str) -> OpenError {
    OpenError::Address(format!("number {}: {reason}", at + 1))
}

fn parse(url: &str) -> Result<ConnectionInfo, String> {
    let url = url
        .strip_prefix("valkey-cluster://")
        .map_or_else(|| url.to_owned(), |rest| format!("valkey://{rest}"));
    let (_, rest) = url.split_once("://").ok_or("it has no scheme such as valkey://")?;
    // What looks like a host is part of the password then, and would be printed when nobody answers there.
    if rest
        .split_once(['/', '?', '#'])
        .is_some_and(|(_, path)| path.contains('@'))
    {
        return Err("special characters of a user or password must be percent-encoded".to_owned());
    }
    let info = url.as_str().into_connection_info().map_err(|error| error.to_string())?;
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
    match settings.db() {
        0.. => Ok(info.set_redis_settings(settings).set_tcp_settings(tcp_settings())),
        _ => Err("the number of a database is not negative".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(url: &str) -> Result<ConnectionInfo, String> {
        let addresses = Addresses::parse(&[url.to_owned()]).map_err(|error| error.to_string())?;
        Ok(addresses.iter().next().unwrap().clone())
    }

    #[test]
    fn user_password_and_database_are_part_of_an_address() {
        let node = one("redis://me:p%40ss@store:7000/3").unwrap();
        assert_eq!(node.addr(), &ConnectionAddr::Tcp("store".to_owned(), 7000));
        let settings = node.redis_settings();
        assert_eq!(
            (settings.username(), settings.password(), settings.db()),
            (Some("me"), Some("p@ss"), 3)
        );
        let node = one("valkey://store").unwrap();
        assert_eq!(node.addr(), &ConnectionAddr::Tcp("store".to_owned(), 6379));
        assert_eq!(node.redis_settings().db(), 0);
    }

    #[test]
    fn schemes_that_end_in_s_are_encrypted() {
        for (scheme, encrypted) in [
            ("redis", false),
            ("valkey", false),
            ("valkey-cluster", false),
            ("rediss", true),
            ("valkeys", true),
        ] {
            let addresses = Addresses::parse(&[format!("{scheme}://:secret@store:7000/")]).unwrap();
            assert_eq!(addresses.need_tls(), encrypted, "{scheme}");
        }
    }

    #[test]
    fn no_message_repeats_an_address() {
        for url in [
            "",
            "hunter2",
            "http://:hunter2@store",
            "redis://:hunter2@",
            "redis://:hunter2@store/x",
            "redis://:hunter2@store/-1",
            "redis://:hunter2@store:99999",
            "redis://me:12/hunter2@store",
            "redis://me:12?hunter2@store",
            "rediss://:hunter2@store#hunter2",
            "redis://:hunter2@store?protocol=9",
        ] {
            let message = one(url).expect_err(url);
            assert!(
                message.contains("number 1") && !message.contains("hunter2"),
                "{message}"
            );
        }
    }

    #[test]
    fn all_addresses_name_the_same_database() {
        let urls = ["redis://a/1".to_owned(), "redis://b/2".to_owned()];
        let Err(error) = Addresses::parse(&urls) else {
            panic!("accepted")
        };
        assert!(error.to_string().contains("number 2"), "{error}");
        assert!(Addresses::parse(&[]).is_err());
    }
}

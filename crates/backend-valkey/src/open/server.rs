//! What a server says about itself, and whether it can be used.

use redis::Value;

use super::obstacle::Obstacle;
use crate::error::OpenError;
use crate::reply::text;

/// The oldest version that works, and its name.
const OLDEST: (Version, &str) = ((7, 2), "7.2");
/// The only policy under which a server never throws a record away.
const KEEPS_EVERYTHING: &str = "noeviction";

/// Major and minor number: what decides whether a server has what is needed.
type Version = (u32, u32);

/// A server, by what `INFO` answers.
#[derive(Clone, Debug)]
pub(super) struct Server {
    version: Version,
    pub(super) version_text: String,
    maxmemory_policy: String,
    pub(super) is_cluster: bool,
    pub(super) is_replica: bool,
    is_loading: bool,
}

impl Server {
    /// Reads an answer to `INFO`.
    pub(super) fn parse(info: &Value) -> Result<Self, Obstacle> {
        let info = text(info)?;
        let field = |name: &str| {
            let mut lines = info.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(found, _)| *found == name).map(|(_, value)| value.trim())
        };
        // Valkey calls itself Redis 7.2.4 beside its own version.
        let version_text = field("valkey_version")
            .or_else(|| field("redis_version"))
            .unwrap_or_default();
        Ok(Self {
            version: parse_version(version_text).ok_or_else(|| unusable(version_text))?,
            version_text: version_text.to_owned(),
            maxmemory_policy: field("maxmemory_policy").unwrap_or_default().to_owned(),
            is_cluster: field("cluster_enabled") == Some("1"),
            is_replica: field("role") == Some("slave"),
            is_loading: field("loading") == Some("1"),
        })
    }
}

/// Refuses servers of which one is too old, may throw records away or is not ready.
pub(super) fn check(servers: &[Server]) -> Result<(), Obstacle> {
    if let Some(lowest) = servers.iter().min_by_key(|server| server.version)
        && lowest.version < OLDEST.0
    {
        let error = OpenError::Version {
            found: lowest.version_text.clone(),
            needed: OLDEST.1,
        };
        // While some are new enough already, the others are being upgraded.
        let upgrading = servers.iter().any(|server| server.version >= OLDEST.0);
        return Err(if upgrading {
            Obstacle::Passing(error)
        } else {
            Obstacle::Lasting(error)
        });
    }
    let evicts = |server: &&Server| !server.is_replica && server.maxmemory_policy != KEEPS_EVERYTHING;
    if let Some(server) = servers.iter().find(evicts) {
        return Err(Obstacle::Lasting(OpenError::Evicts {
            found: server.maxmemory_policy.clone(),
        }));
    }
    match servers.iter().any(|server| server.is_loading) {
        true => Err(Obstacle::Passing(OpenError::Unreachable(
            "it loads its data".to_owned(),
        ))),
        false => Ok(()),
    }
}

/// Numbers may be followed by more, such as `-rc1`.
fn parse_version(text: &str) -> Option<Version> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn unusable(version: &str) -> Obstacle {
    Obstacle::Lasting(OpenError::Version {
        found: format!("of unknown version {version:?}"),
        needed: OLDEST.1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(info: &str) -> Server {
        Server::parse(&Value::BulkString(info.replace('\n', "\r\n").into_bytes())).unwrap()
    }

    fn of_version(version: &str) -> Server {
        server(&format!(
            "# Server\nredis_version:{version}\nmaxmemory_policy:noeviction\n"
        ))
    }

    #[test]
    fn the_version_of_valkey_comes_before_the_one_it_resembles() {
        let valkey =
            server("redis_version:7.2.4\nserver_name:valkey\nvalkey_version:9.1.2\nmaxmemory_policy:noeviction\n");
        assert_eq!(valkey.version, (9, 1));
        assert_eq!(of_version("7.4.0").version, (7, 4));
        assert_eq!(of_version("8.0-rc1").version, (8, 0));
        assert!(Server::parse(&Value::BulkString(b"# Server\r\n".to_vec())).is_err());
    }

    #[test]
    fn the_lowest_version_counts() {
        assert!(check(&[of_version("7.2.0"), of_version("10.0.1")]).is_ok());
        let Err(Obstacle::Passing(error)) = check(&[of_version("8.1.0"), of_version("7.0.15"), of_version("7.2.4")])
        else {
            panic!("an upgrade goes on");
        };
        assert_eq!(error.to_string(), "Valkey 7.0.15 is too old: 7.2 or newer is needed");
        let Err(Obstacle::Lasting(OpenError::Version { found, .. })) =
            check(&[of_version("7.0.15"), of_version("6.2.0")])
        else {
            panic!("nobody upgrades");
        };
        assert_eq!(found, "6.2.0");
    }

    #[test]
    fn a_primary_that_evicts_is_refused() {
        let evicting = "redis_version:7.2.4\nmaxmemory_policy:allkeys-lru\n";
        let replica = server(&format!("{evicting}role:slave\n"));
        assert!(check(&[of_version("7.2.4"), replica]).is_ok());
        let Err(Obstacle::Lasting(error)) = check(&[of_version("7.2.4"), server(evicting)]) else {
            panic!("it evicts");
        };
        assert!(error.to_string().contains("allkeys-lru"), "{error}");
    }

    #[test]
    fn a_server_that_loads_is_waited_for() {
        let loading = server("redis_version:7.2.4\nmaxmemory_policy:noeviction\nloading:1\n");
        assert!(matches!(check(&[loading]), Err(Obstacle::Passing(_))));
    }
}

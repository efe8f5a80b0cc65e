//! Who owns which slot.

use ff_core::partition::crc16;
use redis::{ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value};

use crate::open::Addresses;
use crate::reply::{list, number, optional_text};

const SLOTS: u16 = 16_384;

/// Where a node is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    host: String,
    port: u16,
}

impl Location {
    /// Where an address leads; nowhere if it is not on a network.
    pub(super) fn of(address: &ConnectionInfo) -> Option<Self> {
        match address.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Some(Self {
                host: host.clone(),
                port: *port,
            }),
            _ => None,
        }
    }

    /// The address of a node: one logs in there as at those that were named.
    pub(super) fn address(&self, seeds: &Addresses) -> ConnectionInfo {
        let seed = seeds.first().clone();
        let (host, port) = (self.host.clone(), self.port);
        let address = match seed.addr() {
            ConnectionAddr::TcpTls {
                insecure, tls_params, ..
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            _ => ConnectionAddr::Tcp(host, port),
        };
        seed.set_addr(address)
    }
}

/// Who owns which slots, as one node knows it.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// By their first slot.
    shares: Vec<Share>,
}

/// Neighbouring slots and who has them.
#[derive(Debug)]
struct Share {
    first: u16,
    last: u16,
    /// The primary, then its replicas.
    nodes: Vec<Location>,
}

impl Layout {
    /// Reads an answer to `CLUSTER SLOTS`. A node that does not know its own name is where it was `asked`.
    pub(super) fn parse(reply: Value, asked: &Location) -> RedisResult<Self> {
        let shares = list(reply).map_err(|error| odd(&error))?;
        let shares = shares.into_iter().map(|share| Share::parse(share, asked));
        let mut shares: Vec<Share> = shares.collect::<Result<_, _>>().map_err(|error| odd(&error))?;
        shares.sort_unstable_by_key(|share| share.first);
        Ok(Self { shares })
    }

    /// The primary that owns a slot.
    pub(super) fn owner(&self, slot: u16) -> Option<&Location> {
        let after = self.shares.partition_point(|share| share.first <= slot);
        let share = self.shares[..after].last().filter(|share| slot <= share.last)?;
        share.nodes.first()
    }

    /// Every primary once.
    pub(super) fn primaries(&self) -> Vec<&Location> {
        distinct(self.shares.iter().filter_map(|share| share.nodes.first()))
    }

    /// Every node once.
    pub(super) fn all(&self) -> Vec<&Location> {
        distinct(self.shares.iter().flat_map(|share| &share.nodes))
    }

    /// Whether a node is part of it.
    pub(super) fn has(&self, location: &Location) -> bool {
        self.shares.iter().any(|share| share.nodes.contains(location))
    }
}

impl Share {
    /// First slot, last slot, and the nodes, each as host, port and more.
    fn parse(share: Value, asked: &Location) -> ff_backend::Result<Self> {
        let mut parts = list(share)?.into_iter();
        let mut bound = || number(&parts.next().unwrap_or(Value::Nil));
        let (first, last) = (bound()?, bound()?);
        let nodes = parts.map(|node| {
            let node = list(node)?;
            let [host, port, ..] = node.as_slice() else {
                return Err(crate::error::corrupt("a node without an address"));
            };
            let host = optional_text(host)?.filter(|host| *host != "?");
            Ok(Location {
                host: host.unwrap_or(&asked.host).to_owned(),
                port: number(port)?,
            })
        });
        Ok(Self {
            first,
            last,
            nodes: nodes.collect::<ff_backend::Result<_>>()?,
        })
    }
}

/// The slot of all keys that begin with this prefix: that of the tag in its braces.
pub(crate) fn slot_of(prefix: &str) -> u16 {
    let tag = prefix.trim_start_matches('{').split('}').next().unwrap_or_default();
    crc16(0, tag.as_bytes()) % SLOTS
}

fn distinct<'a>(locations: impl Iterator<Item = &'a Location>) -> Vec<&'a Location> {
    let mut distinct: Vec<&Location> = Vec::new();
    for location in locations {
        if !distinct.contains(&location) {
            distinct.push(location);
        }
    }
    distinct
}

fn odd(error: &ff_backend::Error) -> RedisError {
    (ErrorKind::UnexpectedReturnType, "not a layout", error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: i64) -> Value {
        let id = Value::BulkString(b"07c37df".to_vec());
        Value::Array(vec![Value::BulkString(host.into()), Value::Int(port), id])
    }

    fn layout() -> Layout {
        let share =
            |first, last, nodes: Vec<Value>| Value::Array([vec![Value::Int(first), Value::Int(last)], nodes].concat());
        let reply = Value::Array(vec![
            share(8_192, 16_383, vec![node("b", 7_001), node("c", 7_002)]),
            share(0, 100, vec![node("", 7_000)]),
            share(102, 8_191, vec![node("", 7_000)]),
        ]);
        let asked = Location {
            host: "a".to_owned(),
            port: 6_379,
        };
        Layout::parse(reply, &asked).unwrap()
    }

    #[test]
    fn every_slot_has_its_owner() {
        let layout = layout();
        let host = |slot| layout.owner(slot).map(|owner| owner.host.as_str());
        let hosts: Vec<_> = [0, 100, 101, 102, 8_191, 8_192, 16_383].map(host).into();
        assert_eq!(
            hosts,
            [Some("a"), Some("a"), None, Some("a"), Some("a"), Some("b"), Some("b")]
        );
    }

    #[test]
    fn nodes_are_named_once() {
        let layout = layout();
        assert_eq!((layout.primaries().len(), layout.all().len()), (2, 3));
    }

    #[test]
    fn a_slot_follows_from_the_tag() {
        assert_eq!(slot_of("{ff}:"), slot_of("{ff}:setting:"));
        assert_eq!(slot_of("{123456789}:"), 0x31c3);
    }
}

//! Ports nobody else takes.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};

/// Below the range systems take outgoing ports from: else a client's connection could occupy the port of a server that is
/// down for a moment, or connect to itself there.
const CANDIDATES: std::ops::Range<u16> = 12_000..32_000;

/// A loopback port that is kept for a server also while the server is down.
pub struct Port {
    number: u16,
    /// Its TCP side belongs to the server. The UDP side is the lock between test processes: the system releases it when this
    /// process ends, however it ends.
    _lock: UdpSocket,
}

impl Port {
    /// Takes a port that is free now.
    ///
    /// # Panics
    ///
    /// When none is.
    pub fn take() -> Port {
        let seed = RandomState::new();
        let width = u64::from(CANDIDATES.end - CANDIDATES.start);
        (0..10_000_u32)
            .filter_map(|attempt| u16::try_from(seed.hash_one(attempt) % width).ok())
            .find_map(|offset| Port::lock(CANDIDATES.start + offset))
            .expect("no loopback port between 12000 and 32000 is free")
    }

    fn lock(number: u16) -> Option<Port> {
        let lock = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        Some(Port { number, _lock: lock })
    }

    /// The number of the port.
    pub fn number(&self) -> u16 {
        self.number
    }
}

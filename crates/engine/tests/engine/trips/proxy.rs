//! A way to a PostgreSQL server on which it is seen what clients ask. It has threads of its own, so that a runtime with one thread
//! can wait for it.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a client asks first to speak TLS, where a server would say what it wants to be called.
const TLS_WANTED: [u8; 4] = 80_877_103_u32.to_be_bytes();

/// What clients have asked the server, each round trip once.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// Everything since the last time.
    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn add(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

/// Opens a way to the server at this port of loopback; where clients connect, and what they ask.
pub(super) fn open(port: u16) -> (u16, Asked) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (own_port, asked) = (listener.local_addr().unwrap().port(), Asked::default());
    let noted = asked.clone();
    thread::spawn(move || {
        for client in listener.incoming() {
            let server = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
            carry(client.unwrap(), server.unwrap(), noted.clone());
        }
    });
    (own_port, asked)
}

/// Carries both ways until one end closes, and closes the other one then.
fn carry(mut client: TcpStream, mut server: TcpStream, asked: Asked) {
    let (mut answers, mut answered) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    thread::spawn(move || {
        let _ended = io::copy(&mut answers, &mut answered);
        let _closed = answered.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let _ended = Questions::of(asked).carry(&mut client, &mut server);
        let _closed = server.shutdown(Shutdown::Both);
    });
}

/// What one client asks: statements are prepared under a name, bound by it, and answered once the client syncs.
struct Questions {
    asked: Asked,
    prepared: BTreeMap<Vec<u8>, String>,
    next: String,
}

impl Questions {
    fn of(asked: Asked) -> Self {
        Self {
            asked,
            prepared: BTreeMap::new(),
            next: String::new(),
        }
    }

    /// Messages have a kind, a length that counts itself, and a body; the first ones have no kind.
    fn carry(mut self, client: &mut TcpStream, server: &mut TcpStream) -> io::Result<()> {
        let mut wants_tls = true;
        while wants_tls {
            let body = read(client)?;
            wants_tls = body.starts_with(&TLS_WANTED);
            send(server, &[], &body)?;
        }
        loop {
            let mut kind = [0];
            client.read_exact(&mut kind)?;
            let body = read(client)?;
            // Before the server can answer it.
            self.hear(kind[0], &body);
            send(server, &kind, &body)?;
        }
    }

    fn hear(&mut self, kind: u8, body: &[u8]) {
        let mut texts = body.split(|byte| *byte == 0).map(<[u8]>::to_vec);
        let mut text = || texts.next().unwrap_or_default();
        match kind {
            b'P' => {
                let (name, statement) = (text(), text());
                let statement = called(&String::from_utf8_lossy(&statement));
                self.next = format!("prepare {statement}");
                self.prepared.insert(name, statement);
            }
            b'B' => {
                let (_portal, name) = (text(), text());
                self.next = self.prepared[&name].clone();
            }
            b'Q' => self.asked.add(String::from_utf8_lossy(&text()).into_owned()),
            b'S' => self.asked.add(std::mem::take(&mut self.next)),
            _ => {}
        }
    }
}

fn read(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_be_bytes(length) as usize - length.len()];
    from.read_exact(&mut body)?;
    Ok(body)
}

fn send(to: &mut TcpStream, kind: &[u8], body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len() + 4).map_err(io::Error::other)?;
    to.write_all(&[kind, &length.to_be_bytes(), body].concat())
}

/// The function that a statement calls, if it is one that calls a function of the library.
fn called(statement: &str) -> String {
    let function = statement.strip_prefix("SELECT * FROM ").and_then(|call| {
        let (function, _) = call.split_once('(')?;
        function.split_once('.')
    });
    function.map_or(statement, |(_, name)| name).to_owned()
}

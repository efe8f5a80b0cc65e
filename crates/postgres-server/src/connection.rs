//! Enough of PostgreSQL's protocol to send one statement and read its answer.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use tokio::task::spawn_blocking;

/// Who owns every server and every database of this crate.
pub(crate) const USER: &str = "ff";

/// A database every server has from the beginning.
pub(crate) const FIRST_DATABASE: &str = "postgres";

/// Also for a server that is paused and will never answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The address of a database for clients.
pub(crate) fn url(port: u16, database: &str) -> String {
    format!("postgres://{USER}@127.0.0.1:{port}/{database}")
}

/// Makes a database under a new name.
pub(crate) async fn create_database(port: u16) -> String {
    let name = new_name(port);
    let created = ask(port, FIRST_DATABASE, &format!("CREATE DATABASE {name}")).await;
    created.unwrap_or_else(|reason| panic!("could not make a database at port {port}: {reason}"));
    name
}

/// A name that no database has.
pub(crate) fn new_name(port: u16) -> String {
    format!("test_{:016x}", RandomState::new().hash_one(port))
}

/// [`ask_blocking`] beside what else runs.
pub(crate) async fn ask(port: u16, database: &str, sql: &str) -> Result<String, String> {
    let (database, sql) = (database.to_owned(), sql.to_owned());
    let answer = spawn_blocking(move || ask_blocking(port, &database, &sql)).await;
    answer.expect("nothing here panics or is cancelled")
}

/// Sends SQL over a connection of its own. The answer is a line for each row, with `|` between its values and nothing for
/// NULL, as `psql --no-align --tuples-only` prints it.
pub(crate) fn ask_blocking(port: u16, database: &str, sql: &str) -> Result<String, String> {
    let failed = |error: io::Error| error.to_string();
    let mut connection = Connection::open(port).map_err(failed)?;
    connection.send(None, &greeting(database)).map_err(failed)?;
    connection.answer()?;
    connection.send(Some(b'Q'), &text(sql)).map_err(failed)?;
    connection.answer()
}

struct Connection(TcpStream);

struct Message {
    kind: u8,
    body: Vec<u8>,
}

impl Connection {
    fn open(port: u16) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection(stream))
    }

    /// The first message of a connection has no kind.
    fn send(&mut self, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(body.len() + 4).map_err(|_| malformed())?;
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.0.write_all(&message)
    }

    /// Reads until the server waits for the next statement.
    fn answer(&mut self) -> Result<String, String> {
        let mut lines = Vec::new();
        let mut refusal = None;
        loop {
            let message = self
                .message()
                .map_err(|error| refusal.clone().unwrap_or(error.to_string()))?;
            match message.kind {
                b'D' => lines.push(row(&message.body).ok_or_else(|| malformed().to_string())?),
                b'E' => refusal = Some(reason(&message.body)),
                b'Z' => return refusal.map_or(Ok(lines.join("\n")), Err),
                _ => {}
            }
        }
    }

    fn message(&mut self) -> io::Result<Message> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes(length)).ok();
        let length = length.and_then(|length| length.checked_sub(4)).ok_or_else(malformed)?;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body)?;
        Ok(Message { kind, body })
    }
}

/// Version 3.0 of the protocol, then names and values.
fn greeting(database: &str) -> Vec<u8> {
    let mut body = 0x0003_0000_u32.to_be_bytes().to_vec();
    for word in ["user", USER, "database", database, ""] {
        body.extend(text(word));
    }
    body
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// The number of values, then each with its length before it.
fn row(body: &[u8]) -> Option<String> {
    let (count, mut rest) = body.split_first_chunk()?;
    let mut values = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, after) = rest.split_first_chunk()?;
        // −1 is NULL, after which no bytes follow.
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let (value, after) = after.split_at_checked(length)?;
        values.push(String::from_utf8_lossy(value).into_owned());
        rest = after;
    }
    Some(values.join("|"))
}

/// The message among the fields, each a letter and its text.
fn reason(body: &[u8]) -> String {
    let mut fields = body.split(|byte| *byte == 0);
    let message = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(message.unwrap_or(b"no reason given")).into_owned()
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "not an answer of a PostgreSQL server")
}

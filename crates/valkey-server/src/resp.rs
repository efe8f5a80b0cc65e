//! A client as small as possible, so that what tests look at does not pass through the client under test.

use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;
use std::str;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(10);

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A short word such as `OK`.
    Status(String),
    /// A refusal, its code first.
    Error(String),
    /// A number.
    Integer(i64),
    /// Any bytes.
    Bytes(Vec<u8>),
    /// Nothing there.
    Nil,
    /// Several replies in one.
    Array(Vec<Reply>),
}

impl Reply {
    /// The text of a status or of bytes.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    pub fn text(&self) -> &str {
        let text = match self {
            Reply::Status(text) => Some(text.as_str()),
            Reply::Bytes(bytes) => str::from_utf8(bytes).ok(),
            _ => None,
        };
        text.unwrap_or_else(|| panic!("expected text from the Valkey server and got {self:?}"))
    }

    /// The number of an integer reply.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    pub fn integer(&self) -> i64 {
        match self {
            Reply::Integer(number) => *number,
            _ => panic!("expected a number from the Valkey server and got {self:?}"),
        }
    }

    /// The parts of an array reply.
    ///
    /// # Panics
    ///
    /// When the reply is something else.
    pub fn array(&self) -> &[Reply] {
        match self {
            Reply::Array(replies) => replies,
            _ => panic!("expected an array from the Valkey server and got {self:?}"),
        }
    }
}

/// One connection, one command at a time, in the second version of the protocol.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Connects to a port on loopback.
    pub async fn open(port: u16) -> io::Result<Connection> {
        let stream = timeout(PATIENCE, TcpStream::connect((Ipv4Addr::LOCALHOST, port))).await??;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream,
            received: Vec::new(),
        })
    }

    /// Sends a command and reads its reply; gives up after ten seconds.
    pub async fn command(&mut self, words: &[&[u8]]) -> io::Result<Reply> {
        timeout(PATIENCE, self.exchange(words)).await?
    }

    /// Reads what the server says unasked; gives up after ten seconds.
    pub(crate) async fn next(&mut self) -> io::Result<Reply> {
        timeout(PATIENCE, self.receive()).await?
    }

    async fn exchange(&mut self, words: &[&[u8]]) -> io::Result<Reply> {
        self.stream.write_all(&encoded(words)).await?;
        self.receive().await
    }

    async fn receive(&mut self) -> io::Result<Reply> {
        loop {
            let mut parser = Parser { rest: &self.received };
            if let Some(reply) = parser.reply()? {
                let used = self.received.len() - parser.rest.len();
                self.received.drain(..used);
                return Ok(reply);
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn encoded(words: &[&[u8]]) -> Vec<u8> {
    let mut command = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        command.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        command.extend_from_slice(word);
        command.extend_from_slice(b"\r\n");
    }
    command
}

/// Reads from what has arrived so far; `None` where more must come.
struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn reply(&mut self) -> io::Result<Option<Reply>> {
        let Some(line) = self.line()? else { return Ok(None) };
        let (kind, text) = line.split_at_checked(1).ok_or_else(malformed)?;
        match kind {
            "+" => Ok(Some(Reply::Status(text.to_owned()))),
            "-" => Ok(Some(Reply::Error(text.to_owned()))),
            ":" => Ok(Some(Reply::Integer(text.parse().map_err(|_| malformed())?))),
            "$" | "*" if text == "-1" => Ok(Some(Reply::Nil)),
            "$" => self.bytes(length(text)?),
            "*" => self.array(length(text)?),
            _ => Err(malformed()),
        }
    }

    fn line(&mut self) -> io::Result<Option<&'a str>> {
        let Some(end) = self.rest.windows(2).position(|two| two == b"\r\n") else {
            return Ok(None);
        };
        let line = str::from_utf8(&self.rest[..end]).map_err(|_| malformed())?;
        self.rest = &self.rest[end + 2..];
        Ok(Some(line))
    }

    fn bytes(&mut self, length: usize) -> io::Result<Option<Reply>> {
        let Some((bytes, rest)) = self.rest.split_at_checked(length + 2) else {
            return Ok(None);
        };
        let bytes = bytes.strip_suffix(b"\r\n").ok_or_else(malformed)?;
        self.rest = rest;
        Ok(Some(Reply::Bytes(bytes.to_owned())))
    }

    fn array(&mut self, length: usize) -> io::Result<Option<Reply>> {
        let mut replies = Vec::new();
        for _ in 0..length {
            let Some(reply) = self.reply()? else { return Ok(None) };
            replies.push(reply);
        }
        Ok(Some(Reply::Array(replies)))
    }
}

fn length(text: &str) -> io::Result<usize> {
    text.parse().map_err(|_| malformed())
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "not a reply of a Valkey server")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(input: &[u8]) -> Option<(Reply, usize)> {
        let mut parser = Parser { rest: input };
        let reply = parser.reply().unwrap()?;
        Some((reply, parser.rest.len()))
    }

    #[test]
    fn a_reply_is_read_only_when_all_of_it_has_arrived() {
        let input = b"*5\r\n+OK\r\n-ERR no\r\n:-7\r\n$4\r\na\r\nb\r\n*1\r\n$-1\r\n";
        for end in 0..input.len() {
            assert_eq!(parsed(&input[..end]), None, "after {end} bytes");
        }
        let expected = Reply::Array(vec![
            Reply::Status("OK".to_owned()),
            Reply::Error("ERR no".to_owned()),
            Reply::Integer(-7),
            Reply::Bytes(b"a\r\nb".to_vec()),
            Reply::Array(vec![Reply::Nil]),
        ]);
        assert_eq!(parsed(input), Some((expected, 0)));
    }

    #[test]
    fn what_follows_a_reply_is_left_for_the_next() {
        assert_eq!(parsed(b":1\r\n:2\r\n"), Some((Reply::Integer(1), 4)));
    }

    #[test]
    fn nonsense_is_an_error() {
        assert!(Parser { rest: b"hello\r\n" }.reply().is_err());
        assert!(Parser { rest: b"\r\n" }.reply().is_err());
        assert!(Parser { rest: b"$2\r\nabcd" }.reply().is_err());
    }
}

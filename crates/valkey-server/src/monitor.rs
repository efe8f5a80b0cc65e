//! What clients send, told by the server.

use crate::resp::{Connection, Reply};
use crate::server::Server;

/// Looks at the commands that arrive at a server. Administrative ones are not shown.
pub struct Monitor {
    showing: Connection,
    /// Sends marks, behind which is what was not shown yet.
    marking: Connection,
    marks: u64,
}

impl Monitor {
    pub(crate) async fn start(server: &Server) -> Monitor {
        let marking = logged_in(server).await;
        let mut showing = logged_in(server).await;
        command(&mut showing, &[b"MONITOR"]).await;
        Monitor {
            showing,
            marking,
            marks: 0,
        }
    }

    /// The names of the commands that clients sent since the last time, in order and in small letters. What a function runs
    /// nobody has sent.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached.
    pub async fn sent(&mut self) -> Vec<String> {
        self.marks += 1;
        let mark = format!("mark {} of a monitor", self.marks);
        command(&mut self.marking, &[b"ECHO", mark.as_bytes()]).await;
        let mut sent = Vec::new();
        loop {
            let line = self.showing.next().await;
            let line = line.unwrap_or_else(|error| panic!("a Valkey server shows nothing more: {error}"));
            if line.text().contains(&mark) {
                return sent;
            }
            sent.extend(sent_by_client(line.text()));
        }
    }
}

async fn logged_in(server: &Server) -> Connection {
    let connection = Connection::open(server.port()).await;
    let mut connection = connection.unwrap_or_else(|error| panic!("there is no Valkey server to look at: {error}"));
    let login = server.login_words(b"AUTH");
    if !login.is_empty() {
        command(&mut connection, &login).await;
    }
    connection
}

async fn command(connection: &mut Connection, words: &[&[u8]]) {
    match connection.command(words).await {
        Ok(Reply::Error(reason)) => panic!("a Valkey server lets nobody look: {reason}"),
        Ok(_) => {}
        Err(error) => panic!("a Valkey server does not answer: {error}"),
    }
}

/// The command of a line such as `1794740229.618954 [0 127.0.0.1:42200] "FCALL" "f" "0"`, unless a function ran it.
fn sent_by_client(line: &str) -> Option<String> {
    let (about, words) = line.split_once("] \"")?;
    let name = words.split('"').next()?;
    (!about.ends_with(" lua")).then(|| name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_runs_nobody_has_sent() {
        let sent = sent_by_client(r#"1794740229.618954 [0 127.0.0.1:42200] "FCALL" "f" "0""#);
        assert_eq!(sent.as_deref(), Some("fcall"));
        let sent = sent_by_client(r#"1794740229.618954 [0 [::1]:42200] "get" "] \"""#);
        assert_eq!(sent.as_deref(), Some("get"));
        assert_eq!(sent_by_client(r#"1794740229.619011 [0 lua] "SET" "a" "1""#), None);
    }
}

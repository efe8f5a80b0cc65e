//! One server: its directory, its ports, its process.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use crate::binary::binary;
use crate::monitor::Monitor;
use crate::options::{Login, Options};
use crate::port::Port;
use crate::process::Process;
use crate::resp::{Connection, Reply};
use crate::until::until;

/// A port can be taken by somebody outside between the look at it and the start.
const ATTEMPTS: usize = 5;

/// One Valkey server on loopback; dropping it kills it and removes its directory.
pub struct Server {
    // Dropped in this order: the directory goes when nobody writes to it any more, the ports last.
    state: Mutex<State>,
    directory: TempDir,
    port: Port,
    bus_port: Option<Port>,
    arguments: Vec<String>,
    login: Option<Login>,
}

enum State {
    Down,
    Running(Process),
    Paused(Process),
}

/// Why a process is not a server.
struct NotStarted {
    log_tail: String,
}

impl Server {
    /// Starts a server of its own.
    pub(crate) async fn start_alone(options: &Options) -> Server {
        Server::start(|| Server::prepare(options, None, &[])).await
    }

    /// Starts a server that can meet others.
    pub(crate) async fn start_node(options: &Options, defaults: &[(&str, &str)]) -> Server {
        Server::start(|| Server::prepare(options, Some(Port::take()), defaults)).await
    }

    async fn start(prepare: impl Fn() -> Server) -> Server {
        let mut attempt = 1;
        loop {
            let server = prepare();
            match server.launch().await {
                Ok(()) => return server,
                Err(failure) if failure.port_was_taken() && attempt < ATTEMPTS => attempt += 1,
                Err(failure) => panic!("{}", failure.message()),
            }
        }
    }

    fn prepare(options: &Options, bus_port: Option<Port>, defaults: &[(&str, &str)]) -> Server {
        let directory = TempDir::with_prefix("ff-valkey-").expect("could not make a directory for a Valkey server");
        let port = Port::take();
        let path = directory.path().to_str().map(str::to_owned);
        let path = path.expect("the path of the temporary directory is not UTF-8");
        let number = port.number().to_string();
        let bus_number = bus_port.as_ref().map(|port| port.number().to_string());

        let mut settings = vec![("bind", "127.0.0.1"), ("port", number.as_str()), ("dir", path.as_str())];
        settings.extend(bus_number.as_deref().map(|number| ("cluster-port", number)));
        settings.extend_from_slice(defaults);
        Server {
            arguments: options.arguments(&settings),
            login: options.login.clone(),
            state: Mutex::new(State::Down),
            directory,
            port,
            bus_port,
        }
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Where the other nodes of a cluster connect.
    pub(crate) fn bus_port(&self) -> Option<u16> {
        self.bus_port.as_ref().map(Port::number)
    }

    /// Where clients connect, with the password and with database 0.
    pub fn url(&self) -> String {
        self.url_at(self.port())
    }

    /// The same login at another port, for what stands between a client and this server.
    pub fn url_at(&self, port: u16) -> String {
        let login = self.login.as_ref().map(Login::in_url).unwrap_or_default();
        format!("redis://{login}127.0.0.1:{port}/")
    }

    /// The file all output of the server goes to.
    pub fn log_path(&self) -> PathBuf {
        self.directory.path().join("server.log")
    }

    /// Kills the server with SIGKILL and waits until it is gone.
    pub fn kill(&self) {
        *self.state() = State::Down;
    }

    /// Kills the server if it still runs and starts it again, on the same port and in the same directory.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub async fn restart(&self) {
        self.kill();
        self.launch()
            .await
            .unwrap_or_else(|failure| panic!("{}", failure.message()));
    }

    /// Stops the process without ending it: connections stay open and nobody answers.
    ///
    /// # Panics
    ///
    /// When the server is down.
    pub fn pause(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Down) {
            State::Running(process) => {
                process.signal("STOP");
                State::Paused(process)
            }
            State::Paused(process) => State::Paused(process),
            State::Down => panic!("a Valkey server that is down cannot be paused"),
        };
    }

    /// Lets a paused process go on.
    pub fn resume(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Down) {
            State::Paused(process) => {
                process.signal("CONT");
                State::Running(process)
            }
            other => other,
        };
    }

    /// Whether the process runs, neither killed nor paused.
    pub fn is_running(&self) -> bool {
        matches!(*self.state(), State::Running(_))
    }

    /// Sends a command over a connection of its own and answers with whatever the server says.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached; [`Server::try_command`] does not.
    pub async fn command(&self, words: &[&[u8]]) -> Reply {
        let reply = self.try_command(words).await;
        reply.unwrap_or_else(|error| panic!("the Valkey server at port {} did not answer: {error}", self.port()))
    }

    /// Sends a command over a connection of its own, to a server that may be down.
    pub async fn try_command(&self, words: &[&[u8]]) -> io::Result<Reply> {
        let mut connection = Connection::open(self.port()).await?;
        let login = self.login_words(b"AUTH");
        if !login.is_empty()
            && let refused @ Reply::Error(_) = connection.command(&login).await?
        {
            return Ok(refused);
        }
        connection.command(words).await
    }

    /// How one logs in here, with the word that introduces it; nothing when everybody is welcome.
    pub(crate) fn login_words<'a>(&'a self, keyword: &'a [u8]) -> Vec<&'a [u8]> {
        let login = self.login.iter();
        login
            .flat_map(|login| [keyword, login.user_or_default().as_bytes(), login.password.as_bytes()])
            .collect()
    }

    /// Sends a command written in one line, which must not be refused.
    ///
    /// # Panics
    ///
    /// When the server refuses it or cannot be reached.
    pub async fn ask(&self, line: &str) -> Reply {
        let answer = self.try_ask(line).await;
        answer.unwrap_or_else(|reason| panic!("the Valkey server at port {}: {line}: {reason}", self.port()))
    }

    /// Both kinds of failure as one reason, for what is asked again and again.
    pub(crate) async fn try_ask(&self, line: &str) -> Result<Reply, String> {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        match self.try_command(&words).await {
            Ok(Reply::Error(message)) => Err(message),
            Ok(reply) => Ok(reply),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A section of what the server says about itself, such as `commandstats`.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached.
    pub async fn info(&self, section: &str) -> String {
        self.ask(&format!("INFO {section}")).await.text().to_owned()
    }

    /// Looks from now on at what clients send.
    ///
    /// # Panics
    ///
    /// When the server cannot be reached.
    pub async fn monitor(&self) -> Monitor {
        Monitor::start(self).await
    }

    async fn launch(&self) -> Result<(), NotStarted> {
        let process = Process::spawn(&self.arguments, self.open_log())
            .unwrap_or_else(|error| panic!("could not run {}: {error}", binary().display()));
        *self.state() = State::Running(process);
        until("a Valkey server starts", || self.started_or_ended()).await
    }

    async fn started_or_ended(&self) -> Result<Result<(), NotStarted>, String> {
        if self.has_ended() {
            return Ok(Err(NotStarted {
                log_tail: self.log_tail(),
            }));
        }
        self.answers().await.map(Ok)
    }

    /// Whether it is this very process that answers: while ours is about to fail, somebody else may have the port.
    async fn answers(&self) -> Result<(), String> {
        self.try_ask("PING").await?;
        let about = self.try_ask("INFO server").await?;
        let State::Running(process) = &*self.state() else {
            return Err("it was killed".to_owned());
        };
        let line = format!("process_id:{}", process.id());
        let ours = about.text().lines().any(|found| found == line);
        if ours {
            Ok(())
        } else {
            Err("another server answers".to_owned())
        }
    }

    fn has_ended(&self) -> bool {
        match &mut *self.state() {
            State::Running(process) | State::Paused(process) => !matches!(process.ended(), Ok(None)),
            State::Down => true,
        }
    }

    fn open_log(&self) -> File {
        let log = OpenOptions::new().create(true).append(true).open(self.log_path());
        log.expect("could not open the log of a Valkey server")
    }

    fn log_tail(&self) -> String {
        let text = fs::read_to_string(self.log_path()).unwrap_or_else(|error| error.to_string());
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// A panic elsewhere leaves a state as good as before.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NotStarted {
    fn port_was_taken(&self) -> bool {
        self.log_tail.contains("already in use")
    }

    fn message(&self) -> String {
        format!("a Valkey server did not start; its log ends with\n{}", self.log_tail)
    }
}

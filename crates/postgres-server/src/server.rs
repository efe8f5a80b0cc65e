//! One server: its directory, its port, its processes.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_valkey_server::Port;

use crate::connection::{self, FIRST_DATABASE, USER};
use crate::directory::Directory;
use crate::family::signal;
use crate::options::Options;
use crate::process::Process;
use crate::programs::programs;
use crate::until::until;

/// A port can be taken by somebody outside between the look at it and the start.
const ATTEMPTS: usize = 5;

/// One PostgreSQL server on loopback; dropping it kills it and removes its directory.
pub struct Server {
    // Dropped in this order: the directory goes when nobody writes to it any more, the port last.
    state: Mutex<State>,
    directory: Directory,
    port: Port,
    options: Options,
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
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    ///
    /// When it does not start; the message ends with its log.
    pub async fn start(options: Options) -> Server {
        Server::start_after(None, &options).await
    }

    /// Starts a server that is empty, or a copy of another which it will follow.
    pub(crate) async fn start_after(primary: Option<&Server>, options: &Options) -> Server {
        let mut attempt = 1;
        loop {
            let server = Server {
                state: Mutex::new(State::Down),
                directory: Directory::make(options),
                port: Port::take(),
                options: options.clone(),
            };
            match primary {
                Some(primary) => server.copy(primary).await,
                None => server.initialize().await,
            }
            match server.launch().await {
                Ok(()) => return server,
                Err(failure) if failure.port_was_taken() && attempt < ATTEMPTS => attempt += 1,
                Err(failure) => panic!("{}", failure.message()),
            }
        }
    }

    /// With no locale and no time zone of this machine: a store must not depend on them, and its tests neither.
    async fn initialize(&self) {
        let login = ["--username", USER, "--auth=trust"];
        let text = ["--no-locale", "--encoding=UTF8"];
        self.directory
            .fill("initdb", &[&login[..], &text, &["--no-sync"]].concat())
            .await;
    }

    /// Where clients connect.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Where clients connect to one of its databases.
    pub fn url(&self, database: &str) -> String {
        connection::url(self.port(), database)
    }

    /// The file all output of the server goes to.
    pub fn log_path(&self) -> PathBuf {
        self.directory.log()
    }

    /// Makes an empty database and answers with its name.
    ///
    /// # Panics
    ///
    /// When the server refuses it or cannot be reached.
    pub async fn create_database(&self) -> String {
        connection::create_database(self.port()).await
    }

    /// Sends SQL over a connection of its own, which must not be refused. The answer is a line for each row, with `|` between
    /// its values and nothing for NULL.
    ///
    /// # Panics
    ///
    /// When the server refuses it or cannot be reached.
    pub async fn ask(&self, database: &str, sql: &str) -> String {
        let answer = self.try_ask(database, sql).await;
        answer.unwrap_or_else(|reason| panic!("the PostgreSQL server at port {}: {sql}: {reason}", self.port()))
    }

    /// Sends SQL over a connection of its own, to a server that may be down; both kinds of failure as one reason.
    pub async fn try_ask(&self, database: &str, sql: &str) -> Result<String, String> {
        connection::ask(self.port(), database, sql).await
    }

    /// Changes a setting that needs no restart, for now and for after a restart. What [`Options`] set is stronger.
    ///
    /// # Panics
    ///
    /// When the server refuses it or cannot be reached.
    pub async fn set(&self, name: &str, value: &str) {
        let value = value.replace('\'', "''");
        self.ask(FIRST_DATABASE, &format!("ALTER SYSTEM SET {name} = '{value}'"))
            .await;
        self.ask(FIRST_DATABASE, "SELECT pg_reload_conf()").await;
    }

    /// Kills all processes of the server with SIGKILL, as a crash of its machine would, and waits until they are gone.
    pub fn kill(&self) {
        *self.state() = State::Down;
    }

    /// Kills one of its processes, which `pg_stat_activity` tells, with SIGKILL. A server ends all connections then and recovers.
    ///
    /// # Panics
    ///
    /// When there is no such process.
    pub fn kill_process(&self, id: u32) {
        assert!(signal("KILL", &[id]), "there is no PostgreSQL process {id}");
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

    /// Stops all processes without ending them: connections stay open and nobody answers.
    ///
    /// # Panics
    ///
    /// When the server is down.
    pub fn pause(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Down) {
            State::Running(process) => {
                process.pause();
                State::Paused(process)
            }
            State::Paused(process) => State::Paused(process),
            State::Down => panic!("a PostgreSQL server that is down cannot be paused"),
        };
    }

    /// Lets paused processes go on.
    pub fn resume(&self) {
        let mut state = self.state();
        *state = match std::mem::replace(&mut *state, State::Down) {
            State::Paused(process) => {
                process.resume();
                State::Running(process)
            }
            other => other,
        };
    }

    /// Whether the server runs, neither killed nor paused.
    pub fn is_running(&self) -> bool {
        matches!(*self.state(), State::Running(_))
    }

    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Leaves the server to those who hold the pipe of which this is the reading end, and answers with its directory.
    pub(crate) fn hand_over(self, users: Stdio) -> PathBuf {
        let state = std::mem::replace(&mut *self.state(), State::Down);
        let State::Running(process) = state else {
            panic!("only a PostgreSQL server that runs can be left to others")
        };
        let directory = self.directory.hand_over(users);
        process.leave();
        directory
    }

    async fn launch(&self) -> Result<(), NotStarted> {
        let mut arguments = self.options.arguments();
        arguments.extend(["-c".to_owned(), format!("port={}", self.port())]);
        let process = Process::spawn(&self.directory, &arguments)
            .unwrap_or_else(|error| panic!("could not run postgres in {}: {error}", programs().display()));
        *self.state() = State::Running(process);
        until("a PostgreSQL server starts", async || self.ready_or_ended()).await
    }

    fn ready_or_ended(&self) -> Result<Result<(), NotStarted>, String> {
        let mut state = self.state();
        let State::Running(process) = &mut *state else {
            return Err("it was killed or paused meanwhile".to_owned());
        };
        if process.is_ready() {
            return Ok(Ok(()));
        }
        let log_tail = self.directory.log_tail();
        match process.ended() {
            Ok(None) => Err(format!("it is not ready; its log ends with\n{log_tail}")),
            _ => Ok(Err(NotStarted { log_tail })),
        }
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
        format!(
            "a PostgreSQL server did not start; its log ends with\n{}",
            self.log_tail
        )
    }
}

//! The server that all test processes of a user share.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use tokio::net::unix::pipe;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::account::own_user_id;
use crate::directory::PREFIX;
use crate::guard;
use crate::options::Options;
use crate::programs::programs;
use crate::server::Server;

/// The shared server, used by this process.
pub(crate) struct Shared {
    port: u16,
    /// Its guard waits for the end of this pipe.
    _user: File,
}

/// Where the shared server is written down. Its lock is held by the one process that looks for the server or starts it.
struct Register(File);

struct Entry {
    port: u16,
    directory: PathBuf,
}

impl Shared {
    /// Makes this process one of its users, until the process ends.
    pub(crate) async fn joined() -> &'static Shared {
        static JOINED: OnceCell<Shared> = OnceCell::const_new();
        JOINED.get_or_init(Shared::join).await
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    async fn join() -> Shared {
        let register = spawn_blocking(Register::open).await;
        let mut register = register.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()));
        match register.read().and_then(Shared::running) {
            Some(shared) => shared,
            None => Shared::start(&mut register).await,
        }
    }

    fn running(entry: Entry) -> Option<Shared> {
        match enter(&users(&entry.directory)) {
            Ok(user) => Some(Shared {
                port: entry.port,
                _user: user,
            }),
            // Its guard ends it right now and removes the directory itself.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            // Its guard was killed. A server whose files are gone ends by itself within a minute.
            Err(_) => {
                let _ = fs::remove_dir_all(entry.directory);
                None
            }
        }
    }

    async fn start(register: &mut Register) -> Shared {
        let server = Server::start(options()).await;
        let port = server.port();
        let users = users(server.directory().path());
        let (reader, user) = make_pipe(&users).expect("could not make the pipe that the users of a server hold");
        let directory = server.hand_over(reader);
        register.write(&Entry { port, directory });
        Shared { port, _user: user }
    }
}

impl Register {
    /// Waits until no other process has it.
    fn open() -> Register {
        let path = path();
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(&path)?;
            file.lock()?;
            Ok(file)
        };
        let file = open().unwrap_or_else(|error: io::Error| panic!("could not lock {}: {error}", path.display()));
        // What it says is believed, up to which directory may be removed.
        let owner = file.metadata().map(|about| about.uid());
        assert!(
            owner.is_ok_and(|owner| owner == own_user_id()),
            "{} belongs to somebody else; remove it",
            path.display()
        );
        Register(file)
    }

    /// Nothing when a process was killed before it had written.
    fn read(&mut self) -> Option<Entry> {
        let mut text = String::new();
        self.0.read_to_string(&mut text).ok()?;
        let (port, directory) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Entry {
            port: port.parse().ok()?,
            directory: PathBuf::from(directory),
        })
    }

    fn write(&mut self, entry: &Entry) {
        let text = format!("{} {}\n", entry.port, entry.directory.display());
        let written = self
            .0
            .set_len(0)
            .and_then(|()| self.0.rewind())
            .and_then(|()| self.0.write_all(text.as_bytes()));
        written.expect("could not write down where the shared PostgreSQL server is");
    }
}

fn options() -> Options {
    Options::default()
}

/// Another name for everything that would make it another server.
fn path() -> PathBuf {
    let mut kind = DefaultHasher::new();
    (programs(), options().arguments(), guard::SCRIPT).hash(&mut kind);
    env::temp_dir().join(format!("{PREFIX}{}-{:016x}", own_user_id(), kind.finish()))
}

fn users(directory: &Path) -> PathBuf {
    directory.join("users")
}

/// Makes the pipe, with its reading end for the guard and a first user.
fn make_pipe(users: &Path) -> io::Result<(Stdio, File)> {
    let made = Command::new("mkfifo").args(["-m", "600"]).arg(users).status();
    if !made.as_ref().is_ok_and(ExitStatus::success) {
        return Err(io::Error::other(format!("mkfifo: {made:?}")));
    }
    let reader = pipe::OpenOptions::new().open_receiver(users)?.into_blocking_fd()?;
    Ok((Stdio::from(reader), enter(users)?))
}

/// Fails at once when nobody reads.
fn enter(users: &Path) -> io::Result<File> {
    let mut user = File::from(pipe::OpenOptions::new().open_sender(users)?.into_blocking_fd()?);
    user.write_all(b"\n")?;
    Ok(user)
}

//! How a server is set up.

/// What survives a killed server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing: a restarted server is empty.
    #[default]
    None,
    /// What was appended to the log of commands.
    AppendOnly {
        /// When the log is forced to disk.
        fsync: Fsync,
    },
}

/// When the append-only log is forced to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fsync {
    /// Before a write is answered.
    Always,
    /// Once a second.
    EverySecond,
}

/// How a server is set up; the default keeps nothing and asks for no password.
#[derive(Clone, Default)]
pub struct Options {
    persistence: Persistence,
    pub(crate) login: Option<Login>,
    settings: Vec<Setting>,
}

/// Who may send commands.
#[derive(Clone)]
pub(crate) struct Login {
    /// `None` is the user every server has, by its password alone.
    pub(crate) user: Option<String>,
    pub(crate) password: String,
}

/// A line of the configuration: a name and its words.
#[derive(Clone)]
struct Setting(Vec<String>);

impl Options {
    /// What survives a killed server.
    #[must_use]
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// Asks every client for this password.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        self.login = Some(Login {
            user: None,
            password: password.to_owned(),
        });
        self
    }

    /// Admits this user only, who may do everything.
    #[must_use]
    pub fn user(mut self, user: &str, password: &str) -> Self {
        self.login = Some(Login {
            user: Some(user.to_owned()),
            password: password.to_owned(),
        });
        self
    }

    /// What is evicted when memory is full, as the server names it (`noeviction`, `allkeys-lru`, …).
    #[must_use]
    pub fn maxmemory_policy(self, policy: &str) -> Self {
        self.set("maxmemory-policy", policy)
    }

    /// Any other line of the configuration; what is set last holds, also over the defaults of this crate.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.push(Setting::new(name, value));
        self
    }

    /// The settings as command-line arguments, after `defaults` and stronger than they.
    pub(crate) fn arguments(&self, defaults: &[(&str, &str)]) -> Vec<String> {
        let mut settings: Vec<Setting> = defaults.iter().map(|(name, value)| Setting::new(name, value)).collect();
        settings.extend(self.persistence.settings());
        settings.extend(self.login.iter().flat_map(Login::settings));
        settings.extend_from_slice(&self.settings);
        settings.into_iter().flat_map(|setting| setting.0).collect()
    }
}

impl Persistence {
    fn settings(self) -> Vec<Setting> {
        let (appendonly, appendfsync) = match self {
            Persistence::None => ("no", "no"),
            Persistence::AppendOnly { fsync: Fsync::Always } => ("yes", "always"),
            Persistence::AppendOnly {
                fsync: Fsync::EverySecond,
            } => ("yes", "everysec"),
        };
        vec![
            Setting::new("save", ""),
            Setting::new("appendonly", appendonly),
            Setting::new("appendfsync", appendfsync),
        ]
    }
}

impl Login {
    pub(crate) fn user_or_default(&self) -> &str {
        self.user.as_deref().unwrap_or("default")
    }

    /// Replicas log in at their primary like everybody else.
    fn settings(&self) -> Vec<Setting> {
        let mut settings = match &self.user {
            None => vec![Setting::new("requirepass", &self.password)],
            Some(user) => vec![
                Setting::new("user", "default off"),
                Setting::new("user", &format!("{user} on >{} ~* &* +@all", self.password)),
                Setting::new("masteruser", user),
            ],
        };
        settings.push(Setting::new("masterauth", &self.password));
        settings
    }

    /// The part of a URL before the host.
    pub(crate) fn in_url(&self) -> String {
        let user = self.user.as_deref().unwrap_or_default();
        format!("{}:{}@", percent_encoded(user), percent_encoded(&self.password))
    }
}

impl Setting {
    fn new(name: &str, value: &str) -> Self {
        let mut words = vec![format!("--{name}")];
        words.extend(value.split_whitespace().map(str::to_owned));
        if words.len() == 1 {
            words.push(String::new());
        }
        Setting(words)
    }
}

fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

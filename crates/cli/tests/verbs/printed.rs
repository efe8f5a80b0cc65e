//! What one run of `ff` printed.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// Writes the expected files anew, when set.
const UPDATE: &str = "UPDATE_GOLDEN";

/// Runs of `ff` that belong together, each with what it printed.
#[derive(Default)]
pub(crate) struct Session {
    text: String,
}

impl Session {
    /// Runs a command and keeps what it printed and how it ended.
    pub(crate) fn run(&mut self, mut command: Command, shown: &str) -> &mut Self {
        let ran = command.output().expect("ff is there");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("ff prints text");
        let (told, aside) = (text(ran.stdout), text(ran.stderr));
        let mut part = format!("$ ff {shown}\n{told}");
        for line in aside.lines() {
            writeln!(part, "! {line}").unwrap();
        }
        match ran.status.code() {
            Some(0) => {}
            Some(code) => writeln!(part, "exit code {code}").unwrap(),
            None => writeln!(part, "killed").unwrap(),
        }
        writeln!(self.text, "{part}").unwrap();
        self
    }

    /// Compares with what is expected.
    pub(crate) fn is_as_expected(&self, name: &str) {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/verbs/expected"));
        let path = folder.join(format!("{name}.txt"));
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &self.text).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            expected == self.text,
            "{} is out of date; {UPDATE}=1 writes it anew. Printed was:\n{}",
            path.display(),
            self.text
        );
    }
}

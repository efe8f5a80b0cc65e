//! The languages there is something to begin with, and what that is.

use std::path::Path;

use super::sdk;

/// Languages that workers can be written in today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Language {
    /// With the SDK
    Rust,
    /// With nothing but the standard library
    Python,
    /// A command for every task
    Shell,
}

/// A file to write.
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) text: String,
    pub(super) is_program: bool,
}

/// The page whose worker is that of Python: there is one, and a test runs it.
const PROTOCOL: &str = include_str!("../../../../docs/how-to/worker-in-any-language.md");

impl Language {
    /// What is written.
    pub(super) fn files(self, sdk: Option<&Path>) -> anyhow::Result<Vec<File>> {
        Ok(match self {
            Self::Rust => vec![
                text("Cargo.toml", &sdk::manifest(sdk)?),
                text("src/main.rs", include_str!("../../templates/rust/src/main.rs")),
                text("README.md", include_str!("../../templates/rust/README.md")),
            ],
            Self::Python => vec![
                text("worker.py", &python_worker(PROTOCOL)),
                text("tasks.py", include_str!("../../templates/python/tasks.py")),
                text("README.md", include_str!("../../templates/python/README.md")),
            ],
            Self::Shell => vec![
                program("worker.sh", include_str!("../../templates/shell/worker.sh")),
                program("hello.sh", include_str!("../../templates/shell/hello.sh")),
                text("README.md", include_str!("../../templates/shell/README.md")),
            ],
        })
    }

    /// The command that is the worker.
    pub(super) const fn start(self) -> &'static str {
        match self {
            Self::Rust => "cargo run",
            Self::Python => "python3 worker.py",
            Self::Shell => "./worker.sh",
        }
    }
}

fn text(path: &'static str, text: &str) -> File {
    File {
        path,
        text: text.to_owned(),
        is_program: false,
    }
}

fn program(path: &'static str, text: &str) -> File {
    File {
        path,
        text: text.to_owned(),
        is_program: true,
    }
}

/// The worker of the page, with its tasks in another file.
fn python_worker(page: &str) -> String {
    let (_, block) = page.split_once("```python\n").unwrap_or_default();
    let (code, _) = block.split_once("\n```").unwrap_or_default();
    let (before, rest) = code.split_once("def write(task):").unwrap_or_default();
    let (_, after) = rest.split_once("\nfor number in (signal.").unwrap_or_default();
    format!(
        "\"\"\"A worker: it takes tasks, keeps their leases and records their steps. The tasks themselves are in tasks.py.\n\n\
         docs/how-to/worker-in-any-language.md of FlowFabric explains every line.\n\"\"\"\n\n\
         {before}from tasks import HANDLERS\n\nfor number in (signal.{after}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_of_the_page_is_whole_but_for_its_tasks() {
        let worker = python_worker(PROTOCOL);
        for part in [
            "class Task:",
            "from tasks import HANDLERS",
            "signal.signal(number",
            "call(\"DELETE\"",
        ] {
            assert!(worker.contains(part), "{part} is missing in {worker}");
        }
        assert!(!worker.contains("def write"));
    }

    #[test]
    fn every_language_has_three_files() {
        let sdk = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../sdk"));
        for language in [Language::Rust, Language::Python, Language::Shell] {
            assert_eq!(language.files(Some(sdk)).unwrap().len(), 3, "{language:?}");
        }
    }
}

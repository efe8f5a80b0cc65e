//! `ff init`: a worker of one's own, in three files that run at once.

mod language;
mod sdk;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use self::language::{File, Language};
use crate::failure::{Class, Failure};
use crate::say;

/// Write a worker to begin with.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// In which language
    language: Language,
    /// The folder, which is made
    #[arg(default_value = "hello")]
    folder: PathBuf,
    /// Where the sources of ff-sdk are, for rust [default: those this program was built from, if they are still there]
    #[arg(long, value_name = "FOLDER")]
    sdk: Option<PathBuf>,
}

/// Writes the files, and says what to do with them.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { language, folder, sdk } = arguments;
    refuse_used(folder)?;
    for file in language.files(sdk.as_deref())? {
        write(folder, &file)?;
    }
    let (folder, start, ff) = (folder.display(), language.start(), program());
    say::line(format_args!(
        "\nNow:\n\n  cd {folder}\n  {ff} dev --worker '{start}'\n\nREADME.md says what to try then."
    ));
    Ok(())
}

/// What `ff` is called from another folder: a newcomer may have started it by its path.
fn program() -> String {
    let asked = std::env::args().next().unwrap_or_default();
    let own = std::env::current_exe().ok().filter(|_| asked.contains('/'));
    own.map_or_else(|| "ff".to_owned(), |own| own.display().to_string())
}

fn refuse_used(folder: &Path) -> anyhow::Result<()> {
    let is_used = folder.is_file() || folder.read_dir().is_ok_and(|mut inside| inside.next().is_some());
    if !is_used {
        return Ok(());
    }
    let failure = Failure::new(
        Class::Refused,
        format!("there is something in {} already", folder.display()),
    );
    Err(failure.advise("Name another folder: ff init LANGUAGE FOLDER.").into())
}

fn write(folder: &Path, file: &File) -> anyhow::Result<()> {
    let path = folder.join(file.path);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    std::fs::write(&path, &file.text).with_context(|| format!("cannot write {}", path.display()))?;
    if file.is_program {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    say::line(path.display());
    Ok(())
}

//! `ff completions`.

use clap_complete::Shell;

use crate::verbs::output::{Format, Out};

/// Print what makes a shell complete the arguments of `ff`
///
/// For bash: ff completions bash > ~/.local/share/bash-completion/completions/ff
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::command(), "ff", &mut script);
        Out::standard(Format::Table).bytes(&script)
    }
}

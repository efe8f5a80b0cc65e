//! `ff schema`.

use crate::config;
use crate::verbs::flow;
use crate::verbs::output::{Format, Out};

/// Print the JSON Schema of a file, for editors
#[derive(clap::Args)]
pub(crate) struct Schema {
    /// Of which file
    #[arg(value_enum)]
    file: File,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum File {
    /// ff.toml, the settings of `ff serve`
    Config,
    /// What `ff flow submit` takes, JSON or YAML
    Flow,
}

impl Schema {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let schema = match self.file {
            File::Config => config::schema()?,
            File::Flow => flow::schema(),
        };
        Out::standard(Format::Json).json(&schema)
    }
}

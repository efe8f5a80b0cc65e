//! `ff flow`.

mod cancel;
mod draw;
mod file;
mod get;
mod list;
mod parts;
mod submit;

pub(crate) use file::schema;

/// Submit, show, draw and cancel flows
#[derive(clap::Args)]
pub(crate) struct Flow {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    Submit(submit::Submit),
    List(list::List),
    Get(get::Get),
    Graph(draw::Graph),
    Cancel(cancel::Cancel),
}

impl Flow {
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::Submit(action) => action.run().await,
            Action::List(action) => action.run().await,
            Action::Get(action) => action.run().await,
            Action::Graph(action) => action.run().await,
            Action::Cancel(action) => action.run().await,
        }
    }
}

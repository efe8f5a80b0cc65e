//! Colours: the terminal's own sixteen, which its owner has chosen to be read on light or dark.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use ff_core::state::PublicState;

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ink {
    #[default]
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Warning,
    Busy,
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Colours,
    None,
}

impl Paint {
    /// Colours only on a terminal that has them, and whose owner wants them.
    pub(crate) fn of_stdout() -> Self {
        let said = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if std::io::stdout().is_terminal() && !said("NO_COLOR") && !is_dumb {
            return Self::Colours;
        }
        Self::None
    }

    /// The text in this ink.
    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        let style = ink.style();
        if self == Self::None || text.is_empty() || style.is_plain() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}

impl Ink {
    const fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default(),
            Self::Busy => AnsiColor::Cyan.on_default(),
        }
    }
}

/// How a state looks.
pub(crate) const fn state_ink(state: PublicState) -> Ink {
    match state {
        PublicState::Completed => Ink::Good,
        PublicState::Failed | PublicState::Expired => Ink::Bad,
        PublicState::Cancelled | PublicState::Skipped => Ink::Faint,
        PublicState::Active => Ink::Busy,
        PublicState::Suspended | PublicState::RateLimited => Ink::Warning,
        PublicState::Waiting | PublicState::Resumable | PublicState::Delayed | PublicState::WaitingChildren => {
            Ink::Plain
        }
    }
}

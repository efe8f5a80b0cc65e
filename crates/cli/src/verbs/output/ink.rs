//! Colours that are read on light and on dark, whichever of both a terminal is: nobody can ask it.

use std::io::IsTerminal;

use anstyle::{Ansi256Color, AnsiColor, Style};
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

/// Which colours there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// 256, which look the same everywhere.
    Tones,
    /// Sixteen, which look as the owner of the terminal likes: yellow is often too pale on white, and blue too dark on black.
    Sixteen,
    None,
}

impl Paint {
    /// Colours only on a terminal that has them, and whose owner wants them.
    pub(crate) fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::None;
        }
        Self::of(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// What a terminal has whose environment this is.
    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        match variable("TERM") {
            None => Self::None,
            Some(term) if term == "dumb" || variable("NO_COLOR").is_some() => Self::None,
            Some(term) if term.contains("256color") || variable("COLORTERM").is_some() => Self::Tones,
            Some(_) => Self::Sixteen,
        }
    }

    /// The text in this ink.
    pub(crate) fn paint(self, ink: Ink, text: &str) -> String {
        let style = self.style(ink);
        if text.is_empty() || style.is_plain() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }

    fn style(self, ink: Ink) -> Style {
        let tone = |number| Ansi256Color(number).on_default();
        match (ink, self) {
            (Ink::Plain, _) | (_, Self::None) => Style::new(),
            (Ink::Strong, _) => Style::new().bold(),
            (Ink::Faint, _) => Style::new().dimmed(),
            (Ink::Good, Self::Tones) => tone(28),
            (Ink::Good, Self::Sixteen) => AnsiColor::Green.on_default(),
            (Ink::Bad, Self::Tones) => tone(160),
            (Ink::Bad, Self::Sixteen) => AnsiColor::Red.on_default(),
            (Ink::Warning, Self::Tones) => tone(166),
            (Ink::Warning, Self::Sixteen) => AnsiColor::Magenta.on_default(),
            (Ink::Busy, Self::Tones) => tone(31),
            (Ink::Busy, Self::Sixteen) => AnsiColor::Cyan.on_default(),
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

#[cfg(test)]
mod tests {
    use anstyle::Color;

    use super::*;

    /// How bright a colour of the cube in the 256 is, from black to white.
    fn brightness(number: u8) -> f64 {
        let level = |step: u8| f64::from(if step == 0 { 0 } else { 55 + 40 * step }) / 255.0;
        let light = |step: u8| match level(step) {
            dark if dark <= 0.04045 => dark / 12.92,
            other => ((other + 0.055) / 1.055).powf(2.4),
        };
        let of_cube = number - 16;
        0.2126 * light(of_cube / 36) + 0.7152 * light(of_cube / 6 % 6) + 0.0722 * light(of_cube % 6)
    }

    #[test]
    fn tones_are_read_on_black_and_on_white() {
        for ink in [Ink::Good, Ink::Bad, Ink::Warning, Ink::Busy] {
            let Some(Color::Ansi256(tone)) = Paint::Tones.style(ink).get_fg_color() else {
                panic!("{ink:?} has a tone");
            };
            let brightness = brightness(tone.0);
            let (on_black, on_white) = ((brightness + 0.05) / 0.05, 1.05 / (brightness + 0.05));
            // Large text wants 3, any text 4.5, and no colour has more than 4.6 on both.
            assert!(
                on_black > 3.8 && on_white > 3.8,
                "{ink:?}: {on_black} on black, {on_white} on white"
            );
        }
    }

    #[test]
    fn colours_are_those_a_terminal_says_it_has() {
        let of = |given: &[(&str, &str)]| {
            Paint::of(|name| {
                given
                    .iter()
                    .find(|(given, _)| *given == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("TERM", "xterm-256color")]), Paint::Tones);
        assert_eq!(of(&[("TERM", "alacritty"), ("COLORTERM", "truecolor")]), Paint::Tones);
        assert_eq!(of(&[("TERM", "linux")]), Paint::Sixteen);
        assert_eq!(of(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), Paint::None);
        assert_eq!(of(&[("TERM", "dumb")]), Paint::None);
        assert_eq!(of(&[]), Paint::None);
    }
}

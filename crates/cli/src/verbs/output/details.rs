//! One thing, a line for each of its properties.

use unicode_width::UnicodeWidthStr;

use super::clean::clean;
use super::ink::{Ink, Paint};

/// What is known of one thing.
#[derive(Default)]
pub(crate) struct Details {
    lines: Vec<(&'static str, String, Ink)>,
}

impl Details {
    /// Adds a property.
    pub(crate) fn add(&mut self, name: &'static str, value: impl AsRef<str>) {
        self.painted(Ink::Plain, name, value);
    }

    /// Adds a property if there is one.
    pub(crate) fn maybe(&mut self, name: &'static str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    /// Adds a property in this ink.
    pub(crate) fn painted(&mut self, ink: Ink, name: &'static str, value: impl AsRef<str>) {
        self.lines.push((name, clean(value.as_ref()), ink));
    }

    /// The lines. What is longer than there is room goes on below.
    pub(crate) fn render(&self, width: Option<usize>, paint: Paint) -> String {
        let names = self.lines.iter().map(|(name, ..)| name.width()).max().unwrap_or(0);
        let room = width.map(|width| width.saturating_sub(names + 2).max(20));
        let mut text = String::new();
        for (name, value, ink) in &self.lines {
            let mut label = *name;
            for piece in wrapped(value, room) {
                let space = " ".repeat(names - label.width() + 2);
                let (label, piece) = (
                    paint.paint(Ink::Faint, std::mem::take(&mut label)),
                    paint.paint(*ink, &piece),
                );
                text += format!("{label}{space}{piece}").trim_end();
                text.push('\n');
            }
        }
        text
    }
}

/// The text in lines that are no wider than there is room, broken between words; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.width() + 1 + word.width() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_go_on_below_themselves() {
        let mut details = Details::default();
        details.add("kind", "report");
        details.add("reason", "one two three four five six");
        details.maybe("flow", None::<&str>);
        let expected = "kind    report\n\
                        reason  one two three four\n        five six\n";
        assert_eq!(details.render(Some(28), Paint::None), expected);
    }
}

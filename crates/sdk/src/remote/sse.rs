//! Server-sent events, read from the bytes of an answer.

/// One message of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Where to go on after it.
    pub id: Option<String>,
    /// What it is.
    pub event: String,
    /// What it says.
    pub data: String,
}

/// Cuts bytes into messages as they come.
#[derive(Default)]
pub(super) struct Parser {
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    message: Message,
    has_data: bool,
}

impl Parser {
    /// Takes the next bytes; what they complete is put into `messages`.
    pub(super) fn take(&mut self, bytes: &[u8], messages: &mut impl Extend<Message>) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // What is not UTF-8 is no message of ours.
            messages.extend(std::str::from_utf8(line).ok().and_then(|line| self.line(line)));
        }
    }

    /// Takes a line; an empty one ends a message.
    fn line(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            return std::mem::take(&mut self.has_data).then_some(message);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.message.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.message.event),
            "data" => {
                if self.has_data {
                    self.message.data.push('\n');
                }
                self.has_data = true;
                self.message.data.push_str(value);
            }
            // A comment keeps the connection alive, and how soon to come back is our own decision.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(parts: &[&str]) -> Vec<Message> {
        let (mut parser, mut messages) = (Parser::default(), Vec::new());
        for part in parts {
            parser.take(part.as_bytes(), &mut messages);
        }
        messages
    }

    #[test]
    fn a_message_is_read_however_its_bytes_are_cut() {
        let text = ": hello\nretry: 1000\n\nid: 0/7-1\nevent: frame\ndata: {\"a\":1}\ndata: more\n\n";
        let whole = messages(&[text]);
        let expected = Message {
            id: Some("0/7-1".to_owned()),
            event: "frame".to_owned(),
            data: "{\"a\":1}\nmore".to_owned(),
        };
        assert_eq!(whole, [expected]);
        let letters: Vec<_> = text.split("").collect();
        assert_eq!(messages(&letters), whole);
    }

    #[test]
    fn what_has_not_ended_is_no_message() {
        assert_eq!(messages(&["data: 1\n"]), []);
        assert_eq!(messages(&["event: x\r\n\r\n"]), [], "without data it says nothing");
    }
}

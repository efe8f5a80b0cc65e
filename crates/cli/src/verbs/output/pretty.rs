//! JSON for the eyes: the same values in the same order, on lines of their own.

/// The document with line ends and indentation. Numbers and strings stay as they were written.
pub(crate) fn json(document: &str) -> String {
    let (mut pretty, mut depth, mut is_string, mut is_escaped) = (String::new(), 0_usize, false, false);
    let mut characters = document.chars().peekable();
    while let Some(c) = characters.next() {
        if is_string {
            pretty.push(c);
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                is_string = true;
                pretty.push(c);
            }
            '{' | '[' => {
                pretty.push(c);
                while characters.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                match characters.next_if(|c| matches!(c, '}' | ']')) {
                    Some(close) => pretty.push(close),
                    None => {
                        depth += 1;
                        line(&mut pretty, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut pretty, depth);
                pretty.push(c);
            }
            ',' => {
                pretty.push(c);
                line(&mut pretty, depth);
            }
            ':' => pretty.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => pretty.push(c),
        }
    }
    pretty + "\n"
}

fn line(pretty: &mut String, depth: usize) {
    pretty.push('\n');
    pretty.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_indented_and_otherwise_as_they_were() {
        let pretty = json(r#"{"b":[1,{}],"a":"x, \"y\": {\\","n":1.10, "e":[ ]}"#);
        let expected =
            "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"x, \\\"y\\\": {\\\\\",\n  \"n\": 1.10,\n  \"e\": []\n}\n";
        assert_eq!(pretty, expected);
    }
}

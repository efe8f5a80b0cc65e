//! The blocks of a Markdown page, as they are written.

/// What stands between two fences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fenced {
    /// The line of the first fence, from 1.
    pub(crate) line: usize,
    /// The line of the last fence.
    pub(crate) last: usize,
    /// The first word behind the fence; empty for a bare one.
    pub(crate) language: String,
    /// Its lines, without the indentation of the fence, each with its end.
    pub(crate) text: String,
}

/// A fence that begins a block.
struct Fence<'page> {
    indent: usize,
    mark: char,
    length: usize,
    language: &'page str,
}

impl<'page> Fence<'page> {
    fn begins(line: &'page str) -> Option<Self> {
        let inner = line.trim_start();
        let mark = inner.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
        let info = inner.trim_start_matches(mark);
        let length = inner.len() - info.len();
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then(|| Self {
            indent: line.len() - inner.len(),
            mark,
            length,
            language: info.split([',', ' ', '{']).find(|word| !word.is_empty()).unwrap_or(""),
        })
    }

    fn is_ended_by(&self, line: &str) -> bool {
        let inner = line.trim();
        inner.chars().count() >= self.length && inner.chars().all(|mark| mark == self.mark)
    }

    fn without_indent<'line>(&self, line: &'line str) -> &'line str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        &line[spaces.min(self.indent)..]
    }
}

/// Every block of a page. A block without an end lasts to the end of the page.
pub(crate) fn blocks(page: &str) -> Vec<Fenced> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some(fence) = Fence::begins(line) else { continue };
        let mut block = Fenced {
            line: number,
            last: number,
            language: fence.language.to_owned(),
            text: String::new(),
        };
        for (line, number) in lines.by_ref() {
            block.last = number;
            if fence.is_ended_by(line) {
                break;
            }
            block.text += fence.without_indent(line);
            block.text.push('\n');
        }
        blocks.push(block);
    }
    blocks
}

#[test]
fn blocks_are_read_with_their_place_and_language() {
    let page = "# T\n\n```sh\nls\n\npwd\n```\n\n* an item:\n  ```text\n    deep\n  flat\n  ```\n\n````markdown\n```sh\nno\n```\n````\n~~~\nbare\n~~~\n```rust,no_run\nx\n```\n";
    let read: Vec<_> = blocks(page)
        .into_iter()
        .map(|block| (block.line, block.last, block.language, block.text))
        .collect();
    let block = |line, last, language: &str, text: &str| (line, last, language.to_owned(), text.to_owned());
    let expected = [
        block(3, 7, "sh", "ls\n\npwd\n"),
        block(10, 13, "text", "  deep\nflat\n"),
        block(15, 19, "markdown", "```sh\nno\n```\n"),
        block(20, 22, "", "bare\n"),
        block(23, 25, "rust", "x\n"),
    ];
    assert_eq!(read, expected);
}

#[test]
fn code_within_a_line_is_no_block() {
    assert_eq!(blocks("```like this``` and on\n`x`\n"), []);
}

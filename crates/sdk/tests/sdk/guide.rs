//! The guide `docs/how-to/rust-sdk.md`: each of its Rust blocks is a piece of the programs here, which are compiled and run.
//!
//! A piece stands between `// [guide]` and `// [end]`; the n-th piece is the n-th block of the page. `UPDATE_DOCS=1` writes the
//! pieces into the page.

mod basics;
mod flows;
mod steps;
mod testing;
mod waits;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/rust-sdk.md");
/// In the order of the page.
const PROGRAMS: [&str; 5] = [
    include_str!("guide/basics.rs"),
    include_str!("guide/steps.rs"),
    include_str!("guide/waits.rs"),
    include_str!("guide/flows.rs"),
    include_str!("guide/testing.rs"),
];
const BLOCK: &str = "```rust\n";

#[test]
fn every_block_of_the_page_is_a_piece_of_a_program_that_runs() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let written = with_pieces(&page, &pieces());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, written).unwrap();
        return;
    }
    assert_eq!(
        page, written,
        "docs/how-to/rust-sdk.md differs from the programs of its test: run it with UPDATE_DOCS=1"
    );
}

#[test]
fn the_page_can_be_read_in_one_go() {
    let lines = std::fs::read_to_string(PAGE).unwrap().lines().count();
    assert!(lines <= 400, "{lines} lines");
}

fn pieces() -> Vec<String> {
    let (mut pieces, mut piece) = (Vec::new(), None::<Vec<&str>>);
    for line in PROGRAMS.iter().flat_map(|program| program.lines()) {
        match (line.trim(), &mut piece) {
            ("// [guide]", None) => piece = Some(Vec::new()),
            ("// [end]", Some(lines)) => {
                pieces.push(outdented(lines));
                piece = None;
            }
            ("// [guide]", Some(_)) | ("// [end]", None) => panic!("a piece ends where none has begun"),
            (_, Some(lines)) => lines.push(line),
            (_, None) => {}
        }
    }
    pieces
}

fn outdented(lines: &[&str]) -> String {
    let indent = |line: &&&str| line.len() - line.trim_start().len();
    let common = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| indent(&line))
        .min();
    let cut = lines
        .iter()
        .map(|line| line.get(common.unwrap_or(0)..).unwrap_or_default());
    cut.map(|line| format!("{line}\n")).collect()
}

/// The page, with the pieces as its blocks.
fn with_pieces(page: &str, pieces: &[String]) -> String {
    let mut parts = page.split(BLOCK);
    let mut written = parts.next().unwrap().to_owned();
    let blocks: Vec<&str> = parts.collect();
    assert_eq!(
        blocks.len(),
        pieces.len(),
        "the page has as many blocks as there are pieces"
    );
    for (block, piece) in blocks.iter().zip(pieces) {
        let (_, rest) = block.split_once("```\n").expect("a block ends");
        written += &format!("{BLOCK}{piece}```\n{rest}");
    }
    written
}

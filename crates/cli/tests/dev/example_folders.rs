//! The folders of `examples/`: what their pages say to type is typed, and prints what they say.
//!
//! Each page is run in a copy of its folder: its first block starts `ff dev`, each other one is run by a shell of its own.

use std::path::Path;
use std::process::Command;

use crate::examples::folder;
use crate::running::Dev;
use crate::{stderr, stdout};

/// A block of a page.
struct Block {
    language: String,
    /// What the comment on the line before it says.
    comment: String,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut lines, mut before) = (Vec::new(), page.lines(), "");
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|line| *line != "```");
            blocks.push(Block {
                language: language.to_owned(),
                comment: before.to_owned(),
                text: text.map(|line| format!("{line}\n")).collect(),
            });
        }
        before = line;
    }
    blocks
}

/// A copy of a folder, with `ff` on the path of its shells.
struct Copy(tempfile::TempDir);

impl Copy {
    fn of(name: &str) -> Self {
        let copy = tempfile::tempdir().unwrap();
        for entry in folder().join(name).read_dir().unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        Self(copy)
    }

    fn shell(&self, script: &str) -> Command {
        let ff = Path::new(env!("CARGO_BIN_EXE_ff")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-ec", script]).current_dir(&self.0);
        shell.env_clear().env("PATH", format!("{}:{path}", ff.display()));
        shell
    }

    /// Runs the block that starts `ff dev`, on a port of its own and in memory.
    fn serve(&self, block: &Block) -> Dev {
        let (before, options) = block.text.rsplit_once("ff dev ").unwrap();
        let script = format!("{before}exec ff dev --memory --port 0 {options}");
        Dev::of(&mut self.shell(&script))
    }

    /// Runs a block.
    fn run(&self, block: &Block, dev: &Dev) -> String {
        let script = block.text.replace("127.0.0.1:7117", &dev.address);
        let url = format!("http://{}", dev.address);
        let output = self.shell(&script).env("FF_URL", url).output().unwrap();
        match &*block.comment {
            "<!-- fails -->" => {
                assert!(!output.status.success(), "{script} does not fail: {output:?}");
                stderr(&output)
            }
            _ => stdout(&output),
        }
    }
}

/// Does what a page says, and gives all that `ff dev` said.
fn follow(name: &str) -> String {
    let copy = Copy::of(name);
    let page = std::fs::read_to_string(copy.0.path().join("README.md")).unwrap();
    let (dev, mut printed) = (copy.serve(&blocks(&page)[0]), String::new());
    for block in &blocks(&page)[1..] {
        match (&*block.language, &*block.comment) {
            ("sh", _) => printed = copy.run(block, &dev),
            ("text", "<!-- prints in main -->") => block.text.lines().for_each(|line| _ = dev.running.until(line)),
            ("text", _) => in_order(&block.text, &printed),
            (language, _) => panic!("a block of {language} is not run"),
        }
    }
    dev.running.stop()
}

/// Each line stands somewhere in what was printed, after the line before it.
fn in_order(lines: &str, printed: &str) {
    let mut left = printed;
    for line in lines.lines().map(str::trim) {
        let Some((_, rest)) = left.split_once(line) else {
            panic!("{line:?} does not come where the page has it:\n{printed}");
        };
        left = rest;
    }
}

#[test]
fn a_shell_script_is_a_worker() {
    let told = follow("shell");
    assert!(told.contains("there is no text"), "its last words are told: {told}");
}

#[test]
fn an_agent_in_python_pays_each_answer_once_and_waits_for_a_person() {
    let told = follow("python");
    assert_eq!(told.matches("the model is asked").count(), 2, "{told}");
}

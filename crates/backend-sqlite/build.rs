//! Makes a constant of every statement in `sql/`.
//!
//! Each file there has the statements about one table, or about tables that change together. A statement begins with
//! `-- name: put_meter`, followed by comments that say what it does; it becomes `PUT_METER`. Its parameters have names too, and
//! are known by them in the order in which they first occur. One that nobody uses is dead code to the compiler.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// One statement of a file.
struct Statement {
    name: String,
    about: Vec<String>,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=sql");
    let mut files = Vec::new();
    for entry in fs::read_dir("sql")? {
        files.push(entry?.path());
    }
    files.sort_unstable();
    let mut statements = Vec::new();
    for file in files {
        let found = parse(&fs::read_to_string(&file)?).map_err(|why| format!("{}: {why}", file.display()))?;
        statements.extend(found);
    }
    let written = constants(&statements)?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("sql.rs"), written)?;
    Ok(())
}

fn parse(file: &str) -> Result<Vec<Statement>, String> {
    let mut statements: Vec<Statement> = Vec::new();
    for line in file.lines() {
        if let Some(name) = line.strip_prefix("-- name: ") {
            let (name, about, text) = (name.to_uppercase(), Vec::new(), String::new());
            statements.push(Statement { name, about, text });
            continue;
        }
        let current = statements
            .last_mut()
            .ok_or("a file begins with the name of a statement")?;
        match line.strip_prefix("-- ") {
            Some(about) if current.text.is_empty() => current.about.push(about.to_owned()),
            _ => writeln!(current.text, "{line}").map_err(|error| error.to_string())?,
        }
    }
    let lacking = |statement: &&Statement| statement.about.is_empty() || statement.text.trim().is_empty();
    match statements.iter().find(lacking) {
        Some(Statement { name, .. }) => Err(format!("{name} needs a comment that says what it does, and a text")),
        None => Ok(statements),
    }
}

fn constants(statements: &[Statement]) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(out, "/// How many statements there are.")?;
    writeln!(out, "pub(crate) const COUNT: usize = {};", statements.len())?;
    for (number, Statement { name, about, text }) in statements.iter().enumerate() {
        about.iter().try_for_each(|line| writeln!(out, "/// {line}"))?;
        let (text, takes) = (text.trim(), parameters(text));
        writeln!(
            out,
            "pub(crate) const {name}: Statement = Statement {{ number: {number}, text: {text:?}, takes: &{takes:?} }};"
        )?;
    }
    writeln!(out, "/// Every statement by its name.\n#[cfg(test)]")?;
    writeln!(out, "pub(crate) const ALL: [(&str, Statement); COUNT] = [")?;
    for Statement { name, .. } in statements {
        writeln!(out, "    ({:?}, {name}),", name.to_lowercase())?;
    }
    writeln!(out, "];")?;
    Ok(out)
}

/// The names of its parameters, as SQLite numbers them.
fn parameters(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    // Every other part stands between quotes.
    for part in text.split('\'').step_by(2) {
        for after in part.split(':').skip(1) {
            let end = after.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
            let name = &after[..end.unwrap_or(after.len())];
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

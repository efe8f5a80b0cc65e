//! What a comment on the line before a block says about it.

/// `<!-- … -->` before a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// `terminal: NAME`
    Terminal(String),
    /// `runs until stopped, after: TEXT`
    RunsUntilStopped(String),
    /// `prints in NAME`
    PrintsIn(String),
    /// `fails`
    Fails,
    /// `file: PATH`
    File(String),
    /// `from: PATH`
    From(String),
    /// `not run: REASON`
    NotRun(String),
    /// `every LANGUAGE block is from: PATH`: for the whole page.
    EveryFrom { language: String, path: String },
}

/// A comment that fills its line.
pub(crate) fn comment(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    Some(inner.trim())
}

impl Directive {
    /// What a comment says, or what is wrong with it.
    pub(crate) fn read(comment: &str) -> Result<Self, String> {
        if comment == "fails" {
            return Ok(Self::Fails);
        }
        if let Some(name) = comment.strip_prefix("prints in ") {
            return said(comment, name).map(Self::PrintsIn);
        }
        let (what, about) = comment.split_once(':').unwrap_or((comment, ""));
        let about = said(comment, about);
        match what {
            "terminal" => about.map(Self::Terminal),
            "runs until stopped, after" => about.map(Self::RunsUntilStopped),
            "file" => about.map(Self::File),
            "from" => about.map(Self::From),
            "not run" => about.map(Self::NotRun),
            _ => Self::every(what, about)
                .unwrap_or_else(|| Err(format!("`{comment}` is nothing that a comment before a block can say"))),
        }
    }

    fn every(what: &str, path: Result<String, String>) -> Option<Result<Self, String>> {
        let language = what.strip_prefix("every ")?.strip_suffix(" block is from")?.to_owned();
        Some(path.map(|path| Self::EveryFrom { language, path }))
    }
}

fn said(comment: &str, about: &str) -> Result<String, String> {
    let about = about.trim();
    if about.is_empty() {
        return Err(format!("`{comment}` does not say what, behind the colon"));
    }
    Ok(about.to_owned())
}

#[test]
fn every_directive_is_read() {
    let read = |line| Directive::read(comment(line).unwrap()).unwrap();
    assert_eq!(
        read("<!-- terminal: worker 1 -->"),
        Directive::Terminal("worker 1".to_owned())
    );
    assert_eq!(
        read("<!-- runs until stopped, after: API: http:// -->"),
        Directive::RunsUntilStopped("API: http://".to_owned())
    );
    assert_eq!(
        read("<!-- prints in server -->"),
        Directive::PrintsIn("server".to_owned())
    );
    assert_eq!(read("  <!--fails-->"), Directive::Fails);
    assert_eq!(read("<!-- file: a/b.py -->"), Directive::File("a/b.py".to_owned()));
    assert_eq!(
        read("<!-- from: examples/dag.rs -->"),
        Directive::From("examples/dag.rs".to_owned())
    );
    assert_eq!(
        read("<!-- not run: it needs two machines -->"),
        Directive::NotRun("it needs two machines".to_owned())
    );
    let every = Directive::EveryFrom {
        language: "rust".to_owned(),
        path: "a/b".to_owned(),
    };
    assert_eq!(read("<!-- every rust block is from: a/b -->"), every);
}

#[test]
fn a_comment_that_says_nothing_is_refused() {
    for comment in [
        "not run:",
        "not run",
        "terminal: ",
        "prints in  ",
        "file:",
        "from:",
        "runs until stopped",
        "fail",
        "run",
    ] {
        assert!(Directive::read(comment).is_err(), "{comment}");
    }
}

#[test]
fn what_is_no_comment_is_none() {
    assert_eq!(comment("text <!-- fails -->"), None);
    assert_eq!(comment("<!-- begun"), None);
}

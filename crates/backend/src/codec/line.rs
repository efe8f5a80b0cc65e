//! Lines of a history without what the record beside them says.

use ff_core::record::{AboutLines, HistoryLine, ShortLine};

use super::{Result, Unreadable};

/// The document of a line that is kept beside what it is about; `None`: it says all of that itself.
pub fn write(line: &HistoryLine, about: Option<&AboutLines<'_>>) -> String {
    serde_json::to_string(&ShortLine::of(line, about)).expect("a line is a document")
}

/// The line a document stands for beside what it is about.
pub fn read(document: &str, about: &AboutLines<'_>) -> Result<HistoryLine> {
    let line: ShortLine<'_> = serde_json::from_str(document).map_err(Unreadable::new)?;
    Ok(line.whole(about))
}

//! Rows and columns, as wide as there is room.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::clean::clean;
use super::ink::{Ink, Paint};

/// Between two columns.
const GAP: usize = 2;
/// A column that is cut keeps at least this much,
const CUT_MIN: usize = 8;
/// and this much as long as there is another one to leave out.
const CUT_EASILY: usize = 24;

/// One column.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    name: &'static str,
    fit: Fit,
    is_number: bool,
}

/// What happens to a column when there is no room for everything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It stays as it is.
    Whole,
    /// It is cut.
    Cut,
    /// It is left out, the last such column first.
    Spare,
}

impl Column {
    /// A column that is always there as it is.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            fit: Fit::Whole,
            is_number: false,
        }
    }

    /// Numbers: they end under each other.
    pub(crate) const fn number(name: &'static str) -> Self {
        Self {
            is_number: true,
            ..Self::new(name)
        }
    }

    /// It may be cut.
    pub(crate) const fn cut(mut self) -> Self {
        self.fit = Fit::Cut;
        self
    }

    /// It may be left out.
    pub(crate) const fn spare(mut self) -> Self {
        self.fit = Fit::Spare;
        self
    }
}

/// What stands in one place.
pub(crate) struct Cell {
    text: String,
    ink: Ink,
}

impl Cell {
    /// Text in this ink.
    pub(crate) fn new(ink: Ink, text: impl AsRef<str>) -> Self {
        Self {
            text: clean(text.as_ref()),
            ink,
        }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Ink::Plain, text)
    }
}

/// Rows under the names of their columns.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self {
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: a cell for each column.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// The lines of the table, none wider than `width` if that is possible.
    pub(crate) fn render(&self, width: Option<usize>, paint: Paint) -> String {
        let widths = self.widths(width);
        let names = self.columns.iter().map(|column| Cell::new(Ink::Faint, column.name));
        let mut lines = self.line(&names.collect::<Vec<_>>(), &widths, paint);
        for row in &self.rows {
            lines += &self.line(row, &widths, paint);
        }
        lines
    }

    /// The width of each column; absent: it is left out, as one is in which nothing stands.
    fn widths(&self, room: Option<usize>) -> Vec<Option<usize>> {
        let widest = |(index, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let widest = cells.map(|cell| cell.text.width()).max();
            let widest = widest.filter(|widest| *widest > 0)?;
            Some(widest.max(column.name.width()))
        };
        let mut widths: Vec<_> = self.columns.iter().enumerate().map(widest).collect();
        let Some(room) = room else { return widths };
        let wanted = widths.clone();
        while total(&widths) > room && self.shrink(&mut widths) {}
        // A column that was left out may have left more room than was needed.
        while total(&widths) < room && grow(&mut widths, &wanted) {}
        widths
    }

    /// Takes away a little: of the widest column that may be cut, as far as it is easily cut; else the last one that may be left
    /// out; else of the widest again.
    fn shrink(&self, widths: &mut [Option<usize>]) -> bool {
        self.cut(widths, CUT_EASILY) || self.leave_out(widths) || self.cut(widths, CUT_MIN)
    }

    fn cut(&self, widths: &mut [Option<usize>], least: usize) -> bool {
        let placed = self.columns.iter().zip(widths);
        let cut = placed.filter(|(column, _)| column.fit == Fit::Cut);
        let widest = cut.filter_map(|(_, width)| width.as_mut()).max();
        widest
            .filter(|width| **width > least)
            .map(|width| *width -= 1)
            .is_some()
    }

    fn leave_out(&self, widths: &mut [Option<usize>]) -> bool {
        let placed = self.columns.iter().zip(widths);
        let spare = placed.filter(|(column, width)| column.fit == Fit::Spare && width.is_some());
        spare.last().map(|(_, width)| *width = None).is_some()
    }

    fn line(&self, cells: &[Cell], widths: &[Option<usize>], paint: Paint) -> String {
        let placed = self.columns.iter().zip(cells).zip(widths);
        let placed = placed.filter_map(|((column, cell), width)| Some((column, cell, (*width)?)));
        let placed = placed.map(|(column, cell, width)| {
            let text = cut(&cell.text, width);
            let space = " ".repeat(width.saturating_sub(text.width()));
            let painted = paint.paint(cell.ink, &text);
            match column.is_number {
                true => space + &painted,
                false => painted + &space,
            }
        });
        let line = placed.collect::<Vec<_>>().join(&" ".repeat(GAP));
        format!("{}\n", line.trim_end())
    }
}

/// Gives a little back to the column that was cut most.
fn grow(widths: &mut [Option<usize>], wanted: &[Option<usize>]) -> bool {
    let there = widths
        .iter_mut()
        .zip(wanted)
        .filter_map(|(width, wanted)| Some((width.as_mut()?, (*wanted)?)));
    let most = there.max_by_key(|(width, wanted)| wanted - **width);
    let most = most.filter(|(width, wanted)| **width < *wanted);
    most.map(|(width, _)| *width += 1).is_some()
}

fn total(widths: &[Option<usize>]) -> usize {
    let there = widths.iter().flatten();
    there.clone().sum::<usize>() + GAP * there.count().saturating_sub(1)
}

/// As much of the text as there is room for; what was cut ends in `…`.
pub(crate) fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    kept.collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::new("ID"),
            Column::new("DETAIL").cut(),
            Column::number("SIZE"),
            Column::new("TAGS").spare(),
        ];
        let mut table = Table::new(columns);
        table.row([
            "a1".into(),
            "waits for the person who is away".into(),
            "7".into(),
            "x=1".into(),
        ]);
        table.row(["b2".into(), "größe\u{1b}".into(), "12".into(), "".into()]);
        table
    }

    #[test]
    fn columns_stand_under_their_names() {
        let expected = "ID  DETAIL                            SIZE  TAGS\n\
                        a1  waits for the person who is away     7  x=1\n\
                        b2  größe\u{fffd}                              12\n";
        assert_eq!(table().render(None, Paint::None), expected);
    }

    #[test]
    fn a_little_is_cut_then_a_column_left_out_then_more_is_cut() {
        let lines = |width| table().render(Some(width), Paint::None);
        let (cut, without) = (lines(40), lines(39));
        assert!(cut.contains("waits for the person wh…     7  x=1\n"), "{cut}");
        assert!(without.contains("waits for the person who is …     7\n"), "{without}");
        let narrow = "ID  DETAIL    SIZE\n\
                      a1  waits f…     7\n\
                      b2  größe\u{fffd}      12\n";
        assert_eq!(lines(18), narrow);
        assert_eq!(lines(1), narrow, "there is nothing more to take away");
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = Table::new([Column::new("STATE"), Column::new("X")]);
        table.row([Cell::new(Ink::Good, "done"), "y".into()]);
        let painted = table.render(None, Paint::Sixteen);
        assert!(painted.contains("\u{1b}[32mdone\u{1b}[0m   y"), "{painted:?}");
    }
}

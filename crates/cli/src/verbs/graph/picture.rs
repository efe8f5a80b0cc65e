//! The graph in characters, from left to right.

use std::collections::HashSet;

use unicode_width::UnicodeWidthStr;

use super::layout::Layout;
use super::tracks::{self, Net};
use super::{Graph, Node};
use crate::verbs::output::{Ink, Paint, clean, cut};

const UP: u8 = 1;
const DOWN: u8 = 2;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;
/// A line in each combination of these directions.
const LINES: [char; 16] = [
    ' ', '│', '│', '│', '─', '┘', '┐', '┤', '─', '└', '┌', '├', '─', '┴', '┬', '┼',
];
/// A label that is cut keeps at least this much.
const LABEL_MIN: usize = 6;
/// No label is wider.
const LABEL_MAX: usize = 32;

/// The picture; `None` if it is wider than there is room.
pub(super) fn draw(graph: &Graph, layout: &Layout, room: Option<usize>, paint: Paint) -> Option<String> {
    let between: Vec<(Vec<Net>, usize)> = (1..layout.layers.len()).map(|layer| nets(layout, layer)).collect();
    let labels = (LABEL_MIN..=LABEL_MAX).rev().find(|labels| {
        let width = columns(graph, layout, &between, *labels)
            .last()
            .map_or(0, |column| column.end());
        room.is_none_or(|room| width <= room)
    })?;
    let columns = columns(graph, layout, &between, labels);
    let height = layout.rows.iter().max().map_or(0, |row| row + 1);
    let width = columns.last().map_or(0, Column::end);
    let mut canvas = Canvas {
        cells: vec![vec![Cell::Line(0); width]; height],
    };
    for (layer, (nets, _)) in between.iter().enumerate() {
        canvas.nets(nets, &columns[layer]);
    }
    let goes_on: HashSet<usize> = layout.links.iter().map(|(from, _)| *from).collect();
    for (layer, items) in layout.layers.iter().enumerate() {
        for item in items {
            let (row, column) = (layout.rows[*item], &columns[layer]);
            match layout.node(*item) {
                Some(node) => canvas.label(&graph.nodes[node], (row, column.x), labels),
                None => canvas.horizontal(row, column.x - 1, column.x),
            }
            if goes_on.contains(item) {
                canvas.horizontal_to(row, column.x, column.x + column.width + 1);
            }
        }
    }
    Some(canvas.text(paint))
}

/// A layer, and the gutter right of it.
struct Column {
    x: usize,
    width: usize,
    gutter: usize,
}

impl Column {
    fn end(&self) -> usize {
        self.x + self.width + self.gutter
    }

    /// Where a track is.
    fn track(&self, track: usize) -> usize {
        self.x + self.width + 2 + 2 * track
    }
}

fn columns(graph: &Graph, layout: &Layout, between: &[(Vec<Net>, usize)], labels: usize) -> Vec<Column> {
    let mut x = 0;
    let column = |(layer, items): (usize, &Vec<usize>)| {
        let nodes = items.iter().filter_map(|item| layout.node(*item));
        let widest = nodes.map(|node| graph.nodes[node].label.width()).max();
        let column = Column {
            x,
            width: widest.unwrap_or(1).min(labels),
            gutter: between.get(layer).map_or(0, |(_, tracks)| 4 + 2 * tracks),
        };
        x = column.end();
        column
    };
    layout.layers.iter().enumerate().map(column).collect()
}

/// What runs from the layer before to this one.
fn nets(layout: &Layout, layer: usize) -> (Vec<Net>, usize) {
    let before: HashSet<usize> = layout.layers[layer - 1].iter().copied().collect();
    let links = layout.links.iter().filter(|(from, _)| before.contains(from));
    let links: Vec<_> = links.map(|(from, to)| (layout.rows[*from], layout.rows[*to])).collect();
    tracks::assign(&links)
}

#[derive(Clone, Copy)]
enum Cell {
    Line(u8),
    Text(char, Ink),
    /// The right half of a wide character.
    Nothing,
}

struct Canvas {
    cells: Vec<Vec<Cell>>,
}

impl Canvas {
    fn line(&mut self, row: usize, x: usize, directions: u8) {
        if let Cell::Line(line) = &mut self.cells[row][x] {
            *line |= directions;
        }
    }

    /// A line from `start` up to, but without, `end`.
    fn horizontal(&mut self, row: usize, start: usize, end: usize) {
        (start..end).for_each(|x| self.line(row, x, LEFT | RIGHT));
    }

    fn nets(&mut self, nets: &[Net], column: &Column) {
        let (left, right) = (column.x + column.width + 1, column.end() - 1);
        for net in nets {
            let Some(track) = net.track else {
                net.sources.iter().for_each(|row| self.horizontal(*row, left, right));
                continue;
            };
            let (x, (first, last)) = (column.track(track), net.span());
            for row in first..=last {
                let up = if row > first { UP } else { 0 };
                let down = if row < last { DOWN } else { 0 };
                self.line(row, x, up | down);
            }
            for row in &net.sources {
                self.run(nets, column, (*row, left, x));
                self.line(*row, x, LEFT);
            }
            for row in &net.targets {
                self.line(*row, x, RIGHT);
                self.run(nets, column, (*row, x + 1, right));
            }
        }
    }

    /// A line that goes below the tracks it crosses.
    fn run(&mut self, nets: &[Net], column: &Column, (row, start, end): (usize, usize, usize)) {
        let crosses = |net: &Net| {
            let (first, last) = net.span();
            (first..=last).contains(&row) && !net.turns_at(row)
        };
        let crossed = nets.iter().filter(|net| crosses(net)).filter_map(|net| net.track);
        let crossed: HashSet<usize> = crossed.map(|track| column.track(track)).collect();
        for x in (start..end).filter(|x| !crossed.contains(x)) {
            self.line(row, x, LEFT | RIGHT);
        }
    }

    fn label(&mut self, node: &Node, (row, mut x): (usize, usize), room: usize) {
        for character in cut(&clean(&node.label), room).chars() {
            let width = character.to_string().width();
            if width > 0 {
                self.cells[row][x] = Cell::Text(character, node.ink);
                (1..width).for_each(|right| self.cells[row][x + right] = Cell::Nothing);
            }
            x += width;
        }
    }

    /// A line up to, but without, `end`: from `start`, or from one place behind the text that stands there.
    fn horizontal_to(&mut self, row: usize, start: usize, end: usize) {
        let is_text = |x: &usize| !matches!(self.cells[row][*x], Cell::Line(_));
        let start = (start..end).rev().find(is_text).map_or(start, |x| x + 2);
        self.horizontal(row, start, end);
    }

    fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        for row in &self.cells {
            let (mut line, mut piece, mut ink) = (String::new(), String::new(), Ink::Plain);
            for cell in row {
                let (character, its_ink) = match cell {
                    Cell::Line(0) => (' ', ink),
                    Cell::Line(directions) => (LINES[usize::from(*directions)], Ink::Faint),
                    Cell::Text(character, ink) => (*character, *ink),
                    Cell::Nothing => continue,
                };
                if its_ink != ink {
                    line += &paint.paint(ink, &piece);
                    (piece, ink) = (String::new(), its_ink);
                }
                piece.push(character);
            }
            line += &paint.paint(ink, piece.trim_end());
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

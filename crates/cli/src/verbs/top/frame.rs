//! A snapshot as lines of text.

use ff_core::state::PublicState;

use super::snapshot::Snapshot;
use crate::verbs::operate::{lane_table, worker_table};
use crate::verbs::output::{Ink, Out, Table, cut};
use crate::verbs::{executions, when};

/// Lines that are kept free at the bottom of a screen.
const RESERVED: usize = 3;
/// Rows of a part that is cut, at least, with its heading.
const PART_MIN: usize = 4;

/// The lines, no more than `height`.
pub(super) fn lines(snapshot: &Snapshot, height: Option<usize>, out: Out) -> Vec<String> {
    let mut lines = vec![heading(snapshot, out), states(snapshot, out)];
    let mut room = height.map(|height| height.saturating_sub(lines.len() + RESERVED));
    let parts = [
        (
            snapshot.lanes.len(),
            lane_table(&snapshot.lanes, snapshot.at),
            "no lanes yet",
        ),
        (
            snapshot.workers.len(),
            worker_table(&snapshot.workers, snapshot.at),
            "no live workers",
        ),
        (
            snapshot.running.len(),
            executions::table(&snapshot.running, snapshot.at),
            "nothing runs",
        ),
    ];
    let mut left = parts.len();
    for (count, table, none) in parts {
        let part = part(count, &table, none, out);
        // What the parts before did not need is left to those that follow.
        let share = room.map_or(usize::MAX, |room| (room / left).max(PART_MIN));
        let part: Vec<String> = part.into_iter().take(share).collect();
        room = room.map(|room| room.saturating_sub(part.len()));
        left -= 1;
        lines.extend(part);
    }
    match height {
        None => lines.push(String::new()),
        Some(height) => {
            lines.truncate(height.saturating_sub(RESERVED));
            lines.extend([String::new(), out.paint.paint(Ink::Faint, "q ends")]);
        }
    }
    lines
}

fn heading(snapshot: &Snapshot, out: Out) -> String {
    let at = out
        .paint
        .paint(Ink::Faint, &format!("{} UTC", when::moment(snapshot.at)));
    let rate = snapshot.throughput();
    let (running, approvals) = (snapshot.count(PublicState::Active), snapshot.approvals);
    let numbers = format!("{running} running, {rate:.1} ended per s, {approvals} waiting for a person");
    format!("{}  {at}", out.paint.paint(Ink::Strong, &numbers))
}

/// What does not run, by what it waits for.
fn states(snapshot: &Snapshot, out: Out) -> String {
    let causes = [
        ("for a worker", &[PublicState::Waiting, PublicState::Resumable][..]),
        ("for its time", &[PublicState::Delayed]),
        ("for dependencies", &[PublicState::WaitingChildren]),
        ("for budget or quota", &[PublicState::RateLimited]),
        ("for a signal", &[PublicState::Suspended]),
    ];
    let counted = causes.into_iter().filter_map(|(cause, states)| {
        let count: u64 = states.iter().map(|state| snapshot.count(*state)).sum();
        (count > 0).then(|| format!("{count} {cause}"))
    });
    let counted: Vec<_> = counted.collect();
    let line = match counted.is_empty() {
        true => "nothing waits".to_owned(),
        false => format!("waiting: {}", counted.join(", ")),
    };
    out.width.map_or(line.clone(), |width| cut(&line, width))
}

fn part(count: usize, table: &Table, none: &str, out: Out) -> Vec<String> {
    let mut lines = vec![String::new()];
    match count {
        0 => lines.push(out.paint.paint(Ink::Faint, none)),
        _ => lines.extend(table.render(out.width, out.paint).lines().map(str::to_owned)),
    }
    lines
}

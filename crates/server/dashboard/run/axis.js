// The time axis of a run: linear where something ran, with long gaps folded to a fixed width. Pure: numbers in, numbers out.

const MIN_GAP = 10_000;
const GAP_SHARE = 0.08;
const TICK_SPACE = 60;
/** Half the words over a mark that say hour and minute, and those over a folded gap together with them. */
const HALF = 16;
const BESIDE = 34;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000];

/** Overlapping and touching intervals `[from, to]` as few that do not touch, in order. */
export function union(intervals) {
  const merged = [];
  for (const [from, to] of intervals.filter(([from, to]) => to >= from).sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** How long the intervals of a union last together. */
export const total = (merged) => merged.reduce((sum, [from, to]) => sum + to - from, 0);

/** The parts of `[from, to]` in which nothing is busy for so long that they fold. */
function longGaps(from, to, merged) {
  const limit = Math.max(MIN_GAP, GAP_SHARE * total(merged));
  const edges = [[from, from], ...merged, [to, to]];
  return edges.slice(1).map(([next], i) => [edges[i][1], next]).filter(([a, b]) => b - a > limit);
}

/**
 * Maps the moments from `from` to `to` onto `width` pixels. `busy` are intervals that never fold; a long gap between them takes
 * `gap` pixels, fewer where there are so many gaps that they would take more than half.
 */
export function axis({ from, to, busy, width, fold = true, gap = 46 }) {
  const end = Math.max(to, from + 1);
  const merged = union(busy.map(([a, b]) => [Math.max(a, from), Math.min(b, end)]));
  const gaps = fold ? longGaps(from, end, merged) : [];
  const each = gaps.length ? Math.min(gap, width / 2 / gaps.length) : 0;
  const linear = end - from - gaps.reduce((sum, [a, b]) => sum + b - a, 0);
  const scale = linear > 0 ? (width - each * gaps.length) / linear : 0;
  const segments = [];
  let x = 0;
  let at = from;
  const push = (until, folded) => {
    const span = folded ? (scale > 0 ? each : width / gaps.length) : (until - at) * scale;
    segments.push({ from: at, to: until, x0: x, x1: x + span, folded });
    x += span;
    at = until;
  };
  for (const [a, b] of gaps) {
    if (a > at) push(a, false);
    push(b, true);
  }
  if (end > at) push(end, false);
  return { from, to: end, width, scale, segments };
}

/** Where a moment stands, in pixels; what lies outside stands at the edge. */
export function place({ segments, from, to, width }, moment) {
  if (moment <= from) return 0;
  if (moment >= to) return width;
  const { x0, x1, ...segment } = segments.find((segment) => moment <= segment.to);
  return x0 + ((x1 - x0) * (moment - segment.from)) / (segment.to - segment.from);
}

/** The moment at a place, the reverse of `place`. */
export function moment({ segments, from, to, width }, x) {
  if (x <= 0) return from;
  if (x >= width) return to;
  const segment = segments.find(({ x1 }) => x <= x1);
  return segment.from + ((segment.to - segment.from) * (x - segment.x0)) / (segment.x1 - segment.x0);
}

/** A bar from one moment to another: where it begins and how wide it is, never narrower than `least`. */
export function bar(axis, from, to, least = 3) {
  const x = place(axis, from);
  const width = Math.max(least, place(axis, to) - x);
  return { x: Math.max(0, Math.min(x, axis.width - width)), width };
}

const two = (n) => String(n).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** What a tick says; `before` is the tick to its left, whose minute need not be said again. */
function label(local, step, before) {
  const at = new Date(local);
  if (step >= 86_400_000) return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
  const minute = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  if (step >= 60_000) return minute;
  const digits = step >= 1_000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
  const part = digits ? `.${String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, digits)}` : '';
  const seconds = two(at.getUTCSeconds()) + part;
  const same = before !== undefined && Math.floor(before / 60_000) === Math.floor(local / 60_000);
  return same ? `:${seconds}` : `${minute}:${seconds}`;
}

/** Where the words of a part may stand so that they touch those over the gaps beside it on neither side. */
function between({ segments }, { x0, x1 }) {
  const [before, after] = [segments.find((gap) => gap.x1 === x0), segments.find((gap) => gap.x0 === x1)];
  const room = (gap) => Math.max(0, BESIDE - (gap.x1 - gap.x0) / 2);
  return [x0 + (before ? room(before) : 0), x1 - (after ? room(after) : HALF)];
}

/**
 * The marks of the axis `{x, at, label}`, at round moments of the clock that is `offset` ms ahead of UTC; none in a folded gap, and
 * none so near to the one before, or to a folded gap, that their words would touch. A part too short for one says when it began, without
 * a line (`bare`).
 */
export function ticks(axis, offset = 0, space = TICK_SPACE) {
  if (!(axis.scale > 0)) return [];
  const step = STEPS.find((step) => step * axis.scale >= space) ?? STEPS.at(-1);
  const marks = [];
  let free = 0;
  for (const segment of axis.segments) {
    if (segment.folded) {
      free = segment.x1 + space / 3;
      continue;
    }
    const first = Math.ceil((segment.from + offset) / step) * step;
    const { x1 } = segment;
    const room = x1 < axis.width ? x1 - space / 3 : axis.width - space / 4;
    const before = marks.length;
    for (let local = first; local - offset <= segment.to && marks.length < 200; local += step) {
      const x = place(axis, local - offset);
      if (x < free || x > room) continue;
      marks.push({ x, at: local - offset, label: label(local, step, marks.length && !marks.at(-1).bare ? marks.at(-1).at + offset : undefined) });
      free = x + space * 0.9;
    }
    const [lowest, highest] = between(axis, segment);
    if (marks.length === before && lowest <= highest) {
      const x = Math.min(highest, Math.max(lowest, (segment.x0 + x1) / 2));
      marks.push({ x, at: segment.from, label: label(segment.from + offset, 60_000), bare: true });
    }
  }
  return marks;
}

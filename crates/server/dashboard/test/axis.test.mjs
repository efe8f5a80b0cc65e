import assert from 'node:assert/strict';
import test from 'node:test';
import { axis, bar, moment, place, ticks, total, union } from '../run/axis.js';

const MINUTE = 60_000;
const folds = (axis) => axis.segments.filter((segment) => segment.folded).map(({ from, to }) => [from, to]);
/** Forty seconds of work, 41 minutes of nothing, a minute and a half of work. */
const night = (more) => axis({ from: 0, to: 44 * MINUTE, busy: [[0, 40_000], [42 * MINUTE, 43.5 * MINUTE]], width: 400, ...more });

test('overlapping and touching intervals are one', () => {
  assert.deepEqual(union([[5, 9], [0, 2], [2, 3], [8, 12], [20, 19]]), [[0, 3], [5, 12]]);
  assert.equal(total(union([[0, 10], [5, 15], [20, 21]])), 16);
});

test('a gap folds when it is longer than ten seconds and than eight hundredths of all work', () => {
  const at = (gap, work) => folds(axis({ from: 0, to: work + gap, busy: [[0, work / 2], [work / 2 + gap, work + gap]], width: 500 }));
  assert.deepEqual(at(10_000, 1_000), []);
  assert.deepEqual(at(10_001, 1_000), [[500, 10_501]]);
  assert.deepEqual(at(79_000, 1_000_000), []);
  assert.deepEqual(at(81_000, 1_000_000), [[500_000, 581_000]]);
});

test('gaps before the first work and after the last one fold, too', () => {
  assert.deepEqual(folds(night()), [[40_000, 42 * MINUTE], [43.5 * MINUTE, 44 * MINUTE]]);
  assert.deepEqual(folds(axis({ from: 0, to: MINUTE, busy: [[30_000, MINUTE]], width: 100 })), [[0, 30_000]]);
});

test('a folded gap is 46 pixels wide and everything else is to one scale', () => {
  const { segments, scale } = night();
  assert.deepEqual(segments.map(({ folded }) => folded), [false, true, false, true]);
  for (const { x0, x1, from, to, folded } of segments) {
    assert.ok(Math.abs(x1 - x0 - (folded ? 46 : (to - from) * scale)) < 1e-6);
  }
  assert.ok(Math.abs(segments.at(-1).x1 - 400) < 1e-6);
});

test('so many gaps that they would take more than half are narrower', () => {
  const busy = Array.from({ length: 50 }, (_, i) => [i * MINUTE, i * MINUTE + 1_000]);
  const { segments } = axis({ from: 0, to: 49 * MINUTE + 1_000, busy, width: 400 });
  const folded = segments.filter((segment) => segment.folded);
  assert.equal(folded.length, 49);
  assert.ok(Math.abs(folded.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0) - 200) < 1e-6);
});

test('true scale folds nothing', () => {
  const true_ = night({ fold: false });
  assert.equal(true_.segments.length, 1);
  assert.equal(place(true_, 22 * MINUTE), 200);
});

test('where nothing ever ran one gap takes all the room', () => {
  const idle = axis({ from: 0, to: MINUTE, busy: [], width: 300 });
  assert.deepEqual(folds(idle), [[0, MINUTE]]);
  assert.equal(place(idle, 30_000), 150);
  assert.deepEqual(ticks(idle), []);
});

test('a run of no length has an axis, too', () => {
  const none = axis({ from: 5, to: 5, busy: [[5, 5]], width: 300 });
  assert.equal(place(none, 5), 0);
  assert.ok(Number.isFinite(bar(none, 5, 5).x));
});

test('a place is the reverse of a moment, and time never goes back', () => {
  const folded = night();
  let before = -1;
  for (let at = 0; at <= 44 * MINUTE; at += 7_919) {
    const x = place(folded, at);
    assert.ok(x >= before, `${at}`);
    assert.ok(Math.abs(moment(folded, x) - at) < 1, `${at}`);
    before = x;
  }
  assert.equal(place(folded, -1), 0);
  assert.equal(place(folded, 99 * MINUTE), 400);
});

test('a bar is three pixels wide at least and stays inside', () => {
  const folded = night();
  assert.equal(bar(folded, 1_000, 1_001).width, 3);
  assert.deepEqual(bar(folded, 44 * MINUTE, 44 * MINUTE), { x: 397, width: 3 });
});

test('ticks stand at round moments of the local clock, at least sixty pixels apart and never in a gap', () => {
  const from = Date.UTC(2026, 10, 18, 13, 20, 5);
  const busy = [[from, from + 45_000], [from + 41 * MINUTE, from + 43 * MINUTE]];
  const axis_ = axis({ from, to: from + 43 * MINUTE, busy, width: 400 });
  const marks = ticks(axis_, 0);
  assert.deepEqual(marks.map(({ label }) => label), ['13:20:30', '14:01:30', '14:02:00', ':30']);
  const shifted = ticks(axis_, 5.5 * 60 * MINUTE);
  assert.equal(shifted[0].label, '18:50:30');
  for (const [a, b] of marks.slice(1).map((mark, i) => [marks[i], mark])) assert.ok(b.x - a.x >= 50);
  const [gap] = axis_.segments.filter((segment) => segment.folded);
  assert.ok(marks.every(({ x }) => x < gap.x0 || x > gap.x1));
});

test('ticks say what the scale needs', () => {
  const labels = (span, width = 300) => ticks(axis({ from: 0, to: span, busy: [[0, span]], width })).map(({ label }) => label);
  assert.deepEqual(labels(400).slice(0, 2), ['00:00:00.0', ':00.1']);
  assert.deepEqual(labels(3_600_000 * 4).slice(0, 2), ['00:00', '01:00']);
  assert.deepEqual(labels(86_400_000 * 4).slice(0, 2), ['1 Jan', '2 Jan']);
});

test('a part that is too short for a tick says when it began, where that touches nothing', () => {
  const at = (width) => {
    const from = Date.UTC(2026, 10, 18, 13, 20, 5);
    const busy = [[from, from + 20_000], [from + 41 * MINUTE, from + 41 * MINUTE + 40_000]];
    return ticks(axis({ from, to: from + 41 * MINUTE + 40_000, busy, width }), 0).filter(({ bare }) => bare).map(({ label }) => label);
  };
  assert.deepEqual(at(150), ['13:20', '14:01']);
  assert.deepEqual(at(60), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { linesOf } from '../ui/budget-line.js';

const STEP = 60_000;
const at = (minute) => minute * STEP;
const lines = (more) => linesOf({ from: 0, step: STEP, now: at(6), created: -at(100), ...more });

test('what was used is what is used now without what was charged since', () => {
  assert.deepEqual(lines({ used: [1, 0, 2, 0, 3, 0], current: 10 }), { lines: [[5, 5, 7, 7, 10, 10]], resets: [] });
});

test('a budget that is younger than the chart begins with nothing', () => {
  assert.deepEqual(lines({ used: [0, 0, 0, 4, 0, 1], current: 5, created: at(3) }).lines, [[null, null, 0, 4, 4, 5]]);
});

test('it begins again with every period, and of the first one only a whole one is known', () => {
  const young = lines({ used: [2, 1, 0, 5, 0, 1], current: 6, created: 1, period: at(3), next: at(6) });
  assert.deepEqual(young, { lines: [[2, 3, 3, null, null, null], [null, null, 0, 5, 5, 6]], resets: [at(3)] });
  const old = lines({ used: [2, 1, 0, 5, 0, 1], current: 6, period: at(3), next: at(6) });
  assert.deepEqual(old, { lines: [[null, null, 0, 5, 5, 6]], resets: [at(3)] });
});

test('where it was reset by hand the line ends', () => {
  assert.deepEqual(lines({ used: [9, 9, 0, 1, 0, 1], current: 2 }).lines, [[null, 0, 0, 1, 1, 2]]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ceiling, compact, moments } from '../ui/axis.js';

const MINUTE = 60_000;

test('the top of an axis is the least round number that all values are below', () => {
  for (const [most, top] of [[0, 1], [1, 1.2], [7, 8], [184, 200], [201, 240], [240, 240], [999_999, 1_000_000], [1_000_000, 1_000_000]]) {
    const found = ceiling(most);
    assert.ok(found >= most * 0.999, `${most}: ${found}`);
    assert.ok(found <= Math.max(1, most * 1.25) + 1e-9, `${most}: ${found}`);
    if (most > 100) assert.equal(found, top);
  }
});

test('moments are at round times of the day, whatever the zone', () => {
  const from = Date.UTC(2026, 10, 18, 13, 4);
  const found = moments(from, from + 60 * MINUTE, 7, 0).map((at) => new Date(at).toISOString().slice(11, 16));
  assert.deepEqual(found, ['13:10', '13:20', '13:30', '13:40', '13:50', '14:00']);
  const east = 330 * MINUTE;
  for (const at of moments(from, from + 1_440 * MINUTE, 6, east)) assert.equal((at + east) % (240 * MINUTE), 0);
});

test('there are never more moments than there is room for', () => {
  for (const hours of [0.2, 1, 6, 24, 200]) for (const count of [2, 4, 9]) assert.ok(moments(0, hours * 60 * MINUTE, count, 0).length <= count + 1);
});

test('round numbers are short', () => {
  assert.deepEqual([0, 500, 9_500, 40_000, 500_000, 1_200_000, 2e9].map(compact), ['0', '500', '9,500', '40 k', '500 k', '1.2 M', '2 G']);
});

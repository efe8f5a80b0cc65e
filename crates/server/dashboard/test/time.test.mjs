import assert from 'node:assert/strict';
import test from 'node:test';
import { clock, hour, iso, now, sync } from '../core/time.js';

const today = Date.UTC(2026, 10, 14, 12);

test('a moment of today is its time, of another day its date, too', () => {
  assert.equal(clock(Date.UTC(2026, 10, 14, 14, 2, 41), { utc: true, today }), '14:02:41');
  assert.equal(clock(Date.UTC(2026, 10, 13, 9, 58), { utc: true, today }), '13 Nov 09:58');
  assert.equal(clock(Date.UTC(2025, 10, 14, 14), { utc: true, today }), '14 Nov 2025');
  assert.equal(clock(undefined), '–');
  assert.equal(hour(Date.UTC(2026, 0, 1, 7, 5), true), '07:05');
});

test('in full a moment has its zone', () => {
  const ms = Date.UTC(2026, 10, 14, 14, 2, 41, 7);
  assert.equal(iso(ms, true), '2026-11-14T14:02:41.007Z');
  assert.match(iso(ms, false), /^2026-11-1\d?\dT\d\d:\d\d:41\.007[+-]\d\d:\d\d$/);
  assert.equal(Date.parse(iso(ms, false)), ms);
});

test('the clock is that of the server', () => {
  const asked = Date.now();
  sync(asked + 3_600_000, asked);
  assert.ok(Math.abs(now() - Date.now() - 3_600_000) < 1_000);
  sync(Date.now());
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { happenings, rolled } from '../ui/happened.js';

const said = (more = {}) => ({
  as_of: 1, states: { completed: 3 }, per_second: { submitted: 0.2, completed: 0.1, failed: 0 }, minute: { at: 0, completed: [0] },
  lanes: [{ lane_id: 'mail', depth: { waiting: 1 }, throughput: 0.05, failed_per_s: 0 }], ...more,
});

test('rates that fall are nothing that happens, and everything else is', () => {
  const happened = happenings();
  assert.equal(happened(said()), true, 'the first');
  const falls = { per_second: { submitted: 0.1, completed: 0.05, failed: 0 }, lanes: [{ lane_id: 'mail', depth: { waiting: 1 }, throughput: 0, failed_per_s: 0 }] };
  assert.equal(happened(said({ as_of: 2, minute: { at: 60_000, completed: [3] }, ...falls })), false);
  assert.equal(happened(said({ as_of: 3, states: { completed: 4 } })), true);
  assert.equal(happened(said({ as_of: 4, states: { completed: 4 }, lanes: [{ lane_id: 'mail', depth: { waiting: 2 }, throughput: 0, failed_per_s: 0 }] })), true);
});

test('where no rate is left to fall something else must have happened', () => {
  const happened = happenings();
  const silent = { per_second: { submitted: 0, completed: 0, failed: 0 }, lanes: [] };
  happened(said({ lanes: [] }));
  assert.equal(happened(said({ as_of: 2, ...silent })), false, 'the last rate fell to nothing');
  assert.equal(happened(said({ as_of: 3, ...silent })), true);
});

test('a series goes on without being read while nothing happens', () => {
  const reply = {
    from: 0, step_ms: 60_000,
    series: [{ of: 'all', completed: [1, 2, 3], waiting: [4, null, 5], p50_ms: [7, null, 8], dimensions: { cents: { used: [1, 1, 1], by_kind: { fetch: [0, 0, 1] } } } }],
  };
  assert.equal(rolled(reply, 179_999), reply, 'the step is still under way');
  assert.deepEqual(rolled(reply, 180_000), {
    from: 60_000, step_ms: 60_000,
    series: [{ of: 'all', completed: [2, 3, 0], waiting: [null, 5, 5], p50_ms: [null, 8, null], dimensions: { cents: { used: [1, 1, 0], by_kind: { fetch: [0, 1, 0] } } } }],
  });
  assert.deepEqual(rolled(reply, 9_000_000).series[0].completed, [0, 0, 0]);
  assert.deepEqual(rolled({ from: 0, step_ms: 60_000, series: [] }, 9_000_000).series, []);
});

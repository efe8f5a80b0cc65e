import assert from 'node:assert/strict';
import test from 'node:test';
import { advance, family, foldRows, fromJournal, inOrder, intervals, leases, spent, waits } from '../run/intervals.js';

const line = (at, what, more = {}) => ({ at, what, actor: 'engine', ...more });
const claimed = (at, worker, attempt_index) => line(at, 'claimed', { actor: { worker }, attempt_index });
const run = (seq, key, from, at, more = {}) => ({ seq, key, kind: 'run', state: 'done', attempt_index: 0, started_at: from, recorded_at: at, ...more });

/** A run that waits for a person, loses its worker and goes on with another. */
const RUN = {
  execution: { created_at: 0, execution_kind: 'research.agent' },
  attempts: [
    { index: 0, started_at: 5, worker_instance_id: 'web-3', end: { at: 330, state: 'interrupted_reclaimed' } },
    { index: 1, started_at: 350, worker_instance_id: 'web-7' },
  ],
  history: [
    line(0, 'created'), claimed(5, 'web-3', 0), line(100, 'suspended', { actor: { worker: 'web-3' } }),
    line(200, 'signalled', { detail: 'approved at review#0, from ana' }), line(200, 'resumed'), claimed(210, 'web-3', 0),
    line(330, 'lease_expired'), line(340, 'reclaimable'), claimed(350, 'web-7', 1),
  ],
  steps: [
    run(0, 'plan#0', 10, 30, { usage: [{ budget_id: 'b', deltas: { cents: 20 } }, { budget_id: 'c', deltas: { cents: 1, tokens: 5 } }] }),
    { seq: 1, key: 'review#0', kind: 'wait', state: 'done', attempt_index: 0, recorded_at: 200, resumed_by: 'signals' },
    run(2, 'llm#0', 215, 260, { usage: [{ budget_id: 'b', deltas: { cents: 17 } }] }),
    run(3, 'llm#1', 355, 390, { attempt_index: 1, usage: [{ budget_id: 'b', deltas: { cents: 14 } }] }),
  ],
  frames: [
    { key: 'llm#0', attempt: 0, from: 220, to: 250 }, { key: 'llm#1', attempt: 0, from: 270, to: 310 },
    { key: 'llm#1', attempt: 1, from: 360, to: 380 }, { key: 'llm#2', attempt: 1, from: 395, to: 398 },
  ],
  now: 400,
};
const rowOf = (result, key) => result.rows.find((row) => row.key === key);
const bars = (row) => row.bars.map(({ from, to, state }) => [from, to, state]);

test('leases begin with a claim and end with what ended them', () => {
  const { leases } = intervals(RUN);
  assert.deepEqual(leases.map(({ from, to, attempt, worker, end }) => [from, to, attempt, worker, end]), [
    [5, 100, 0, 'web-3', 'suspended'], [210, 330, 0, 'web-3', 'lease_expired'], [350, 400, 1, 'web-7', null],
  ]);
});

test('a wait begins as its line says and ends with what ended it', () => {
  const { waits } = intervals(RUN);
  assert.deepEqual(waits.map(({ kind, from, to, by }) => [kind, from, to, by]), [
    ['suspended', 100, 200, 'resumed'], ['lost', 330, 350, 'claimed'],
  ]);
});

test('an open wait lasts until now, and one of an ended run until its end', () => {
  const lines = [line(0, 'created'), line(10, 'held', { detail: 'for the night' })];
  assert.deepEqual(waits(lines, 70), [{ from: 10, kind: 'held', detail: 'for the night', to: 70, by: null, open: true }]);
  const ended = waits([...lines, line(50, 'cancelled')], 50);
  assert.deepEqual(ended.map(({ to, by, open }) => [to, by, open]), [[50, 'cancelled', false]]);
});

test('a step lies between its start and its recording, a wait where the run was suspended', () => {
  const result = intervals(RUN);
  assert.deepEqual(bars(rowOf(result, 'plan#0')), [[10, 30, 'done']]);
  assert.deepEqual(bars(rowOf(result, 'review#0')), [[100, 200, 'wait']]);
  assert.equal(rowOf(result, 'review#0').took, 100);
});

test('what a lost worker had begun is a bar of its own beside the one that was recorded', () => {
  assert.deepEqual(bars(rowOf(intervals(RUN), 'llm#1')), [[270, 330, 'lost'], [355, 390, 'done']]);
});

test('a step that frames name and nobody recorded yet is under way', () => {
  const row = rowOf(intervals(RUN), 'llm#2');
  assert.deepEqual(bars(row), [[395, 400, 'active']]);
  assert.equal(row.state, 'active');
});

test('what the lease holder says it does is believed before frames', () => {
  const result = intervals({ ...RUN, execution: { ...RUN.execution, doing: [{ step: 'llm#2', started_at: 392 }] } });
  assert.deepEqual(bars(rowOf(result, 'llm#2')), [[392, 400, 'active']]);
});

test('each later attempt has a ring for what it need not do again', () => {
  const result = intervals(RUN);
  assert.deepEqual(result.rows.map(({ key, rings }) => [key, rings]), [
    ['plan#0', [350]], ['review#0', [350]], ['llm#0', [350]], ['llm#1', []], ['llm#2', []],
  ]);
});

test('what was not paid again is the sum over steps of earlier attempts', () => {
  assert.deepEqual(fromJournal(RUN.steps, RUN.attempts), { count: 3, usage: { cents: 38, tokens: 5 } });
  assert.deepEqual(fromJournal(RUN.steps, RUN.attempts.slice(0, 1)), { count: 0, usage: {} });
  assert.deepEqual(spent(RUN.steps), { cents: 52, tokens: 5 });
});

test('a suspension that nobody recorded a step for is a row that waits', () => {
  const suspension = { since: 395, waitpoints: [{ waitpoint_key: 'review#1' }] };
  const result = intervals({ ...RUN, execution: { ...RUN.execution, suspension }, history: [...RUN.history, line(395, 'suspended')] });
  assert.deepEqual(bars(rowOf(result, 'review#1')), [[395, 400, 'wait']]);
});

test('a sleep ends when it is over, and now if it is not', () => {
  const sleep = { seq: 9, key: 'sleep#0', kind: 'sleep', state: 'done', attempt_index: 1, recorded_at: 390 };
  const at = (until) => bars(rowOf(intervals({ ...RUN, steps: [...RUN.steps, { ...sleep, until }] }), 'sleep#0'))[0];
  assert.deepEqual(at(395), [390, 395, 'sleep']);
  assert.deepEqual(at(9_000), [390, 400, 'sleep']);
});

test('a history that begins later than the run says so, and attempts stand in for leases', () => {
  const result = intervals({ ...RUN, history: [line(380, 'usage_reported')] });
  assert.equal(result.late, 380);
  assert.deepEqual(result.leases.map(({ from, to, attempt }) => [from, to, attempt]), [[5, 330, 0], [350, 400, 1]]);
  assert.equal(intervals(RUN).late, null);
});

test('lines of one moment keep the order in which they were told', () => {
  assert.deepEqual(inOrder([line(5, 'b'), line(3, 'a'), line(5, 'c')]).map(({ what }) => what), ['a', 'b', 'c']);
});

test('a lease that another claim finds open ends there', () => {
  assert.deepEqual(leases([claimed(1, 'a', 0), claimed(5, 'b', 0), line(8, 'completed')], [], 9).map(({ to, end }) => [to, end]), [[5, 'claimed'], [8, 'completed']]);
});

test('names fold by what they have in common', () => {
  assert.deepEqual(['llm#4', 'search[news]', 'page[1][2]#3', 'plain'].map(family), ['llm', 'search', 'page', 'plain']);
});

test('more than two hundred rows fold by name, and open by it', () => {
  const row = (key, from, state = 'done') => ({ key, kind: 'run', state, bars: [{ from, to: from + 10, state }], rings: [], took: 10, usage: { cents: 2 } });
  const rows = [row('plan#0', 0), ...Array.from({ length: 200 }, (_, i) => row(`llm#${i}`, 20 * i))];
  assert.equal(foldRows(rows.slice(0, 200)).length, 200);
  const [plan, llm] = foldRows(rows);
  assert.equal(plan.key, 'plan#0');
  assert.deepEqual([llm.key, llm.of, llm.took, llm.usage.cents, llm.bars.length], ['llm', 200, 2_000, 400, 200]);
  assert.equal(foldRows(rows, 200, new Set(['llm'])).length, 202);
  assert.equal(foldRows([...rows, row('llm#200', 9_999, 'active')])[1].state, 'active');
});

test('as time goes on what is open lasts longer, and nothing else changes', () => {
  const sleep = { seq: 9, key: 'sleep#0', kind: 'sleep', state: 'done', attempt_index: 1, recorded_at: 390, until: 450 };
  const about = { ...RUN, steps: [...RUN.steps, sleep], history: [...RUN.history, line(395, 'held')] };
  const shape = ({ to, leases, waits, rows, busy, worked }) => ({ to, leases, waits, busy, worked, rows: rows.map((row) => [row.key, bars(row), row.took]) });
  for (const later of [420, 500]) assert.deepEqual(shape(advance(intervals(about), later)), shape(intervals({ ...about, now: later })));
  const over = intervals({ ...RUN, execution: { ...RUN.execution, completed_at: 400 } });
  assert.equal(advance(over, 900), over);
});

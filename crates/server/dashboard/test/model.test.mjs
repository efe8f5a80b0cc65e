import assert from 'node:assert/strict';
import { test } from 'node:test';

import { byState, boxed, finder, stateOf, take, takeView, tally, unpack } from '../flow/model.js';
import { critical, medians, remaining } from '../flow/path.js';

const id = (n) => `{fp:3}:0193aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`;

/** first → two in the middle → last, as the route answers it. */
const answer = () => ({
  flow_id: '0193aaaa-0000-7000-8000-00000000f10e', graph_revision: 3, created_at: 1_000, as_of: 9_000,
  kinds: ['first', 'middle', 'last'],
  classes: [{ kind: 0, layer: 0, first: 0, count: 1 }, { kind: 1, layer: 1, first: 1, count: 2 }, { kind: 2, layer: 2, first: 3, count: 1 }],
  states: 'cacu', started: [10, 20, 5, null], ended: [30, null, 70, null],
  links: [[0, 1, 2], [1, 2, 2]], ids: [0, 1, 2, 3].map(id), edges: [[0, 1], [0, 2], [1, 3], [2, 3]],
});

const event = (n, what, at = 2_000) => ({ subject: { execution: id(n).replace(/[{}]/g, '') }, what, at });

test('times are told as differences to the one before that is known', () => {
  const model = unpack(answer());
  assert.deepEqual(model.started, [10, 30, 35, null]);
  assert.deepEqual(model.ended, [30, null, 100, null]);
  assert.deepEqual([0, 1, 2, 3].map(model.kind), ['first', 'middle', 'middle', 'last']);
});

test('an event that is certain changes a member at once, whichever way its id is written', () => {
  const model = unpack(answer());
  assert.deepEqual(take(model, [event(1, 'completed')]), { changed: [1], unsure: [], structure: false });
  assert.equal(model.states[1], 'c');
  assert.equal(model.ended[1], 1_000);
  take(model, [event(3, 'claimed', 3_000)]);
  assert.equal(model.states[3], 'a');
  assert.equal(model.started[3], 2_000);
  assert.equal(model.ended[3], null);
});

test('one that is not certain has the member read again, and a later certain one spares that', () => {
  const model = unpack(answer());
  assert.deepEqual(take(model, [event(1, 'released')]).unsure, [1]);
  assert.deepEqual(take(model, [event(1, 'released'), event(1, 'claimed')]).unsure, []);
  assert.deepEqual(take(model, [event(1, 'tags_changed')]), { changed: [], unsure: [], structure: false });
});

test('what the graph does not know has it read again', () => {
  const model = unpack(answer());
  assert.ok(take(model, [event(7, 'created')]).structure);
  assert.ok(take(model, [{ subject: { flow: 'x' }, what: 'edge_staged', at: 1 }]).structure);
  assert.ok(!take(model, [{ subject: { flow: 'x' }, what: 'flow_ended', at: 1 }]).structure);
});

test('a member that was read is taken as it is', () => {
  const model = unpack(answer());
  assert.deepEqual(takeView(model, { execution_id: id(3), public_state: 'failed', started_at: 1_500, completed_at: 1_700 }), [3]);
  assert.deepEqual([model.states[3], model.started[3], model.ended[3]], ['f', 500, 700]);
  assert.deepEqual(takeView(model, { execution_id: id(3), public_state: 'failed' }), [], 'nothing new');
  assert.deepEqual(takeView(model, { execution_id: id(9), public_state: 'failed' }), [], 'not of this flow');
});

test('a box is in the state that says most', () => {
  assert.equal(stateOf({ c: 900, a: 1, f: 3 }), 'active');
  assert.equal(stateOf({ c: 900, f: 1, u: 4 }), 'failed');
  assert.equal(stateOf({ c: 900, u: 4 }), 'waiting_children');
  assert.equal(stateOf({ c: 1, k: 40 }), 'completed');
  assert.equal(stateOf({ k: 40, x: 1 }), 'skipped');
  assert.deepEqual(byState(tally(unpack(answer()), [0, 1, 2])), { completed: 2, active: 1 });
});

test('a graph without ids is made of the classes of the server', () => {
  const large = answer();
  delete large.ids;
  delete large.edges;
  const model = unpack(large);
  assert.deepEqual(boxed(model).boxes.map(({ members }) => members), [[0], [1, 2], [3]]);
  assert.deepEqual(critical(model, new Map(), 200).members, [0, 1, 3]);
  assert.ok(take(model, [event(1, 'completed')]).structure, 'nobody is known by id');
});

test('edges that are not all told are not drawn one by one', () => {
  const model = unpack({ ...answer(), more_edges: true });
  assert.deepEqual(boxed(model).boxes.map(({ members }) => members), [[0], [1, 2], [3]]);
  assert.deepEqual(take(model, [event(1, 'completed')]).changed, [1], 'members are known all the same');
});

test('boxes are found by kind, state and digits of an id', () => {
  const model = unpack(answer());
  const { boxes } = boxed(model);
  for (const box of boxes) Object.assign(box, { kind: model.kind(box.members[0]), counts: tally(model, box.members) });
  const found = (text) => boxes.filter(finder(model, text)).flatMap(({ members }) => members);
  assert.deepEqual(found('MID'), [1, 2]);
  assert.deepEqual(found('state:waiting_children'), [3]);
  assert.deepEqual(found('00000002'), [2]);
  assert.equal(finder(model, '  '), null);
});

test('how long it will take is said only where enough of a kind have ended', () => {
  const model = unpack(answer());
  const own = medians(model.size, (i) => model.kindOf[i], model.started, model.ended);
  assert.equal(remaining(model, own, 100), null);
  const usual = new Map([[1, { p50: 500, samples: 20 }], [2, { p50: 40, samples: 20 }]]);
  assert.equal(remaining(model, usual, 130), 500 - 100 + 40);
  assert.deepEqual(critical(model, usual, 130), { members: [0, 1, 3], weight: 20 + 100 + 40 });
});

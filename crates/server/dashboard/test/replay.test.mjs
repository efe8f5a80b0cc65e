import assert from 'node:assert/strict';
import test from 'node:test';
import { runsAgain } from '../run/replay-sheet.js';

const STEPS = [
  { seq: 0, key: 'plan#0', state: 'done' }, { seq: 1, key: 'llm#0', state: 'failed' }, { seq: 2, key: 'llm#1', state: 'done' }, { seq: 4, key: 'pay#0', state: 'done' },
];
const again = (choice) => runsAgain(STEPS, choice).map(({ key }) => key);

test('what runs again follows from what is kept', () => {
  assert.deepEqual(again('none'), ['plan#0', 'llm#0', 'llm#1', 'pay#0']);
  assert.deepEqual(again('done'), ['llm#0']);
  assert.deepEqual(again({ before: 'pay#0' }), ['llm#0', 'pay#0']);
  assert.deepEqual(again({ before: 'plan#0' }), ['plan#0', 'llm#0', 'llm#1', 'pay#0']);
});

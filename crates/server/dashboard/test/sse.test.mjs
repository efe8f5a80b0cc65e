import assert from 'node:assert/strict';
import test from 'node:test';
import { parser } from '../core/sse.js';

const read = (...chunks) => {
  const messages = [];
  const take = parser((...message) => messages.push(message));
  chunks.forEach(take);
  return messages;
};

test('a message has a name, its lines of data and where to go on', () => {
  assert.deepEqual(read('event: batch\nid: c1\ndata: {"a":\ndata: 1}\n\n'), [['batch', '{"a":\n1}', 'c1']]);
  assert.deepEqual(read('data:x\n\ndata: y\n\n'), [
    ['message', 'x', undefined],
    ['message', 'y', undefined],
  ]);
});

test('comments and messages without data are nothing, and an id stays', () => {
  assert.deepEqual(read(': still here\n\nretry: 5\n\nid: c1\n\ndata: x\n\n'), [['message', 'x', 'c1']]);
});

test('a stream may be cut anywhere', () => {
  const whole = 'event: a\r\nid: 1\r\ndata: x: y\r\n\r\nevent: b\r\ndata: z\r\n\r\n';
  const expected = [
    ['a', 'x: y', '1'],
    ['b', 'z', '1'],
  ];
  for (let cut = 0; cut <= whole.length; cut += 1) assert.deepEqual(read(whole.slice(0, cut), whole.slice(cut)), expected, `cut at ${cut}`);
  assert.deepEqual(read(...whole), expected);
});

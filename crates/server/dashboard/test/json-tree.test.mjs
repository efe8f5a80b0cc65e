import assert from 'node:assert/strict';
import test from 'node:test';
import { flatFields, member, readJson, writeJson } from '../ui/json-tree.js';

const again = (source) => writeJson(readJson(source));

test('numbers, keys given twice and the order of keys stand as in the source', () => {
  assert.equal(again('{"b": 12345678901234567890.00, "a": 1e400, "b": -0}'), '{\n  "b": 12345678901234567890.00,\n  "a": 1e400,\n  "b": -0\n}');
});

test('what is written reads as what was read', () => {
  const source = '{"a":[1,{"b":null,"c":[]},true],"d":"\\u00e9\\n\\"","e":{},"__proto__":{"x":1}}';
  assert.deepEqual(JSON.parse(again(source)), JSON.parse(source));
  assert.equal(again(again(source)), again(source));
});

test('what is no JSON is refused', () => {
  for (const bad of ['', '{', '[1,]', '{"a":1,}', '01', '1 2', "{'a':1}", '{"a" 1}', '"\n"', 'nul', '[1 2]', '{1:2}', '['.repeat(600)]) {
    assert.throws(() => readJson(bad), SyntaxError, bad);
  }
});

test('a flat object is fields, and nothing else is', () => {
  assert.deepEqual(flatFields(readJson('{"n": 1.50, "s": "x", "b": false, "z": null}')), [['n', '1.50'], ['s', 'x'], ['b', 'false'], ['z', 'null']]);
  for (const other of ['{"a":[1]}', '[1]', '"x"', '1', `{"a":"${'x'.repeat(3_000)}"}`]) assert.equal(flatFields(readJson(other)), null, other);
});

test('a member is found under its key alone', () => {
  const value = readJson('{"approvals": {"review#0": "shown"}}');
  assert.equal(member(member(value, 'approvals'), 'review#0'), 'shown');
  for (const [of, key] of [[value, '__proto__'], [undefined, 'a'], ['text', 'length']]) assert.equal(member(of, key), undefined);
});

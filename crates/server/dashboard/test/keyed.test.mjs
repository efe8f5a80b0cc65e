import assert from 'node:assert/strict';
import test from 'node:test';
import { keyed, rising } from '../core/dom.js';

/** As much of an element as `keyed` touches; it counts what is put somewhere. */
class Parent {
  childNodes = [];
  moved = [];

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  take(el) {
    this.childNodes.splice(this.childNodes.indexOf(el), 1);
  }

  insertBefore(el, place) {
    this.moved.push(el.key);
    if (el.parent) this.take(el);
    el.parent = this;
    this.childNodes.splice(place ? this.childNodes.indexOf(place) : this.childNodes.length, 0, el);
  }
}

const element = (key) => ({
  key,
  get nextSibling() {
    return this.parent.childNodes[this.parent.childNodes.indexOf(this) + 1] ?? null;
  },
  remove() {
    this.parent.take(this);
  },
});

const moved = (before, after) => {
  const parent = new Parent();
  for (const list of [before, after]) {
    parent.moved = [];
    keyed(parent, [...list], (key) => key, element);
    assert.equal(parent.childNodes.map(({ key }) => key).join(''), list);
  }
  return parent.moved.join('');
};

test('what may stay in a list is the most that is in order', () => {
  assert.deepEqual([...rising([0, 1, 2])].sort(), [0, 1, 2]);
  assert.equal(rising([2, 0, 1]).size, 2);
  assert.deepEqual([...rising([-1, 0, -1, 1])].sort(), [1, 3]);
  assert.equal(rising([]).size, 0);
});

test('no more is moved than must be', () => {
  assert.equal(moved('abcd', 'abcd'), '');
  assert.equal(moved('abcd', 'bcd'), '');
  assert.equal(moved('abcd', 'acd'), '');
  assert.equal(moved('abcd', 'nabcd'), 'n');
  assert.equal(moved('abcd', 'bcda'), 'a');
  assert.equal(moved('abcd', 'dabc'), 'd');
  assert.equal(moved('abcd', 'acbd').length, 1);
  assert.equal(moved('', 'ab'), 'ab');
  assert.equal(moved('abcdef', 'fbxda').length, 3);
});

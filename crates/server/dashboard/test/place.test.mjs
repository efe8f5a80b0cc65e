import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fold, unfold } from '../flow/fold.js';
import { place } from '../flow/place.js';
import { chain, fan, grid, mapReduce, tangle } from './graphs.mjs';

const GAP = 28;
const folded = ({ kinds, edges }) => fold(kinds.length, kinds, edges);

/** What holds for every placing: lines run forward, and boxes neither touch nor leave the picture. */
function checked(sizes, links) {
  const placed = place(sizes, links, GAP);
  const { at, layer, bends, size } = placed;
  for (const [from, to] of links) {
    assert.ok(layer[from] < layer[to]);
    assert.ok(at[from][0] + sizes[from][0] < at[to][0], 'a line runs back');
  }
  const rows = [];
  layer.forEach((at, box) => (rows[at] ??= []).push(box));
  for (const row of rows) {
    row.sort((a, b) => at[a][1] - at[b][1]);
    row.slice(1).forEach((box, i) => assert.ok(at[box][1] - at[row[i]][1] - sizes[row[i]][1] > GAP - 0.01, 'boxes touch'));
    for (const box of row) assert.equal(at[box][0], at[row[0]][0], 'boxes of a layer begin together');
  }
  at.forEach(([along, across], box) => {
    assert.ok(along >= 0 && along + sizes[box][0] <= size[0] + 0.01);
    assert.ok(across >= -0.01 && across + sizes[box][1] <= size[1] + 0.01);
  });
  links.forEach(([from, to], i) => {
    const ways = [at[from][0], ...bends[i].map(([along]) => along), at[to][0]];
    ways.slice(1).forEach((along, k) => assert.ok(along >= ways[k], 'a line bends back'));
  });
  return placed;
}

const same = ({ boxes }) => boxes.map(() => [100, 50]);
const middle = (placed, sizes, box) => placed.at[box][1] + sizes[box][1] / 2;

test('a chain is a straight line', () => {
  const sizes = [[100, 50], [200, 90], [80, 50], [100, 20]];
  const placed = checked(sizes, [[0, 1], [1, 2], [2, 3]]);
  for (const box of [1, 2, 3]) assert.ok(Math.abs(middle(placed, sizes, box) - middle(placed, sizes, 0)) < 0.01);
  assert.deepEqual(placed.size, [480 + 3 * GAP, 90]);
});

test('both ways from a box and back are level with it', () => {
  const sizes = Array(4).fill([100, 50]);
  const placed = checked(sizes, [[0, 1], [0, 2], [1, 3], [2, 3]]);
  assert.ok(Math.abs(middle(placed, sizes, 0) - middle(placed, sizes, 3)) < 0.01);
  assert.ok(Math.abs((middle(placed, sizes, 1) + middle(placed, sizes, 2)) / 2 - middle(placed, sizes, 0)) < 0.01);
});

test('lines do not cross where they need not', () => {
  // a0..a3 lead to b3..b0, as given the other way round.
  const placed = checked(Array(10).fill([50, 50]), [[8, 0], [8, 1], [8, 2], [8, 3], [0, 7], [1, 6], [2, 5], [3, 4], [4, 9], [5, 9], [6, 9], [7, 9]]);
  const across = (box) => placed.at[box][1];
  for (const [a, b] of [[0, 1], [1, 2], [2, 3]]) {
    assert.equal(across(a) < across(b), across(7 - a) < across(7 - b));
  }
});

test('a line over layers runs between the boxes of them', () => {
  const sizes = Array(5).fill([100, 50]);
  const links = [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]];
  const placed = checked(sizes, links);
  const bends = placed.bends[4];
  assert.equal(bends.length, 6, 'in and out of three layers');
  bends.forEach(([, across], i) => {
    const [, top] = placed.at[1 + (i >> 1)];
    assert.ok(across < top || across > top + 50, 'it runs through a box');
  });
});

test('a line over more than twelve layers is drawn straight', () => {
  const links = [...Array.from({ length: 14 }, (_, i) => [i, i + 1]), [0, 14], [0, 12]];
  const { bends } = checked(Array(15).fill([100, 50]), links);
  assert.equal(bends[14].length, 0);
  assert.equal(bends[15].length, 22);
});

test('what is joined to nothing has its place too', () => {
  checked(Array(6).fill([100, 50]), [[0, 1]]);
  assert.deepEqual(place([], []).size, [0, 0]);
});

for (const [name, graph] of Object.entries({
  'map-reduce of 1,829': mapReduce(),
  'chain of 2,000': chain(2000),
  'grid of 40 by 50': grid(40, 50),
  'tangle of 2,000': tangle(2000, 12),
  'fan of 100,000': fan(100_000),
})) {
  test(`folded, a ${name} is placed`, () => {
    const boxes = folded(graph);
    checked(same(boxes), boxes.links);
  });
  if (graph.kinds.length > 5000) continue;
  test(`unfolded, a ${name} is placed`, () => {
    const boxes = unfold(graph.kinds.length, graph.edges);
    checked(same(boxes), boxes.links);
  });
}

test('the same graph is placed the same way', () => {
  const boxes = folded(tangle(2000, 12));
  assert.deepEqual(place(same(boxes), boxes.links), place(same(boxes), boxes.links));
});

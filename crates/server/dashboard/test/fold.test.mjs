import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dag, layers, order } from '../flow/dag.js';
import { classes, fold, unfold } from '../flow/fold.js';
import { chain, fan, grid, lanes, mapReduce, random, tangle } from './graphs.mjs';

/** What holds for every folding: nobody is lost or twice, every edge is in a link, and links go forward only. */
function checked({ kinds, edges }, folded = fold(kinds.length, kinds, edges)) {
  const { boxes, boxOf, links } = folded;
  const seen = boxes.flatMap(({ members }) => members);
  assert.equal(seen.length, kinds.length);
  assert.equal(new Set(seen).size, kinds.length);
  boxes.forEach(({ members }, box) => members.forEach((i) => assert.equal(boxOf[i], box)));
  const between = edges.filter(([from, to]) => boxOf[from] !== boxOf[to]);
  assert.equal(links.reduce((sum, [, , n]) => sum + n, 0), between.length);
  const joined = new Set(links.map(([from, to]) => `${from} ${to}`));
  assert.equal(joined.size, links.length);
  for (const [from, to] of between) assert.ok(joined.has(`${boxOf[from]} ${boxOf[to]}`));
  assert.equal(order(dag(boxes.length, links)).length, boxes.length, 'boxes are in a circle');
  return folded;
}

const sizes = ({ boxes }) => boxes.map(({ members }) => members.length);

test('a layer is the longest way from a source, and a source stands just before its first child', () => {
  const edges = [[0, 1], [1, 2], [2, 3], [0, 3], [4, 3]];
  assert.deepEqual([...layers(dag(6, edges))], [0, 1, 2, 3, 2, 0]);
  for (const { kinds, edges } of [mapReduce(), grid(40, 50), tangle(2000, 12)]) {
    const layer = layers(dag(kinds.length, edges));
    for (const [from, to] of edges) assert.ok(layer[from] < layer[to]);
  }
});

test('members that play the same part are one box', () => {
  const folded = checked(mapReduce());
  assert.deepEqual(sizes(folded), [1, 1200, 600, 24, 1, 1, 1, 1]);
  assert.deepEqual(folded.links.map(([from, to, n]) => `${from}>${to}:${n}`).sort(), [
    '0>1:1200', '1>2:1200', '1>3:1200', '2>4:600', '2>5:600', '3>4:24', '4>6:1', '5>6:1', '6>7:1',
  ]);
});

test('lines of several steps fold step by step', () => {
  assert.deepEqual(sizes(checked(lanes(100))), [1, 100, 100, 100, 1]);
});

test('members of one kind and layer that lead elsewhere are apart', () => {
  // Ten of the twenty lead to each of two ends.
  const kinds = [0, ...Array(20).fill(1), 2, 3];
  const edges = [];
  for (let i = 1; i <= 20; i++) edges.push([0, i], [i, i % 2 ? 21 : 22]);
  assert.deepEqual(sizes(checked({ kinds, edges })), [1, 10, 10, 1, 1]);
});

test('fewer than eight stay boxes of their own', () => {
  assert.equal(checked(fan(2 + 7)).boxes.length, 9);
  assert.equal(checked(fan(2 + 8)).boxes.length, 3);
});

test('a chain of two thousand is one box, in order', () => {
  const { boxes } = checked(chain(2000));
  assert.equal(boxes.length, 1);
  assert.equal(boxes[0].run, 2000);
  assert.deepEqual(boxes[0].members, Array.from({ length: 2000 }, (_, i) => i));
});

test('a run of five becomes one box, of four does not', () => {
  assert.deepEqual(checked(chain(4)).boxes.map(({ run }) => run), [1, 1, 1, 1]);
  assert.deepEqual(checked(chain(5)).boxes.map(({ run }) => run), [5]);
});

test('a run ends where ways part or meet', () => {
  // 0..5 in a row, then two ways, then 8..13 in a row.
  const kinds = Array(14).fill(0).map((_, i) => i);
  const edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [5, 7], [6, 8], [7, 8], [8, 9], [9, 10], [10, 11], [11, 12], [12, 13]];
  const { boxes } = checked({ kinds, edges });
  assert.deepEqual(boxes.map(({ members }) => members), [[0, 1, 2, 3, 4], [5], [6], [7], [8], [9, 10, 11, 12, 13]]);
});

test('a grid of forty by fifty with five kinds is two hundred boxes', () => {
  assert.deepEqual(sizes(checked(grid(40, 50))), Array(200).fill(10));
});

test('a tangle of two thousand is at most four hundred boxes', () => {
  const folded = checked(tangle(2000, 12));
  assert.ok(folded.boxes.length <= 400 && folded.boxes.length > 100, `${folded.boxes.length}`);
});

test('a fan of a hundred thousand is three boxes', () => {
  assert.deepEqual(sizes(checked(fan(100_000))), [1, 99_998, 1]);
});

test('no graph is more boxes than asked for', () => {
  // A ladder: each layer of two members, joined to the next layer and the one after, so nothing runs in a row.
  const kinds = Array.from({ length: 2000 }, (_, i) => i);
  const edges = [];
  for (let i = 2; i < 2000; i++) for (const from of [i - 2 - (i % 2), i - 1 - (i % 2), i - 4 - (i % 2)]) if (from >= 0) edges.push([from, i]);
  for (const most of [400, 50, 3]) assert.ok(checked({ kinds, edges }, fold(2000, kinds, edges, most)).boxes.length <= most);
});

test('the numbers that members happen to have change nothing', () => {
  const { kinds, edges } = mapReduce();
  const pick = random(3);
  const to = kinds.map((_, i) => i);
  for (let i = to.length - 1; i > 0; i--) {
    const j = pick(i + 1);
    [to[i], to[j]] = [to[j], to[i]];
  }
  const mixed = { kinds: [], edges: edges.map(([a, b]) => [to[a], to[b]]) };
  kinds.forEach((kind, i) => { mixed.kinds[to[i]] = kind; });
  assert.deepEqual(sizes(checked(mixed)).sort(), sizes(checked({ kinds, edges })).sort());
});

test('unfolded, each member is a box', () => {
  const graph = grid(40, 50);
  const folded = checked(graph, unfold(2000, graph.edges));
  assert.equal(folded.boxes.length, 2000);
  assert.equal(folded.links.length, graph.edges.length);
});

test('classes of a server become boxes, and their chains too', () => {
  const list = [1, 60_000, 1, 1, 1, 1, 1].map((count, i, all) => ({ first: all.slice(0, i).reduce((a, b) => a + b, 0), count }));
  const links = [[0, 1, 60_000], [1, 2, 60_000], [2, 3, 1], [3, 4, 1], [4, 5, 1], [5, 6, 1]];
  const { boxes } = classes(list, links);
  assert.deepEqual(boxes.map(({ members, run }) => [members.length, run]), [[1, 1], [60_000, 1], [5, 5]]);
  const split = classes(list, [...links, [0, 6, 1]]);
  assert.equal(split.boxes.length, 7, 'where two ways lead to it, a run ends');
});

test('nothing folds to nothing', () => {
  assert.deepEqual(fold(0, [], []).boxes, []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dag } from '../flow/dag.js';
import { heaviest, left, medians, took } from '../flow/path.js';
import { grid, lines, memberAt } from '../flow/waffle.js';
import { chain, mapReduce, random, tangle } from './graphs.mjs';

test('the critical path is the chain that takes longest', () => {
  // 0 → 1 → 3 takes 12, 0 → 2 → 3 takes 11, and 4 alone 9.
  const times = [1, 10, 9, 1, 9];
  const path = heaviest(dag(5, [[0, 1], [0, 2], [1, 3], [2, 3]]), (i) => times[i]);
  assert.deepEqual(path, { members: [0, 1, 3], weight: 12 });
});

test('no chain of a random graph is heavier', () => {
  for (let seed = 0; seed < 50; seed++) {
    const pick = random(seed);
    const edges = [];
    for (let i = 1; i < 9; i++) for (let from = 0; from < i; from++) if (!pick(3)) edges.push([from, i]);
    const times = Array.from({ length: 9 }, () => pick(100));
    const best = (i) => times[i] + Math.max(0, ...edges.filter(([from]) => from === i).map(([, to]) => best(to)));
    const { members, weight } = heaviest(dag(9, edges), (i) => times[i]);
    assert.equal(weight, Math.max(...times.map((_, i) => best(i))));
    assert.equal(members.reduce((sum, i) => sum + times[i], 0), weight);
    members.slice(1).forEach((to, k) => assert.ok(edges.some(([a, b]) => a === members[k] && b === to)));
  }
});

test('long chains and wide graphs have a path', () => {
  assert.equal(heaviest(dag(2000, chain(2000).edges), () => 1).members.length, 2000);
  const { kinds, edges } = mapReduce();
  assert.match(heaviest(dag(kinds.length, edges), () => 1).members.map((i) => kinds[i]).join(''), /^012[45]67$/);
  const wild = tangle(2000, 12);
  assert.ok(heaviest(dag(2000, wild.edges), (i) => i % 7).weight > 0);
  assert.deepEqual(heaviest(dag(0, []), () => 1), { members: [], weight: 0 });
});

test('a member counts with the time it took, takes so far, or takes as a rule', () => {
  assert.equal(took(100, 350, 1000, 9), 250);
  assert.equal(took(100, null, 1000, 9), 900);
  assert.equal(took(null, null, 1000, 9), 9);
  assert.equal(took(null, 350, 1000, 9), 0, 'ended without having run');
  assert.equal(left(100, 350, 1000, 9), 0);
  assert.equal(left(100, null, 1000, 1200), 300);
  assert.equal(left(100, null, 1000, 9), 0, 'longer than usual: nothing is promised');
  assert.equal(left(null, null, 1000, 9), 9);
});

test('medians are of those that ran to their end, by kind', () => {
  const kinds = 'aaaaab';
  const started = [0, 0, 0, 0, null, 5];
  const ended = [10, 30, 20, null, 7, 6];
  const found = medians(6, (i) => kinds[i], started, ended);
  assert.deepEqual(found.get('a'), { p50: 20, p95: 30, samples: 3 });
  assert.deepEqual(found.get('b'), { p50: 1, p95: 1, samples: 1 });
});

test('a waffle has a cell for each member, column by column', () => {
  assert.deepEqual(grid(1200), { rows: 22, columns: 55, pitch: 4, per: 1, cells: 1200, width: 219, height: 87 });
  assert.equal(grid(24).rows, 1);
  const members = Array.from({ length: 100 }, (_, i) => i + 7);
  const { rows, pitch } = grid(100);
  for (const i of [0, 1, 57, 99]) assert.equal(memberAt(members, Math.floor(i / rows) * pitch + 1, (i % rows) * pitch + 1), i + 7);
  assert.equal(memberAt(members, -1, 0), undefined);
  assert.equal(memberAt(members, 0, rows * pitch), undefined);
});

test('every cell is drawn once, in the colour of its member', () => {
  const pick = random(5);
  const states = Array.from({ length: 1000 }, () => 'cfaw'[pick(4)]);
  const { rows, pitch } = grid(1000);
  const drawn = Array(1000);
  for (const [state, path] of Object.entries(lines(states, [...states.keys()]))) {
    for (const [, x, y, length] of path.matchAll(/M([\d.]+) (\d+)v(\d+)/g)) {
      const first = ((x - (pitch - 1) / 2) / pitch) * rows + y / pitch;
      for (let k = 0; k < (Number(length) + 1) / pitch; k++) {
        assert.equal(drawn[first + k], undefined);
        drawn[first + k] = state;
      }
    }
  }
  assert.deepEqual(drawn, states);
});

test('more than two thousand share cells, and a cell shows the worst of its own', () => {
  const members = Array.from({ length: 5000 }, (_, i) => i);
  assert.equal(grid(5000).per, 3);
  const states = Array(5000).fill('c');
  states[4] = 'f';
  states[3] = 'a';
  const paths = lines(states, members);
  assert.equal(paths.f.match(/M/g).length, 1);
  assert.equal(paths.a, undefined);
  assert.equal(memberAt(members, 0, 4), 3);
});

// Where boxes stand: layer behind layer, in each so that lines cross little and run straight.

import { dag, layers } from './dag.js';

const SWEEPS = 8;
const PASSES = 6;
const SPAN = 12;
const DUMMIES = 3000;
const THIN = 10;

/**
 * Places boxes of `sizes` [along, across] joined by `links` [from, to].
 * Answers `at` [along, across] of each box's corner, `layer` of each, the `size` of all and, for each link, the points it bends at.
 */
export function place(sizes, links, gap = 28) {
  const count = sizes.length;
  const layer = [...layers(dag(count, links))];
  const before = sizes.map(() => []);
  const after = sizes.map(() => []);
  const join = (from, to) => (after[from].push(to), before[to].push(from));
  const bends = links.map(([from, to]) => {
    const span = layer[to] - layer[from];
    if (span === 1) join(from, to);
    if (span < 2 || span > SPAN || layer.length + span - 1 - count > DUMMIES) return [];
    // A line over several layers holds a thin place in each of them, so that it runs between the boxes.
    const thin = Array.from({ length: span - 1 }, (_, k) => {
      before.push([]);
      after.push([]);
      return layer.push(layer[from] + k + 1) - 1;
    });
    [from, ...thin].forEach((node, k) => join(node, thin[k] ?? to));
    return thin;
  });
  const rows = [];
  layer.forEach((at, node) => (rows[at] ??= []).push(node));
  for (let at = 0; at < rows.length; at++) rows[at] ??= [];
  sort(rows, before, after);
  const height = layer.map((_, node) => (node < count ? sizes[node][1] : THIN));
  // Lines pass each other and boxes more closely than boxes stand.
  const pitch = (one, next) => (height[one] + height[next]) / 2 + (one < count && next < count ? gap : THIN);
  const middle = straighten(rows, before, after, pitch);

  const starts = along(rows, sizes, links, layer, gap);
  const top = layer.reduce((least, _, node) => Math.min(least, middle[node] - height[node] / 2), Infinity);
  const bottom = layer.reduce((most, _, node) => Math.max(most, middle[node] + height[node] / 2), -Infinity);
  const end = (at) => starts[at] + rows[at].reduce((most, node) => Math.max(most, sizes[node]?.[0] ?? 0), 0);
  return {
    at: sizes.map((size, node) => [starts[layer[node]], middle[node] - size[1] / 2 - top]),
    layer: layer.slice(0, count),
    bends: bends.map((thin) => thin.flatMap((node) => [[starts[layer[node]], middle[node] - top], [end(layer[node]), middle[node] - top]])),
    size: count ? [end(rows.length - 1), bottom - top] : [0, 0],
  };
}

/** Each layer in the order of the middle of what it is joined to, forth and back. */
function sort(rows, before, after) {
  const spot = [];
  const settle = (row) => row.forEach((node, i) => { spot[node] = (i + 0.5) / row.length; });
  rows.forEach(settle);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const back = sweep % 2;
    const beside = back ? after : before;
    for (const row of back ? rows.toReversed() : rows) {
      const wish = new Map(row.map((node) => [node, mean(beside[node], spot) ?? spot[node]]));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      settle(row);
    }
  }
}

function mean(nodes, of) {
  if (!nodes.length) return undefined;
  let sum = 0;
  for (const node of nodes) sum += of[node];
  return sum / nodes.length;
}

/** Moves every node to the mean of its neighbours, then apart until none overlap. */
function straighten(rows, before, after, pitch) {
  const middle = [];
  for (const row of rows) {
    const steps = row.map((node, i) => (i ? pitch(row[i - 1], node) : 0));
    let at = -steps.reduce((sum, step) => sum + step, 0) / 2;
    row.forEach((node, i) => (middle[node] = at += steps[i]));
  }
  for (let pass = 0; pass < PASSES; pass++) {
    const back = pass % 2;
    for (const row of back ? rows.toReversed() : rows) {
      const both = pass >= PASSES - 2;
      const wish = row.map((node) => {
        const near = both ? [...before[node], ...after[node]] : back ? after[node] : before[node];
        return mean(near, middle) ?? middle[node];
      });
      apart(row, wish, middle, pitch);
    }
  }
  return middle;
}

/** The nearest places to those wished that keep the order and the least steps: blocks that would overlap share their mean. */
function apart(row, wish, middle, pitch) {
  const blocks = [];
  let offset = 0;
  row.forEach((node, i) => {
    if (i) offset += pitch(row[i - 1], node);
    let block = { sum: wish[i] - offset, nodes: [[node, offset]] };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).nodes.length > block.sum / block.nodes.length) {
      const last = blocks.pop();
      last.sum += block.sum;
      last.nodes.push(...block.nodes);
      block = last;
    }
    blocks.push(block);
  });
  for (const { sum, nodes } of blocks) for (const [node, at] of nodes) middle[node] = sum / nodes.length + at;
}

/** Where each layer begins: its widest box, and more room where many lines pass. */
function along(rows, sizes, links, layer, gap) {
  const lines = rows.map(() => 0);
  for (const [from] of links) lines[layer[from]]++;
  let at = 0;
  return rows.map((row, i) => {
    const start = at;
    at += row.reduce((most, node) => Math.max(most, sizes[node]?.[0] ?? 0), 0) + gap + Math.min(60, 2 * Math.max(0, lines[i] - 2));
    return start;
  });
}

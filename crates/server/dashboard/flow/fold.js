// Members that play the same part become one box, so that a graph of thousands is read at a glance.

import { dag, layers } from './dag.js';

const MANY = 8;
const ROUNDS = 8;
const RUN = 5;

/**
 * Folds `n` members of the given kinds (numbers) and edges [from, to] into at most `most` boxes.
 * Answers boxes {members, run} (`run`: how many boxes in a row it was made of), the box of each member, and links [from, to, edges].
 */
export function fold(n, kinds, edges, most = 400) {
  const graph = dag(n, edges);
  const layer = layers(graph);
  const deep = layer.reduce((most, at) => Math.max(most, at), 0) + 1;
  const parts = number(n, (i) => kinds[i] * deep + layer[i]);
  // From the finest colouring to the coarsest; at last few of a kind are a box too, then all of a layer.
  const tries = [...refine(graph, parts).reverse().map((colour) => [colour, MANY]), [parts, 1], [layer, 1]];
  for (const [colour, many] of tries) {
    const folded = runs(group(n, colour, many, edges));
    if (folded.boxes.length <= most) return folded;
  }
  return group(n, layer.map((at) => Math.floor((at * most) / deep)), 1, edges);
}

/** Every member a box of its own. */
export const unfold = (n, edges) => group(n, number(n, (i) => i), 1, edges);

/** What a server folded: classes {first, count} of members in a row, and links between them. */
export function classes(list, links) {
  const boxes = list.map(({ first, count }) => ({ members: Array.from({ length: count }, (_, i) => first + i), run: 1 }));
  return runs({ boxes, boxOf: owners(boxes), links: links.filter(([from, to]) => from !== to) });
}

/** Equal keys get equal numbers, from 0 in the order in which they come. */
function number(n, key) {
  const seen = new Map();
  const numbers = new Int32Array(n);
  for (let i = 0; i < n; i++) {
    const k = key(i);
    if (!seen.has(k)) seen.set(k, seen.size);
    numbers[i] = seen.get(k);
  }
  numbers.count = seen.size;
  return numbers;
}

/** Ever finer colourings: members stay equal while the sets of colours before and after them are. */
function refine(graph, first) {
  const all = [first];
  const seen = new Float64Array(graph.n);
  for (let round = 0; round < ROUNDS; round++) {
    const colour = all.at(-1);
    // A sum over distinct colours does not depend on their order: no sorting, and 53 bits of it as key.
    seen.fill(-1);
    const next = number(graph.n, (i) => {
      let low = Math.imul(colour[i] + 1, 0x9e3779b1);
      let high = colour[i];
      for (let way = 0; way < 2; way++) {
        const { at, list } = way ? graph.out : graph.in;
        for (let k = at[i]; k < at[i + 1]; k++) {
          const other = colour[list[k]];
          if (seen[other] === 2 * i + way) continue;
          seen[other] = 2 * i + way;
          const mixed = mix(2 * other + way + 1);
          low = (low + mixed) | 0;
          high = (high + mix(mixed ^ 0x5bd1e995)) | 0;
        }
      }
      return (high & 0x1fffff) * 0x100000000 + (low >>> 0);
    });
    if (next.count === colour.count) break;
    all.push(next);
  }
  return all;
}

function mix(value) {
  let x = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** Colours of at least `many` members become a box, the others stay apart. */
function group(n, colour, many, edges) {
  const size = new Map();
  for (let i = 0; i < n; i++) size.set(colour[i], (size.get(colour[i]) ?? 0) + 1);
  const boxes = [];
  const boxOf = new Int32Array(n);
  const shared = new Map();
  for (let i = 0; i < n; i++) {
    const together = size.get(colour[i]) >= many;
    let box = together ? shared.get(colour[i]) : undefined;
    if (box === undefined) {
      box = boxes.push({ members: [], run: 1 }) - 1;
      if (together) shared.set(colour[i], box);
    }
    boxOf[i] = box;
    boxes[box].members.push(i);
  }
  return { boxes, boxOf, links: join(edges, boxOf, boxes.length) };
}

/** Edges between boxes, each once with how many it stands for. */
function join(edges, boxOf, count) {
  const sums = new Map();
  for (const [from, to, n = 1] of edges) {
    if (boxOf[from] === boxOf[to]) continue;
    const key = boxOf[from] * count + boxOf[to];
    sums.set(key, (sums.get(key) ?? 0) + n);
  }
  return [...sums].map(([key, n]) => [Math.floor(key / count), key % count, n]);
}

function owners(boxes) {
  const boxOf = [];
  boxes.forEach(({ members }, box) => members.forEach((i) => { boxOf[i] = box; }));
  return boxOf;
}

/** Boxes of the same size in a row, each with one way in and one way out, become one. */
function runs({ boxes, boxOf, links }) {
  const before = boxes.map(() => []);
  const after = boxes.map(() => []);
  for (const [from, to] of links) {
    after[from].push(to);
    before[to].push(from);
  }
  const narrow = boxes.map((_, i) => before[i].length <= 1 && after[i].length <= 1);
  const follows = (one, next) => narrow[one] && narrow[next] && boxes[one].members.length === boxes[next].members.length;
  const into = boxes.map((_, i) => i);
  for (let first = 0; first < boxes.length; first++) {
    if (follows(before[first][0], first)) continue;
    const run = [first];
    while (follows(run.at(-1), after[run.at(-1)][0])) run.push(after[run.at(-1)][0]);
    if (run.length >= RUN) for (const box of run) into[box] = run;
  }
  const kept = [];
  const place = boxes.map(() => 0);
  boxes.forEach((box, i) => {
    const run = into[i];
    if (run === i) place[i] = kept.push(box) - 1;
    else if (run[0] === i) {
      const index = kept.push({ members: run.flatMap((one) => boxes[one].members), run: run.length }) - 1;
      for (const one of run) place[one] = index;
    }
  });
  if (kept.length === boxes.length) return { boxes, boxOf, links };
  return { boxes: kept, boxOf: boxOf.map((box) => place[box]), links: join(links, place, kept.length) };
}

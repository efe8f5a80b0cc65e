// Graphs of the shapes and sizes that flows have.

/** Small, fast and the same on every machine. */
export function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 0x100000000) * below);
  };
}

function graph() {
  const kinds = [];
  const edges = [];
  return {
    kinds,
    edges,
    add(kind, ...upstreams) {
      const i = kinds.push(kind) - 1;
      for (const from of upstreams) edges.push([from, i]);
      return i;
    },
  };
}

const many = (n, make) => Array.from({ length: n }, (_, i) => make(i));

/** plan → 1,200 fetch → 600 extract and 24 score → merge, dedupe → draft → publish */
export function mapReduce() {
  const g = graph();
  const plan = g.add(0);
  const fetch = many(1200, () => g.add(1, plan));
  const extract = many(600, (i) => g.add(2, fetch[2 * i], fetch[2 * i + 1]));
  const score = many(24, (i) => g.add(3, ...fetch.slice(50 * i, 50 * i + 50)));
  const merge = g.add(4, ...extract, ...score);
  const dedupe = g.add(5, ...extract);
  g.add(7, g.add(6, merge, dedupe));
  return g;
}

export function chain(n) {
  const g = graph();
  many(n, (i) => g.add(0, ...(i ? [i - 1] : [])));
  return g;
}

/** Layers of the same width, each member after three of the layer before, of five kinds. */
export function grid(layers, width) {
  const g = graph();
  const pick = random(7);
  many(layers, (layer) => many(width, (i) => {
    const before = new Set(layer ? many(3, () => (layer - 1) * width + pick(width)) : []);
    g.add(i % 5, ...before);
  }));
  return g;
}

export function tangle(n, kinds) {
  const g = graph();
  const pick = random(11);
  many(n, (i) => g.add(pick(kinds), ...new Set(many(i ? pick(4) : 0, () => pick(i)))));
  return g;
}

export function fan(n) {
  const g = graph();
  const first = g.add(0);
  g.add(2, ...many(n - 2, () => g.add(1, first)));
  return g;
}

/** Each line i: fetch → parse → store, joined at both ends. */
export function lanes(n) {
  const g = graph();
  const first = g.add(0);
  g.add(4, ...many(n, () => g.add(3, g.add(2, g.add(1, first)))));
  return g;
}

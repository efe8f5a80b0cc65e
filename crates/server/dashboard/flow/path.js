// The critical path: the chain of members that the whole flow waits for.

import { order } from './dag.js';

/** The heaviest chain through a graph: its members in order, and its weight. */
export function heaviest(graph, weight) {
  const best = new Float64Array(graph.n);
  const via = new Int32Array(graph.n).fill(-1);
  let last = -1;
  for (const i of order(graph)) {
    best[i] += weight(i);
    // Of equals the later one: what follows and has not begun belongs to the path too.
    if (last < 0 || best[i] >= best[last]) last = i;
    for (let k = graph.out.at[i]; k < graph.out.at[i + 1]; k++) {
      const j = graph.out.list[k];
      if (via[j] >= 0 && best[i] <= best[j]) continue;
      best[j] = best[i];
      via[j] = i;
    }
  }
  const members = [];
  for (let i = last; i >= 0; i = via[i]) members.unshift(i);
  return { members, weight: last < 0 ? 0 : best[last] };
}

/**
 * How long a member took (ended), takes so far (running), or takes as a rule (not begun).
 * Times are milliseconds after the flow's start; null where there is none.
 */
export function took(started, ended, now, usual) {
  if (ended !== null) return started === null ? 0 : Math.max(0, ended - started);
  return started === null ? usual : Math.max(0, now - started);
}

/** How long a member will still take: what is usual less what it took, never less than nothing. */
export function left(started, ended, now, usual) {
  if (ended !== null) return 0;
  return started === null ? usual : Math.max(0, usual - (now - started));
}

/** The median time of each kind over members that ran to their end, with how many those were. */
export function medians(count, kindOf, started, ended) {
  const times = new Map();
  for (let i = 0; i < count; i++) {
    if (started[i] === null || ended[i] === null) continue;
    const kind = kindOf(i);
    if (!times.has(kind)) times.set(kind, []);
    times.get(kind).push(ended[i] - started[i]);
  }
  return new Map([...times].map(([kind, list]) => {
    list.sort((a, b) => a - b);
    return [kind, { p50: list[list.length >> 1], p95: list[Math.floor(list.length * 0.95)], samples: list.length }];
  }));
}

const SAMPLES = 20;

/** A function of members to the nodes of the graph: the members themselves, or classes of them, where the longest counts. */
const perNode = (model, of) => (model.whole ? of : (node) => {
  const { first, count } = model.classes[node];
  let most = 0;
  for (let i = first; i < first + count; i++) most = Math.max(most, of(i));
  return most;
});

const usualOf = (model, usual) => (i) => usual.get(model.kindOf[i])?.p50 ?? 0;

/** The critical path as members (of a class, its first), with how long it takes. */
export function critical(model, usual, now) {
  const kind = usualOf(model, usual);
  const { members, weight } = heaviest(model.graph, perNode(model, (i) => took(model.started[i], model.ended[i], now, kind(i))));
  return { members: model.whole ? members : members.map((node) => model.classes[node].first), weight };
}

/** How long the flow will still take, by the usual time of each kind; null where too few of a kind have ended to say. */
export function remaining(model, usual, now) {
  for (let i = 0; i < model.size; i++) {
    if (model.ended[i] === null && !(usual.get(model.kindOf[i])?.samples >= SAMPLES)) return null;
  }
  const kind = usualOf(model, usual);
  return heaviest(model.graph, perNode(model, (i) => left(model.started[i], model.ended[i], now, kind(i)))).weight;
}

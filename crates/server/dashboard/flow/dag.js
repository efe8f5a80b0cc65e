// A graph as flat arrays: an object for each of a hundred thousand members would cost more than what is computed.

/** `edges` are pairs [from, to] of numbers below `n`; more than the two may stand in each. */
export function dag(n, edges) {
  const side = (here, there) => {
    const at = new Int32Array(n + 1);
    for (const edge of edges) at[edge[here] + 1]++;
    for (let i = 0; i < n; i++) at[i + 1] += at[i];
    const list = new Int32Array(edges.length);
    const next = at.slice();
    for (const edge of edges) list[next[edge[here]]++] = edge[there];
    return { at, list };
  };
  return { n, out: side(0, 1), in: side(1, 0) };
}

/** Who stands at the other end of the edges of `i`. */
export const around = ({ at, list }, i) => list.subarray(at[i], at[i + 1]);

/** How many edges `i` has on that side. */
export const degree = ({ at }, i) => at[i + 1] - at[i];

/** All members, each after everything it depends on. */
export function order({ n, out, in: into }) {
  const left = new Int32Array(n);
  const list = new Int32Array(n);
  let end = 0;
  for (let i = 0; i < n; i++) {
    left[i] = degree(into, i);
    if (!left[i]) list[end++] = i;
  }
  for (let head = 0; head < end; head++) {
    const i = list[head];
    for (let k = out.at[i]; k < out.at[i + 1]; k++) if (!--left[out.list[k]]) list[end++] = out.list[k];
  }
  return list.subarray(0, end);
}

/** The longest way from a source to each member, in edges; a source stands just before its first child. */
export function layers(graph) {
  const { n, out, in: into } = graph;
  const layer = new Int32Array(n);
  for (const i of order(graph)) {
    for (let k = out.at[i]; k < out.at[i + 1]; k++) layer[out.list[k]] = Math.max(layer[out.list[k]], layer[i] + 1);
  }
  for (let i = 0; i < n; i++) {
    if (degree(into, i) || !degree(out, i)) continue;
    let first = layer[out.list[out.at[i]]];
    for (let k = out.at[i]; k < out.at[i + 1]; k++) first = Math.min(first, layer[out.list[k]]);
    layer[i] = first - 1;
  }
  return layer;
}

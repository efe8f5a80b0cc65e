// A flow's graph as it was read, and what events make of it. Nothing here touches the page.

import { dag } from './dag.js';
import { classes, fold, unfold } from './fold.js';

/** The letters that stand for the states of members. */
export const LETTERS = {
  w: 'waiting', d: 'delayed', l: 'rate_limited', u: 'waiting_children', r: 'resumable', a: 'active',
  s: 'suspended', c: 'completed', f: 'failed', e: 'expired', x: 'cancelled', k: 'skipped',
};
const LETTER_OF = Object.fromEntries(Object.entries(LETTERS).map(([letter, state]) => [state, letter]));

/** States that a member ends in. */
export const ENDED = 'cfexk';

// What is certain of a member after an event; after any other that is not harmless it is read again.
const CERTAIN = { claimed: 'a', completed: 'c', failed: 'f', cancelled: 'x', expired: 'e', skipped: 'k', suspended: 's', delayed: 'd', dependencies_satisfied: 'w' };
const HARMLESS = [
  'created', 'opened', 'signalled', 'waitpoint_created', 'waitpoint_expired', 'priority_changed', 'tags_changed',
  'stop_requested', 'stop_withdrawn', 'escalated', 'usage_reported', 'soft_breach', 'hard_breach', 'flow_created',
];
const STRUCTURAL = ['member_added', 'edge_staged', 'dependency_applied', 'deleting', 'flow_opened'];

/** An id without its partition, which may be written in two ways. */
export const bare = (id) => id.slice(-36);

const sums = (list) => {
  let at = 0;
  return list.map((by) => (by == null ? null : (at += by)));
};

/** What `GET /flows/{id}/graph` answers, unpacked. */
export function unpack(answer) {
  const { classes, kinds, ids } = answer;
  const states = [...answer.states];
  const kindOf = new Int32Array(states.length).fill(-1);
  for (const { kind, first, count } of classes) kindOf.fill(kind ?? -1, first, first + count);
  // Of a graph with very many members or edges only the classes are told whole.
  const whole = Boolean(answer.edges) && !answer.more_edges;
  const graph = whole ? dag(states.length, answer.edges) : dag(classes.length, answer.links.filter(([from, to]) => from !== to));
  return {
    ...answer, whole, states, kindOf, graph, started: sums(answer.started), ended: sums(answer.ended),
    size: states.length, begun: answer.created_at, at: new Map(ids?.map((id, i) => [bare(id), i])),
    kind: (i) => kinds[kindOf[i]] ?? 'several kinds',
  };
}

/** Boxes of a graph: members that play the same part together, or each alone. */
export function boxed(model, members) {
  if (!model.whole) return classes(model.classes, model.links);
  return members ? unfold(model.size, model.edges) : fold(model.size, model.kindOf, model.edges);
}

/** Takes in events: `changed` members have another state now, `unsure` ones are to be read again; `structure`: so is the graph. */
export function take(model, lines) {
  const changed = new Set();
  const unsure = new Set();
  let structure = false;
  for (const { subject, what, at } of lines) {
    const i = subject.execution && model.at.get(bare(subject.execution));
    if (STRUCTURAL.includes(what) || (subject.execution && i === undefined)) structure = true;
    else if (i !== undefined && CERTAIN[what]) {
      unsure.delete(i);
      changed.add(i);
      set(model, i, CERTAIN[what], at - model.begun);
    } else if (i !== undefined && !HARMLESS.includes(what)) unsure.add(i);
  }
  return { changed: [...changed], unsure: [...unsure], structure };
}

/** Takes in a member as it was read; whether that is another state. */
export function takeView(model, view) {
  const i = model.at.get(bare(view.execution_id));
  if (i === undefined || LETTERS[model.states[i]] === view.public_state) return [];
  model.states[i] = LETTER_OF[view.public_state] ?? model.states[i];
  model.started[i] = view.started_at === undefined ? null : view.started_at - model.begun;
  model.ended[i] = view.completed_at === undefined ? null : view.completed_at - model.begun;
  return [i];
}

function set(model, i, letter, at) {
  if (letter === 'a' && model.states[i] !== 'a') model.started[i] = at;
  model.ended[i] = ENDED.includes(letter) ? at : null;
  model.states[i] = letter;
}

/** How many of these members are in which state, by letter. */
export function tally(model, members) {
  const counts = {};
  for (const i of members) counts[model.states[i]] = (counts[model.states[i]] ?? 0) + 1;
  return counts;
}

/** The same by state. */
export const byState = (counts) => Object.fromEntries(Object.entries(counts).map(([letter, n]) => [LETTERS[letter], n]));

const LOUD = 'arslfewdu';

/** The one state that says most about a box: what moves, then what asks for somebody, then what broke, then what waits. */
export function stateOf(counts) {
  for (const letter of LOUD) if (counts[letter]) return LETTERS[letter];
  const [[most] = ['c']] = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return LETTERS[counts.c ? 'c' : most];
}

/** What a word or an id finds: a state by `state:failed`, a kind by a part of it, a member by digits of its id. */
export function finder(model, text) {
  const word = text.trim().toLowerCase();
  if (!word) return null;
  const state = word.match(/^state:(\w+)$/)?.[1];
  const letter = Object.keys(LETTERS).find((one) => LETTERS[one] === state);
  if (state) return (box) => Boolean(box.counts[letter]);
  const named = new Set(model.ids?.flatMap((id, i) => (word.length > 3 && id.includes(word) ? [i] : [])));
  return (box) => box.kind.toLowerCase().includes(word) || box.members.some((i) => named.has(i));
}

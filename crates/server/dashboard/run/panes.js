// What stands beside the timeline: one pane for each thing an execution has.

import { get, p, raw } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { bytes, duration } from '../core/format.js';
import { may } from '../core/role.js';
import { to } from '../core/router.js';
import { at } from '../core/time.js';
import { part } from '../ui/empty.js';
import { usageText } from '../ui/sentence.js';
import { stateText } from '../ui/state-mark.js';
import { spent } from './intervals.js';

const words = (name) => name.replaceAll('_', ' ');
const nothing = (says) => h('p.pane-note.ink2', says);

/** Who did something: a worker, a client, or the engine itself. */
function actorText(actor) {
  if (typeof actor === 'string') return actor;
  return actor?.worker ?? actor?.client ?? '';
}

/** Bytes under a path; `none` is what is said where there are none. */
function payload(el, path, name, none, signal) {
  const read = async () => {
    try {
      return await raw(path, {}, { signal });
    } catch (problem) {
      if (problem.status === 404 || problem.status === 409) return null;
      throw problem;
    }
  };
  return part(el, async () => {
    const response = await read();
    if (!response || response.status === 204) return nothing(none);
    return (await import('../ui/bytes-view.js')).responseView(response, name);
  }, (view) => h('div.pane-in', view));
}

function historyRow(line) {
  const who = h('span.ink3', actorText(line.actor), line.attempt_index > 0 && `, attempt ${line.attempt_index}`);
  return h('li', h('span.meta', at(line.at)), h('span', h('b', words(line.what)), ' ', who, line.detail && h('div.ink2', line.detail)));
}

/** How an attempt ended: the state whose symbol it has, and words. */
const ENDS = {
  ended_success: ['completed', 'ended well'],
  ended_failure: ['failed', 'failed'],
  ended_cancelled: ['cancelled', 'cancelled'],
  interrupted_reclaimed: ['expired', 'lost its worker'],
};

function attemptRow({ index, kind, worker_instance_id: worker, started_at: from, usage, end }) {
  const used = usageText(spent([{ usage: Object.values(usage ?? {}).map((deltas) => ({ deltas })) }]));
  const [state, word] = end ? ENDS[end.state] : ['active', 'goes on'];
  return h('li', h('span.fig', index),
    h('span', stateText(state, word), h('div.ink2', `${kind} on ${worker}`, used && ` · ${used}`),
      end?.failure && h('div.ink2', `${end.failure.category}: ${end.failure.reason}`)),
    h('span.meta', at(from), end && h('div', duration(end.at - from))));
}

function signalRow(signal, bytesView) {
  const body = signal.payload_bytes > 0
    && h('details', h('summary.meta', `payload, ${bytes(signal.payload_bytes)}`), bytesView(...payloadOf(signal), 'signal'));
  return h('li', h('span.meta', at(signal.accepted_at)), h('span', h('b', signal.name), h('div.ink2', words(signal.effect)), body),
    h('span.meta', signal.source_identity, signal.source_verified && ' ✓'));
}

function payloadOf({ payload, payload_base64: base64, payload_type: type }) {
  const data = base64 === undefined ? new TextEncoder().encode(JSON.stringify(payload)) : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  return [data, base64 === undefined ? 'application/json' : type];
}

async function signals(id, signal) {
  const [delivered, open] = await Promise.all([
    may('list_signals') ? get(p`/executions/${id}/signals`, { limit: 200 }, { signal }) : { items: [] },
    get(p`/executions/${id}/pending-waitpoints`, {}, { signal }),
  ]);
  const { bytesView } = await import('../ui/bytes-view.js');
  const waitpoints = open.items;
  if (delivered.items.length + waitpoints.length === 0) return nothing('No signal has arrived, and nothing waits for one.');
  const waits = ({ waitpoint_key: key, waitpoint_id: id }) => h('li', h('span.meta', 'open'), h('span', h('b', key), h('div.ink2.mono.cut', id)));
  return h('ul.pane-rows', waitpoints.map(waits), delivered.items.map((signal) => signalRow(signal, bytesView)));
}

/** The panes of an execution there are for this key: `[{id, label}]`. */
export const paneNames = () => [
  may('follow_stream') || may('tail_stream') ? { id: 'output', label: 'Output' } : null,
  may('get_input') && { id: 'input', label: 'Input' },
  may('get_result') && { id: 'result', label: 'Result' },
  may('read_summary') && { id: 'summary', label: 'Summary' },
  { id: 'signals', label: 'Signals' },
  { id: 'history', label: 'History' },
  { id: 'attempts', label: 'Attempts' },
].filter(Boolean);

/** Fills `el` with the pane `id` of a run. What is already known is shown at once. */
export function showPane(el, id, run, signal) {
  const execution = run.view.execution_id;
  // What was asked for before belongs to another pane.
  el.asked = null;
  if (id === 'input') return payload(el, p`/executions/${execution}/input`, 'input', 'It was submitted without input.', signal);
  if (id === 'result') {
    const none = run.view.completed_at === undefined ? 'It has not ended yet.' : 'It left no result.';
    return run.view.result_bytes === undefined ? fill(el, nothing(none)) : payload(el, p`/executions/${execution}/result`, 'result', none, signal);
  }
  if (id === 'summary') {
    const index = run.view.attempt_index;
    if (index === undefined) return fill(el, nothing('No attempt has begun.'));
    return payload(el, p`/executions/${execution}/attempts/${index}/summary`, 'summary', 'Its worker wrote no summary.', signal);
  }
  if (id === 'signals') return part(el, () => signals(execution, signal), (rows) => rows);
  if (id === 'history') return fill(el, h('ul.pane-rows', run.history.toReversed().map(historyRow)));
  return fill(el, run.attempts.length ? h('ul.pane-rows', run.attempts.toReversed().map(attemptRow)) : nothing('No attempt has begun.'));
}

/** Fills `el` with what one step left. `acts` stand under its name. */
export function showStep(el, row, run, signal, acts) {
  const { step } = row;
  const child = step?.child;
  const fact = (name, value) => value !== '' && h('span', `${name} `, h('b', value));
  const facts = step && [
    fact('took', duration(row.took)), fact('attempt', step.attempt_index), fact('recorded', at(step.recorded_at)), fact('cost', usageText(row.usage)),
    child && h('span', 'spawned ', h('a', { href: to(p`/executions/${child.execution_id}`) }, child.public_state ?? 'one that is gone')),
  ];
  const body = h('div');
  fill(el, h('div.pane-in', h('h3.mono', row.key), h('div.facts', facts), acts), body);
  const failure = step?.failure ?? child?.failure;
  if (failure) body.append(h('p.pane-note.h-red.hue', `${failure.category}: ${failure.reason}`));
  else if (!step || step.output_bytes === undefined) fill(body, nothing(step ? 'It left nothing.' : 'It is not recorded yet.'));
  else if (!may('get_step_output')) fill(body, nothing(`It left ${bytes(step.output_bytes)}, which this key may not see.`));
  else payload(body, p`/executions/${run.view.execution_id}/steps/${step.seq}/output`, row.key, 'It left nothing.', signal);
}

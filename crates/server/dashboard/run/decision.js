// One thing that waits for a person: what its worker shows, what was done before, and the decision.

import { act, get, p, raw } from '../core/api.js';
import { fill, h, text } from '../core/dom.js';
import { bytes, costOf, duration, tail } from '../core/format.js';
import { may, me } from '../core/role.js';
import { to } from '../core/router.js';
import { age, ago, asAgo, at } from '../core/time.js';
import { actButton, refused } from '../ui/act.js';
import { flatFields, jsonTree, member, readJson, writeJson } from '../ui/json-tree.js';
import { problemCard } from '../ui/empty.js';
import { mark } from '../ui/state-mark.js';
import { toast } from '../ui/toast.js';
import { spent } from './intervals.js';

const STEPS_SHOWN = 8;
const VERDICTS = { approve: 'approved', reject: 'rejected' };

/** What is asked, in a line. */
export function titleOf(item) {
  if (item.title) return item.title;
  if (typeof item.show === 'string' && /^.{1,120}$/.test(item.show)) return item.show;
  if (item.reason_code === 'operator_review') return `${item.execution_kind} wants to be looked at`;
  if (item.reason_code === 'manual_pause') return `${item.execution_kind} is paused until somebody lets it go on`;
  return `${item.execution_kind} asks for ${item.point?.waitpoint_key ?? 'an operator'}`;
}

/** A note as the handler gets it: JSON as it is, words as `{"text": …}`. */
export function payloadOf(note) {
  if (!/^[{["]/.test(note)) return { text: note };
  try {
    return JSON.parse(note);
  } catch {
    return { text: note };
  }
}

/** What the worker shows, read from the summary as it stands there, so that no number is rounded. */
async function shownOf(item, signal) {
  if (item.show_key === undefined || !may('read_summary')) return null;
  const response = await raw(p`/executions/${item.execution_id}/attempts/${item.expected_attempt}/summary`, {}, { signal }).catch((problem) => {
    if (problem.status !== 404) throw problem;
  });
  return response ? (member(member(readJson(await response.text()), 'approvals'), item.show_key) ?? null) : null;
}

function shownCard(value, size) {
  const fields = flatFields(value);
  const pane = h('div');
  const ways = {
    Fields: fields && (() => h('dl.fields', fields.filter(([key]) => key !== 'title').map(([key, text]) => h('div', h('dt', key), h('dd', text))))),
    JSON: () => jsonTree(value),
    Text: () => h('pre.bytes', typeof value === 'string' ? value : writeJson(value)),
  };
  const names = Object.keys(ways).filter((name) => ways[name]);
  const buttons = names.map((name) => h('button', { type: 'button', onclick: () => show(name) }, name));
  const show = (name) => {
    fill(pane, ways[name]());
    for (const button of buttons) button.setAttribute('aria-pressed', String(button.textContent === name));
  };
  show(fields ? 'Fields' : typeof value === 'string' ? 'Text' : 'JSON');
  return h('div.card.shown', pane, h('div.ways', buttons, h('span.grow'), h('span.meta.desk-only', 'shown by the worker', size !== undefined && `, ${bytes(size)}`)));
}

/** The last steps before the wait, each with what it cost or how long it took. */
function trail(steps, item) {
  const bit = (state, key, beside) => h('span', mark(state), h('span.mono', key), h('span.ink2', beside));
  const took = (step) => (step.started_at ? duration(Math.max(0, step.recorded_at - step.started_at)) : '');
  const stateOf = (step) => (step.kind === 'wait' ? 'suspended' : step.state === 'failed' ? 'failed' : 'completed');
  const done = steps.filter((step) => step.state !== 'waiting' && step.key !== item.point?.waitpoint_key);
  return h('div.trail', { tabindex: 0, role: 'group', 'aria-label': 'Steps so far' },
    done.length > STEPS_SHOWN && h('span.ink2', `${done.length - STEPS_SHOWN} before`),
    done.slice(-STEPS_SHOWN).map((step) => bit(stateOf(step), step.key, costOf(spent([step])) ?? took(step))),
    item.point && bit('suspended', item.point.waitpoint_key, age(item.since)));
}

/** Decides; answers who did, which may be somebody who was faster. */
async function decide(item, verdict, note, key) {
  const path = p`/executions/${item.execution_id}/waitpoints/${item.point.waitpoint_id}/` + verdict;
  const reply = await act('POST', path, { ...(note && { payload: payloadOf(note) }), idempotency_key: key }, { key });
  const own = me.get()?.key_name;
  const faster = reply.status === 'duplicate' && reply.by !== undefined && reply.by !== own;
  if (faster) toast(`${reply.by} was faster: ${VERDICTS[reply.verdict] ?? 'decided'} ${ago(reply.at)}.`);
  return { by: faster ? reply.by : own ?? 'you', verdict: faster ? reply.verdict : verdict };
}

/**
 * The pane of one item: `{el, press(verdict)}`. `done(item, {by, verdict})` is told the decision, `stale()` that it may be over.
 */
export function decisionPane({ item, signal, done, stale }) {
  const shown = h('div');
  const before = h('div');
  const own = me.get()?.key_name;
  const note = h('textarea', { rows: 2, maxlength: 4_000, id: 'note' });
  const sent = (verdict) => async (key) => {
    const said = note.value.trim();
    if (verdict === 'reject' && !said) {
      note.focus();
      toast('A reason is needed to reject.');
      return;
    }
    try {
      done(item, await decide(item, verdict, said, key));
    } catch (problem) {
      refused(problem);
      stale();
    }
  };
  const button = (op, more) => item.point && actButton({ op, run: sent(op), ...more });
  const yes = button('approve', { label: 'Approve', busy: 'Approving…', hue: 'teal', key: 'A' });
  const no = button('reject', { label: 'Reject', busy: 'Rejecting…', hue: 'red', key: 'R' });
  const escalated = item.escalated && h('span.tag.h-red', 'escalated', item.timeout_at !== undefined && [' ', age(item.timeout_at, asAgo)]);
  const form = [
    h('div.field', h('label', { for: 'note' }, 'Note for the record ', h('span.ink3', '(a reason is needed to reject)')), note),
    h('div.ask-acts', yes, no, h('span.grow'), h('span.meta', `decides${own ? ` as ${own},` : ''} for everyone, at once`)),
  ];
  const looker = item.point ? 'This key may look, and not decide.' : 'Only an operator lets it go on: open the execution, and resume it there.';
  const heading = h('h2', titleOf(item));
  const el = h('div.ask-pane',
    h('div.row.wrap', h('span.ink2', item.execution_kind), h('span.mono.ink3', tail(item.execution_id)), escalated, h('span.grow'),
      h('a.desk-only', { href: to(p`/executions/${item.execution_id}`) }, 'Open execution')),
    heading,
    h('p.ink2', 'Waits since ', at(item.since), item.creator && ` · started by ${item.creator}`, h('span.desk-only', ' · holds no worker and no lease')),
    shown, before);
  const below = yes || no ? form : [h('p.meta', looker)];

  const failed = (place) => (problem) => signal.aborted || fill(place, problemCard(problem));
  const value = shownOf(item, signal).then((value) => {
    const title = value && member(value, 'title');
    if (!item.title && typeof title === 'string') text(heading, title);
    if (value !== null && value !== titleOf(item)) fill(shown, shownCard(value, item.show_bytes));
  }).catch(failed(shown));
  // Behind what is shown, which it would be moved by.
  const steps = Promise.all([get(p`/executions/${item.execution_id}/steps`, { limit: 1_000 }, { signal }), value]).then(([page]) => {
    fill(before, trail(page.items, item));
    before.firstChild.scrollLeft = before.firstChild.scrollWidth;
  }).catch(failed(before));
  // Nobody decides what is not shown yet, and no button moves away under the pointer.
  Promise.all([value, steps]).then(() => signal.aborted || el.append(...below));
  return { el, press: (verdict) => below[0].isConnected && (verdict === 'approve' ? yes : no)?.click() };
}

// One act over several executions: the ordinary operation for each, a few at a time, each under a key of its own.

import { fill, h } from '../core/dom.js';
import { act, newKey, p } from '../core/api.js';
import { count, tail } from '../core/format.js';
import { may } from '../core/role.js';
import { confirm } from './act.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { sheet } from './sheet.js';
import { mark, stateWord } from './state-mark.js';
import { toast } from './toast.js';

const AT_ONCE = 8;
const SHOWN = 20;
const ENDED = ['completed', 'failed', 'expired', 'cancelled', 'skipped'];

const isOver = (view) => ENDED.includes(view.public_state);
const isHeld = (view) => view.state_vector?.eligibility_state === 'blocked_by_operator';

// `takes`: those it changes; `says`: what happens to how many of them.
const ACTS = [
  {
    op: 'replay_execution',
    label: 'Replay',
    icon: 'replay',
    path: 'replay',
    method: 'POST',
    takes: isOver,
    says: (n, rest) => `${n} to start again${left(rest, 'not ended')}`,
  },
  {
    op: 'hold',
    label: 'Hold',
    icon: 'pause',
    path: 'hold',
    method: 'POST',
    takes: (view) => !isOver(view),
    says: (n, rest) => `${n} not to be handed out any more; what runs goes on${left(rest, 'ended')}`,
  },
  {
    op: 'unhold',
    label: 'Let go',
    icon: 'play',
    path: 'unhold',
    method: 'POST',
    takes: isHeld,
    more: true,
    says: (n, rest) => `${n} to be handed out again${left(rest, 'not held')}`,
  },
  {
    op: 'cancel_execution',
    label: 'Cancel',
    icon: 'cancel',
    hue: 'red',
    path: 'cancel',
    method: 'POST',
    reason: 'wanted',
    takes: (view) => !isOver(view),
    says: cancelling,
  },
  {
    op: 'delete_execution',
    label: 'Delete',
    icon: 'close',
    hue: 'red',
    path: '',
    method: 'DELETE',
    more: true,
    takes: isOver,
    says: (n, rest) => `${n} to be gone for good, with input, output and history${left(rest, 'not ended')}`,
  },
];

const left = (n, why) => (n > 0 ? `; ${n} ${why}, left alone` : '');

function cancelling(n, rest, all) {
  const running = all.filter((view) => view.public_state === 'active').length;
  return `${running} running, told to stop; ${n - running} to end at once${left(rest, 'ended')}`;
}

/** Runs `one` over all of them, some at a time; answers how many were done and the problems by code. */
export async function each(all, one, told) {
  const rest = [...all];
  const refusals = new Map();
  let done = 0;
  const lane = async () => {
    for (let view = rest.shift(); view; view = rest.shift()) {
      try {
        await one(view);
        done += 1;
      } catch (problem) {
        if (!problem.code) throw problem;
        refusals.set(problem.code, [...(refusals.get(problem.code) ?? []), view]);
      }
      told(done, all.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { done, refusals };
}

const row = (view) =>
  h(
    'div.row',
    mark(view.public_state, stateWord(view)),
    h('span.grow.cut', view.execution_kind),
    h('span.mono.ink2', tail(view.execution_id)),
  );

function report(what, { done, refusals }) {
  const parts = [...refusals].map(([code, views]) =>
    h('div.stack', h('b', `${count(views.length)} refused: ${code}`), views.slice(0, SHOWN).map(row)),
  );
  sheet({ title: `${what}: ${count(done)} done`, body: parts });
}

async function ask(what, selected, after) {
  const all = [...selected.values()].filter(what.takes);
  if (all.length === 0) {
    toast(`${what.label}: none of those selected can be.`);
    return;
  }
  const rest = selected.size - all.length;
  const keys = new Map(all.map((view) => [view, newKey()]));
  const progress = h('p.ink2', { role: 'status' });
  const reply = await confirm({
    title: `${what.label} ${count(all.length)} of ${count(selected.size)} selected`,
    body: [
      h('p', `${what.says(all.length, rest, all)}.`),
      all.slice(0, SHOWN).map(row),
      all.length > SHOWN && h('p.ink3', `and ${count(all.length - SHOWN)} more`),
      progress,
    ].flat(),
    label: what.label,
    hue: what.hue ?? 'primary',
    reason: what.reason,
    busy: `${what.label}…`,
    run: (_, reason) =>
      each(
        all,
        (view) =>
          act(
            what.method,
            p`/executions/${view.execution_id}` + (what.path && `/${what.path}`),
            what.method === 'DELETE' ? undefined : what.reason ? { reason: reason ?? 'cancelled in the dashboard' } : {},
            { key: keys.get(view) },
          ),
        (n, of) => fill(progress, `${count(n)} of ${count(of)}`),
      ),
  });
  if (!reply) return;
  if (reply.refusals.size > 0) report(what.label, reply);
  after();
}

/** The bar of a selection; it is there while something is selected. `after` is called when an act is over. */
export function selectionBar(ctx, table, after) {
  const el = h('div.selbar', { role: 'region', 'aria-label': 'Selection', hidden: true });
  const acts = ACTS.filter(({ op }) => may(op));
  const button = (what) =>
    h(
      'button.btn',
      { type: 'button', class: what.hue ?? '', onclick: () => ask(what, table.selected, after) },
      icon(what.icon),
      `${what.label}…`,
    );
  const more = acts.filter((what) => what.more);
  const start = (op) => {
    const what = acts.find((one) => one.op === op);
    if (what && table.selected.size > 0) ask(what, table.selected, after);
  };
  ctx.keys({
    c: ['Cancel those selected', () => start('cancel_execution')],
    r: ['Replay those selected', () => start('replay_execution')],
    h: ['Hold those selected', () => start('hold')],
  });
  table.onselect((selected) => {
    el.hidden = selected.size === 0 || acts.length === 0;
    if (el.hidden) return;
    const rest = h('button.btn.icon', { type: 'button', 'aria-label': 'More' }, icon('more'));
    if (more.length > 0)
      menu(rest, () => more.map((what) => ({ label: `${what.label}…`, hue: what.hue, run: () => ask(what, table.selected, after) })));
    fill(
      el,
      h('b', `${count(selected.size)} selected`),
      acts.filter((what) => !what.more).map(button),
      more.length > 0 && rest,
      h('button.btn.ghost.icon', { type: 'button', onclick: table.clear, 'aria-label': 'Select none', title: 'Esc' }, icon('close')),
    );
  });
  return el;
}

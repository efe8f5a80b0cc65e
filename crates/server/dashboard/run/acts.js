// What can be done to an execution: those acts that its state allows at the front, the others behind "more".

import { act, p } from '../core/api.js';
import { h } from '../core/dom.js';
import { me, may } from '../core/role.js';
import { v1 } from '../core/root.js';
import { to } from '../core/router.js';
import { actButton, confirm } from '../ui/act.js';
import { copy } from '../ui/empty.js';
import { icon } from '../ui/icons.js';
import { menu } from '../ui/menu.js';
import { isForPerson } from '../ui/state-mark.js';
import { toast } from '../ui/toast.js';
import { isOver } from './load.js';

export const isHeld = ({ view, explain }) => view.state_vector.eligibility_state === 'blocked_by_operator'
  || Boolean(explain?.conditions.some(({ hindrance, blocks }) => hindrance === 'hold' && blocks));

/** Where a person decides about it; null when nobody is asked. */
export function decideHref({ view: { execution_id: id, suspension } }) {
  const point = suspension?.waitpoints?.[0];
  return point && isForPerson(suspension) ? to(p`/approvals/${id}/${point.waitpoint_id}`) : null;
}

const curl = (id) => `curl ${me.get()?.via === 'nothing' ? '' : "-H \"Authorization: Bearer $FF_KEY\" "}'${v1(p`/executions/${id}`)}'`;

/** What a cancellation does, by what the execution does now. */
function consequence(view) {
  if (view.public_state === 'active') return `It runs on ${view.worker_instance_id}, which is told to stop; what it is doing is lost.`;
  return view.public_state === 'suspended' ? 'It waits and ends now; what it waits for can no longer be delivered.' : 'It has not begun, and will not.';
}

/** The buttons of a run for its head; `changed()` is called after an act, `replay()` opens the sheet. */
export function actsOf(run, { changed, replay }) {
  const { view } = run;
  const id = view.execution_id;
  const over = isOver(view);
  const held = isHeld(run);
  const decide = decideHref(run);
  const replays = may('replay_execution');
  const post = (path, body, key, method = 'POST') => act(method, p`/executions/${id}` + path, body, { key });
  const done = (said) => {
    changed();
    return said;
  };
  const button = (op, label, busy, icon, more) => (over ? null : actButton({ op, label, busy, icon, ...more }));

  const holding = held
    ? button('unhold', 'Let go', 'Letting go…', 'play', { run: (key) => post('/unhold', {}, key), done: () => done('It goes on.') })
    : button('hold', 'Hold', 'Holding…', 'hold', {
      run: (key) => post('/hold', {}, key),
      done: () => done(view.public_state === 'active' ? 'Held: this attempt goes on, and nothing after it.' : 'Held.'),
    });
  holding?.classList.add('desk-only');
  const cancel = button('cancel_execution', 'Cancel…', 'Cancelling…', 'cancel', {
    hue: 'red',
    ask: { title: `Cancel ${view.execution_kind}?`, body: h('p', consequence(view)), label: 'Cancel it', reason: 'wanted', busy: 'Cancelling…' },
    run: (key, reason) => post('/cancel', { reason: reason ?? 'cancelled in the dashboard' }, key),
    done: (reply) => done(reply.repeated ? 'It was cancelled before.' : 'Cancelled.'),
  });
  const again = replays && h(
    'button.btn.desk-only.run-again',
    { type: 'button', onclick: () => over && replay(), 'aria-disabled': over ? null : 'true', title: over ? null : 'It has not ended yet.' },
    icon('replay'), 'Replay from a step…',
  );

  /** An entry that asks in a sheet first; `said(reply)` is what it says afterwards. */
  const asking = (op, entry, sheet, said) => may(op) && {
    ...entry,
    async run() {
      const reply = await confirm(sheet);
      if (reply) toast(done(said(reply)));
    },
  };
  const priority = h('input', { type: 'number', min: 0, max: 9000, value: view.priority, id: 'priority' });
  const acts = () => [
    over && replays && { label: 'Replay from a step…', icon: 'replay', run: replay },
    !over && asking('change_priority', { label: 'Change the priority…', icon: 'executions' }, {
      title: 'Change the priority', label: 'Change', hue: 'primary', busy: 'Changing…',
      body: h('div.field', h('label', { for: 'priority' }, '0 to 9,000, higher runs first'), priority),
      run: (key) => post('/priority', { priority: Number(priority.value) }, key, 'PUT'),
    }, () => `Priority ${priority.value}.`),
    holding && { label: held ? 'Let go' : 'Hold', icon: held ? 'play' : 'hold', run: () => holding.click() },
    view.public_state === 'suspended' && asking('resume_execution', { label: 'Resume without an answer…', icon: 'play' }, {
      title: 'Resume without an answer?', label: 'Resume', hue: 'primary', busy: 'Resuming…', reason: 'wanted',
      body: h('p', 'Its condition does not hold. It goes on all the same, and is told that an operator resumed it.'),
      run: (key, reason) => post('/resume', { reason, request_id: key }, key),
    }, () => 'Resumed.'),
    view.worker_instance_id && asking('revoke_lease', { label: 'Take the lease away…', icon: 'bolt', hue: 'red' }, {
      title: 'Take the lease away?', label: 'Take it away', busy: 'Revoking…', reason: 'wanted',
      body: h('p', `${view.worker_instance_id} loses it at once; what it is doing is lost, and another worker takes over from what is recorded.`),
      run: (key, reason) => post('/revoke-lease', { reason, expected_lease_epoch: view.lease_epoch, request_id: key }, key),
    }, (reply) => (reply.status === 'already_satisfied' ? 'That lease had ended before.' : 'The lease is taken away.')),
  ].filter(Boolean);
  const copies = [
    { label: 'Copy as curl', icon: 'copy', run: () => copy(curl(id), 'Copied as curl.') },
    { label: 'Copy the id', icon: 'copy', hint: 'Y', run: () => copy(id) },
  ];
  const items = () => (acts().length > 0 ? [...acts(), { sep: true }, ...copies] : copies);
  const more = menu(h('button.btn.icon', { type: 'button', 'aria-label': 'More acts' }, icon('more')), items);
  return {
    nodes: [decide && may('approve') && h('a.btn.primary', { href: decide }, 'Decide…'), holding, again, cancel, more],
    press: { c: () => cancel?.click(), h: () => holding?.click(), r: () => over && replays && replay(), y: () => copy(id) },
  };
}

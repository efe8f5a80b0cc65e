// What stands over a graph: how far the flow is, how long it will take, and what may be done to all of it.

import { act, p } from '../core/api.js';
import { $, fill, h, keyed, text } from '../core/dom.js';
import { count, duration, tail, wholly } from '../core/format.js';
import { may } from '../core/role.js';
import { go, to } from '../core/router.js';
import { at } from '../core/time.js';
import { actButton, confirm } from '../ui/act.js';
import { open, stateBar, TOLD } from '../ui/depth-bar.js';
import { copy } from '../ui/empty.js';
import { head } from '../ui/head.js';
import { icon } from '../ui/icons.js';
import { menu } from '../ui/menu.js';
import { mark, stateChip, stateWord } from '../ui/state-mark.js';

const MOVES = ['active', 'waiting', 'resumable', 'delayed'];
const USUAL = ['completed', 'active', 'failed', 'waiting', 'waiting_children'];
const SHORT = { active: 'running', waiting_children: 'for upstream', rate_limited: 'held' };

/** Between two reads of the flow its members say whether it runs or is blocked. */
const stateNow = (flow, states) => (['running', 'blocked'].includes(flow.state) ? (MOVES.some((state) => states[state]) ? 'running' : 'blocked') : flow.state);

/** What a cancellation may do, and to how many. */
function policies(states, members) {
  const runs = states.active ?? 0;
  const waits = open(states) - runs;
  const rest = `${count(members - runs - waits)} have ended and stay`;
  return {
    cancel_all: ['Cancel every open member', `${count(runs)} run and are told to stop, ${count(waits)} wait and are cancelled, ${rest}.`],
    cancel_pending: ['Let what runs finish', `${count(runs)} run and may finish, ${count(waits)} wait and are cancelled, ${rest}.`],
    flow_only: ['Take no more members', `${count(runs + waits)} open members go on, ${rest}.`],
  };
}

/** `onstate(state)` when a count is pressed; `items()` begin the menu; `show(flow, states, left)` draws it, `left` in ms or null. */
export function flowHeader({ flow, onstate, onfind, done, items }) {
  const path = p`/flows/${flow.flow_id}`;
  const [chip, meta, line, bar] = [h('span.row.desk-only'), h('span.meta.desk-only'), h('div.row.phone-only.flow-line'), h('div.flow-bar')];
  const [numbers, members] = [h('div.flow-numbers'), h('span.ink2')];
  const chosen = h('select', { 'aria-label': 'What happens to the members' });
  let shown = { flow, states: {} };
  const cancel = actButton({
    op: 'cancel_flow', label: 'Cancel…', icon: 'close', hue: 'red', busy: 'Cancelling…',
    ask: {
      title: 'Cancel this flow?', label: 'Cancel flow', hue: 'red', reason: 'needed',
      body() {
        const ways = policies(shown.states, shown.flow.counts.members);
        const says = h('p.ink2', ways.cancel_all[1]);
        fill(chosen, Object.entries(ways).map(([value, [label]]) => h('option', { value }, label)));
        chosen.onchange = () => fill(says, ways[chosen.value][1]);
        return [chosen, says];
      },
    },
    run: (key, reason) => act('POST', `${path}/cancel`, { policy: chosen.value, reason }, { key }),
    done() {
      done();
      return 'Flow cancelled';
    },
  });
  const remove = () => confirm({
    title: 'Delete this flow?', label: 'Delete', busy: 'Deleting…', body: h('p', `It and its ${count(shown.flow.counts.members)} members are gone for good, with all they left.`),
    run: (key) => act('DELETE', path, undefined, { key }).then(() => go(to('/flows'))),
  });
  const more = menu(h('button.btn.icon.flow-more', { type: 'button', 'aria-label': 'More' }, icon('more')), () => [
    ...items(),
    { label: 'Copy id', icon: 'copy', run: () => copy(flow.flow_id) },
    ...(cancel && shown.flow.ended_at === undefined ? [{ label: 'Cancel…', hue: 'red', run: () => cancel.click() }] : []),
    ...(may('delete_flow') && shown.flow.ended_at !== undefined ? [{ label: 'Delete…', hue: 'red', run: remove }] : []),
  ]);
  const seek = h('button.btn.icon.ghost.phone-only', { type: 'button', 'aria-label': 'Find in this flow', onclick: onfind }, icon('search'));
  const el = h('div.flow-top', head({ crumbs: [{ label: 'Flows', href: to('/flows') }], title: flow.flow_kind, beside: [chip], acts: [meta, h('span.desk-only', cancel), seek, more] }), h('div.flow-counts', line, bar, numbers, members));

  const number = (state) => h('button.flow-number', { type: 'button', onclick: () => onstate(state), title: stateWord(state) },
    mark(state, stateWord(state)), h('b', count(shown.states[state] ?? 0)), h('span.desk-only', SHORT[state] ?? stateWord(state).toLowerCase()));

  function show(next, states, left) {
    shown = { flow: next, states };
    const over = next.ended_at !== undefined;
    if (cancel) {
      if (over) cancel.setAttribute('aria-disabled', 'true');
      else cancel.removeAttribute('aria-disabled');
      cancel.title = over ? 'It has ended' : '';
    }
    const who = () => [stateChip(stateNow(next, states)), h('span.mono.ink2', { title: next.flow_id }, tail(next.flow_id))];
    const how = over ? `took ${duration(next.ended_at - next.created_at)}` : left !== null && `about ${wholly(left)} left`;
    fill(chip, who());
    fill(meta, 'started ', at(next.created_at), how && ` · ${how}`, how && !over && ' on the critical path');
    fill(line, who(), h('span.grow'), h('span.meta', how));
    fill(bar, stateBar(states));
    // While it moves, the usual states stay where they are, and others come after them.
    const usual = over ? [] : USUAL;
    numbers.style.setProperty('--digits', over ? '1ch' : `${count(next.counts.members).length}ch`);
    keyed(numbers, [...usual, ...TOLD.filter((state) => states[state] && !usual.includes(state))], (state) => state, number, (el, state) => text($('b', el), count(states[state] ?? 0)));
    fill(members, count(next.counts.members), h('span.desk-only', next.counts.members === 1 ? ' member' : ' members'));
  }

  return { el, show };
}

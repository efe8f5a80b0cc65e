// What is waited for, and by how many.

import { h } from '../core/dom.js';
import { count } from '../core/format.js';
import { to } from '../core/router.js';
import { mark } from './state-mark.js';

const CAUSES = {
  budget: ['Budget', 'rate_limited'],
  quota: ['Quota', 'rate_limited'],
  dependencies: ['Upstream', 'waiting_children'],
  delay: ['Delay or backoff', 'delayed'],
  capabilities: ['No capable worker', 'waiting'],
  lane: ['Lane paused', 'waiting'],
  hold: ['Operator hold', 'cancelled'],
  flow_gate: ['Flow not open', 'waiting'],
};

function cause(one, most) {
  const [word, state] = CAUSES[one.cause] ?? [one.cause, 'waiting'];
  const bar = h('i');
  bar.style.width = `${(100 * one.n) / most}%`;
  const by = one.id && one.cause !== 'lane' ? `${one.cause}:${one.id}` : one.cause;
  return h(
    `a.item.cause.h-${state === 'rate_limited' ? 'amber' : 'grey'}`,
    { href: to('/executions', one.cause === 'lane' && one.id ? { lane: one.id, state: 'waiting' } : { cause: by }) },
    h('span.row', mark(state), h('span.grow.cut', word, ' ', h('span.ink2', one.name)), h('b', count(one.n), one.at_least && '+')),
    h('span.meter', { 'aria-hidden': 'true' }, bar),
  );
}

/** Rows that lead to the list that is filtered by each of them. */
export function causes(all) {
  if (all.length === 0) return h('p.item.ink2', 'Nothing is held back.');
  const most = Math.max(...all.map(({ n }) => n));
  return all.map((one) => cause(one, most));
}

// What needs somebody, each as one sentence with one act.

import { h } from '../core/dom.js';
import { count, rate, wholly } from '../core/format.js';
import { to } from '../core/router.js';
import { age, asAgo, now } from '../core/time.js';
import { icon } from './icons.js';
import { mark } from './state-mark.js';

const b = (text) => h('b', text);
const many = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;
const waiting = (n) => many(n ?? 0, 'execution waits', 'executions wait');
const lane = (name) => to(`/lanes/${encodeURIComponent(name)}`);
const oldest = (since) => since && ['oldest ', age(since)];

function ofBudget({ subject, id, n, since }, said) {
  const opens = said.closed_budgets?.find((budget) => budget.budget_id === id)?.opens_at;
  return {
    hue: 'amber',
    sign: mark('rate_limited'),
    says: ['Budget ', b(subject), ' is closed'],
    more: [waiting(n), opens > now() ? `opens in ${wholly(opens - now())}` : since && ['closed for ', age(since)]],
    act: ['Raise…', to(`/budgets/${id}`)],
  };
}

/** By code: how it is said, and where it is dealt with. */
const SAYS = {
  budget_closed: ofBudget,
  no_worker: ({ subject, n, since }, said) => ({
    hue: 'amber',
    sign: icon('workers'),
    says: subject ? ['Lane ', b(subject), `: ${waiting(n)}, no live worker takes ${n === 1 ? 'it' : 'them'}`] : `${many(n, 'execution needs', 'executions need')} what no live worker offers`,
    more: [oldest(since ?? said.causes?.find(({ cause }) => cause === 'capabilities')?.oldest_at)],
    act: subject ? ['Workers', to('/workers', { lane: subject })] : ['Executions', to('/executions', { cause: 'capabilities' })],
  }),
  approval_escalated: (_, said) => ofApprovals(said),
  approval_old: (_, said) => ofApprovals(said),
  lane_paused: ({ subject, n, since }) => ({
    hue: 'grey',
    sign: icon('pause'),
    says: ['Lane ', b(subject), ' is paused'],
    more: [waiting(n), oldest(since)],
    act: ['Lane', lane(subject)],
  }),
  lane_growing: ({ subject, n, since }) => ({
    hue: 'amber',
    sign: icon('lanes'),
    says: ['Lane ', b(subject), ' falls behind'],
    more: [waiting(n), oldest(since)],
    act: ['Lane', lane(subject)],
  }),
  lane_failing: ({ subject, n }) => ({
    hue: 'red',
    sign: mark('failed'),
    says: ['Lane ', b(subject), ' fails more than it did'],
    more: [n != null && `${count(n)} failed`],
    act: ['Failures', to('/executions', { lane: subject, state: 'failed' })],
  }),
  worker_lost: ({ subject, n, since }) => ({
    hue: 'red',
    sign: icon('workers'),
    says: ['Worker ', b(subject), ' was lost'],
    more: [n != null && `${many(n, 'lease')} with it`, since && age(since, asAgo)],
    act: ['Workers', to('/workers')],
  }),
};

function ofApprovals({ approvals }) {
  const { n, at_least: more, oldest_at: since, escalated } = approvals;
  return {
    hue: 'violet',
    sign: mark('suspended'),
    says: [`${count(n)}${more ? ' or more' : ''} ${n === 1 ? 'approval waits' : 'approvals wait'} for a person`],
    more: [escalated > 0 && `${count(escalated)} escalated`, oldest(since)],
    act: ['Review', to('/approvals')],
  };
}

// What is said once: a lane that is paused falls behind, too.
const lanes = ({ subject }) => `lane ${subject}`;
const ABOUT = { approval_escalated: () => 'approvals', approval_old: () => 'approvals', no_worker: lanes, lane_paused: lanes, lane_growing: lanes };
/** As many as the server names. */
const MOST = 6;
const dotted = (parts) => parts.filter(Boolean).flatMap((one, i) => (i > 0 ? [' · ', one] : [one]));

/** One row for each; none: that nothing does, and what goes on. */
export function attention(said) {
  const seen = new Set();
  const rows = (said.attention ?? []).flatMap((one) => {
    const key = ABOUT[one.code]?.(one) ?? `${one.code} ${one.subject}`;
    if (!SAYS[one.code] || seen.has(key)) return [];
    seen.add(key);
    return [SAYS[one.code](one, said)];
  });
  // The newest wish for an answer is one, even before it is old.
  if (said.approvals?.n > 0 && !seen.has('approvals') && rows.length < MOST) rows.push(ofApprovals(said));
  if (rows.length === 0) return h('div.item.need.h-teal', mark('completed'), h('span', b('Nothing needs you.'), ' ', quiet(said)));
  return rows.map(({ hue, sign, says, more, act: [label, address] }) =>
    h(
      `div.item.need.h-${hue}`,
      sign,
      h('span.grow.says', h('span', says), ' ', h('span.ink2', dotted(more))),
      h('a.btn.small', { href: address }, label),
    ),
  );
}

function quiet({ per_second: { completed, failed }, states }) {
  const running = states.active ?? 0;
  const ended = completed + failed;
  if (ended === 0 && running === 0) return 'Nothing runs.';
  return `${running === 0 ? 'Nothing runs' : `${count(running)} run`}, ${ended === 0 ? 'none' : rate(ended)} ended over the last minute.`;
}

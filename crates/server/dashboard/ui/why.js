// One line about an execution: what it does, or why it waits, or how it ended.

import { h } from '../core/dom.js';
import { wholly, withTails } from '../core/format.js';
import { now } from '../core/time.js';

function waiting(view) {
  const key = view.suspension.waitpoints[0]?.waitpoint_key;
  const until = view.suspension.timeout_at;
  return [key, view.suspension.escalated ? 'escalated' : until && `${until > now() ? `${wholly(until - now())} left` : 'out of time'}`]
    .filter(Boolean)
    .join(' · ');
}

/** In words; empty when there is nothing to say. */
export function why(view) {
  const state = view.public_state;
  if (state === 'active') return [view.doing?.map(({ step }) => step).join(', '), view.progress?.message].filter(Boolean).join(' · ');
  if (state === 'failed') return view.failure ? `${view.failure.category}: ${view.failure.reason}` : '';
  if (state === 'suspended' && view.suspension) return waiting(view);
  if (['completed', 'cancelled', 'expired', 'skipped'].includes(state)) return view.reason ?? '';
  return withTails(view.blocking_detail ?? '');
}

/** The same with a bar of how far it is. */
export function whyCell(view) {
  const pct = view.public_state === 'active' ? view.progress?.pct : null;
  const said = why(view);
  if (pct == null) return h('span', { title: said }, said);
  const bar = h('i');
  bar.style.width = `${pct}%`;
  return h('span', { title: said }, h('span.meter.line-bar.h-blue', { role: 'img', 'aria-label': `${pct} %` }, bar), said);
}

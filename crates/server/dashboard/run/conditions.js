// Every condition between an execution and a worker, with a tick or a bar, and a way to what blocks.

import { p } from '../core/api.js';
import { h } from '../core/dom.js';
import { to } from '../core/router.js';
import { clock } from '../core/time.js';
import { icon } from '../ui/icons.js';
import { told } from '../ui/sentence.js';

const WORDS = { ownership: 'Worker', dependencies: 'Upstream', flow_gate: 'Flow' };

/** Where what a condition is about can be looked at. */
function linkOf({ hindrance, detail }, view) {
  const [id] = detail.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) ?? [];
  if (hindrance === 'lane') return to(p`/lanes/${view.lane_id}`);
  if (hindrance === 'capabilities') return to('/workers');
  if (hindrance === 'budget') return id && to(p`/budgets/${id}`);
  if (hindrance === 'quota') return id && to(p`/quotas/${id}`);
  return ['flow_gate', 'dependencies'].includes(hindrance) && view.flow_id ? to(p`/flows/${view.flow_id}`) : null;
}

function row(condition, view) {
  const { hindrance, blocks, detail } = condition;
  const href = linkOf(condition, view);
  const name = WORDS[hindrance] ?? hindrance[0].toUpperCase() + hindrance.slice(1);
  const sign = h('span.hue', { role: 'img', 'aria-label': blocks ? 'in the way' : 'fine' }, icon(blocks ? 'minus' : 'check'));
  return h(`li.h-${blocks ? 'amber' : 'teal'}`, sign,
    href ? h('a', { href }, name) : h('span', name), h('span', { class: blocks ? 'strong' : 'ink2' }, told(detail, clock)));
}

export function conditions({ conditions: all, nearest_workers: nearest }, view) {
  const worker = ({ worker_instance_id: name, missing }) =>
    h('li', h('span.mono', name), h('span.ink2', missing.length ? `lacks ${missing.join(', ')}` : 'offers all it requires'));
  return h('section.card.run-why', { 'aria-label': 'Conditions' }, h('ul', all.map((condition) => row(condition, view))),
    nearest.length > 0 && h('div', h('h3', 'Nearest workers'), h('ul', nearest.map(worker))));
}

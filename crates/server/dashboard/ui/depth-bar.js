// How much is in which state, as one bar.

import { h } from '../core/dom.js';
import { count } from '../core/format.js';
import { hue, stateWord, STATES } from './state-mark.js';

const ENDED = ['completed', 'failed', 'expired', 'cancelled', 'skipped'];

/** How many of these counts have not ended. */
export const open = (states) => Object.entries(states).reduce((sum, [state, n]) => (ENDED.includes(state) ? sum : sum + n), 0);

// Of one it is said that it waits for something; of many, for what.
const MANY = { suspended: 'suspended', waiting_children: 'for upstream' };

/** "22 running · 51 waiting" */
export const inWords = (states) => STATES.filter((state) => states[state]).map((state) => `${count(states[state])} ${MANY[state] ?? stateWord(state).toLowerCase()}`).join(' · ');

function bar(states, order, share) {
  const parts = order.filter((state) => states[state]);
  const el = h('div.depth', { role: 'img', 'aria-label': inWords(states) || 'nothing', title: inWords(states) },
    parts.map((state) => {
      const part = h(`i.h-${hue(state)}.s-${state}`);
      part.style.flexGrow = states[state];
      return part;
    }));
  el.style.width = `${share * 100}%`;
  return el;
}

/** A lane's open work; `most` is the longest of the lanes beside it. Square roots: a short one is still seen beside a long one. */
export function depthBar(depth, most) {
  return bar(depth, STATES.filter((state) => !ENDED.includes(state)), Math.sqrt(open(depth) / Math.max(1, most)));
}

/** The states of a flow's members in the order in which they are told: done, under way, broken, still to come. */
export const TOLD = [
  'completed', 'active', 'failed', 'expired', 'suspended', 'rate_limited', 'resumable', 'waiting', 'delayed', 'waiting_children', 'cancelled', 'skipped',
];

/** All members of a flow. */
export const stateBar = (states) => bar(states, TOLD, 1);

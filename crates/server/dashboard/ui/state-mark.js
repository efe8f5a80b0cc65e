// A state has a word, a hue and a shape of its own, so that nobody needs to see the colour.

import { $, h, s } from '../core/dom.js';

const RING = 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0';
const OCTAGON = 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z';

// Parts: f filled, s stroked, k cut out of what is filled, t turning, b faint.
const SHAPES = {
  active: [
    ['b', RING],
    ['t', 'M8 2a6 6 0 0 1 6 6'],
    ['f', 'M6.4 5.2v5.6L11 8z'],
  ],
  resumable: [['s', 'M4.5 2.8v10.4L13 8z']],
  suspended: [
    ['f', 'M4.5 1.5h7a3 3 0 0 1 3 3v7a3 3 0 0 1-3 3h-7a3 3 0 0 1-3-3v-7a3 3 0 0 1 3-3'],
    ['k', 'M6 5v6M10 5v6'],
  ],
  rate_limited: [
    ['f r', 'M8 2.2 14.4 13.6H1.6z'],
    ['k', 'M8 6.2v3.4M8 11.7v.01'],
  ],
  waiting: [['s', RING]],
  delayed: [
    ['s', RING],
    ['s', 'M8 4.6V8l2.2 1.6'],
  ],
  waiting_children: [['s', 'M8 1.8 14.2 8 8 14.2 1.8 8z']],
  completed: [
    ['f', 'M15 8A7 7 0 1 1 1 8a7 7 0 0 1 14 0'],
    ['k', 'M4.9 8.3l2.2 2.2 4-4.4'],
  ],
  failed: [
    ['f', OCTAGON],
    ['k', 'M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8'],
  ],
  expired: [
    ['s', OCTAGON],
    ['s', 'M8 4.6v4M8 11.1v.01'],
  ],
  cancelled: [
    ['s', RING],
    ['s', 'M4 12l8-8'],
  ],
  skipped: [['s', 'M3 3.5 7.5 8 3 12.5M8.5 3.5 13 8l-4.5 4.5']],
};

const WORDS = {
  active: ['Running', 'blue'],
  resumable: ['Ready to resume', 'blue'],
  suspended: ['Waits for a signal', 'violet'],
  rate_limited: ['Held by a limit', 'amber'],
  waiting: ['Waiting', 'grey'],
  delayed: ['Delayed', 'grey'],
  waiting_children: ['Waits for upstream', 'grey'],
  completed: ['Completed', 'teal'],
  failed: ['Failed', 'red'],
  expired: ['Expired', 'red'],
  cancelled: ['Cancelled', 'grey'],
  skipped: ['Skipped', 'grey'],
};

const OF_FLOWS = { open: 'waiting', running: 'active', blocked: 'rate_limited' };

const REASONS = {
  waiting_for_approval: 'Waits for a person',
  operator_review: 'Waits for a person',
  manual_pause: 'Waits for a person',
  waiting_for_callback: 'Waits for a callback',
  waiting_for_tool_result: 'Waits for a tool',
};

/** Whether a suspension waits for a person. */
export const isForPerson = ({ reason_code: reason, escalated, resume_condition: condition }) =>
  escalated || condition === 'operator_only' || REASONS[reason] === REASONS.operator_review;

/** The states an execution may be shown in, in the order of the strip. */
export const STATES = Object.keys(WORDS);

const known = (state) => OF_FLOWS[state] ?? state;

export const hue = (state) => WORDS[known(state)]?.[1] ?? 'grey';

/** In words: of a state, or of an execution as it is read. */
export function stateWord(of) {
  const state = of?.public_state ?? of;
  if (state === 'suspended' && of.suspension)
    return of.suspension.escalated ? 'Waits for a person' : (REASONS[of.suspension.reason_code] ?? WORDS.suspended[0]);
  if (state === 'open') return 'Open';
  if (state === 'blocked') return 'Blocked';
  return WORDS[known(state)]?.[0] ?? String(state);
}

/** The symbol of a state; with a label where no word stands beside it. */
export function mark(state, label) {
  const said = label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': 'true' };
  const parts = SHAPES[known(state)] ?? SHAPES.waiting;
  return s(
    `svg.mark.h-${hue(state)}`,
    { viewBox: '0 0 16 16', ...said },
    parts.map(([how, d]) => s('path', { d, class: how })),
  );
}

/** Symbol and word. */
export const stateText = (state, word = stateWord(state)) => h('span.state', mark(state), h('span', word));

/** The same on the wash of its hue. */
export const stateChip = (state, word = stateWord(state)) => h(`span.state-chip.h-${hue(state)}`, mark(state), word);

/** A hue as it is painted now. */
function painted(name) {
  const probe = h(`i.hue.h-${name}`);
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The page's icon in its tab: the fabric, or the dot of a state. */
export function favicon(state) {
  const shape = state
    ? `<circle cx="8" cy="8" r="6" fill="${painted(hue(state))}"/>`
    : `<g fill="none" stroke-width="2"><path stroke="${painted('blue')}" d="M2 5.5h12M2 10.5h12"/><path stroke="${painted('grey')}" d="M5.5 2v12M10.5 2v12"/></g>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shape}</svg>`;
  $('link[rel=icon]').href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

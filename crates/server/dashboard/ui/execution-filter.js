// What executions are filtered by, and what follows from it: counts, and which events make a row.

import { fill, h, keyed } from '../core/dom.js';
import { get } from '../core/api.js';
import { recount } from './frame.js';
import { count, short } from '../core/format.js';
import { withQuery } from '../core/url.js';
import { moment, names } from './filter-bar.js';
import { inPlace } from './places.js';
import { mark, STATES, stateWord } from './state-mark.js';

const CAUSES = ['budget', 'quota', 'dependencies', 'delay', 'capabilities', 'lane', 'hold'];
const SHORT = { rate_limited: 'Held', suspended: 'Suspended', waiting_children: 'Upstream', resumable: 'Ready' };
// What may be filtered by while the counts of the strip are exact, and while an event tells whether a row is new.
const COUNTED = ['ns', 'lane', 'state', 'view', 'after'];
const TOLD = ['ns', 'lane', 'state', 'kind', 'flow', 'view'];
// What brings an execution into a state.
const ENTERED = {
  active: ['claimed'],
  suspended: ['suspended'],
  rate_limited: ['blocked'],
  waiting: ['created'],
  delayed: ['delayed', 'retry_scheduled'],
  waiting_children: ['waiting_children'],
  resumable: ['resumed'],
  completed: ['completed'],
  failed: ['failed'],
  expired: ['expired'],
  cancelled: ['cancelled'],
  skipped: ['skipped'],
};

const option = (value, label = value) => ({ value, label });
/** For `filterBar`. */
export const FIELDS = [
  { param: 'lane', label: 'lane', options: names('lane') },
  { param: 'kind', label: 'kind', options: names('kind') },
  {
    param: 'state',
    label: 'state',
    closed: true,
    words: stateWord,
    options: () => STATES.map((state) => option(state, stateWord(state))),
  },
  { param: 'cause', label: 'held by', options: () => CAUSES.map((cause) => option(cause)) },
  { param: 'category', label: 'failed with', one: true, options: names('category') },
  { param: 'flow', label: 'flow', one: true },
  { param: 'worker', label: 'worker', one: true },
  { param: 'from', label: 'created from', ...moment },
  { param: 'to', label: 'created before', ...moment },
  { param: 'order', label: 'order', one: true, closed: true, options: () => [option('next', 'next in line, of one lane')] },
];

/** Whether nothing but these is filtered by. */
export const only = (ctx, known) => [...ctx.query.keys()].every((name) => known.includes(name));

/** Whether the counts of lanes are those of this filter. */
export const isExact = (ctx) => only(ctx, COUNTED);

/** Every state with its count, while that needs no scan: `show(depth)` fills `el`. Entries stay the same elements, for whoever is at one, and where they are. */
export function strip(ctx, el) {
  const order = inPlace(({ state }) => state);
  // The browser leaves one where it is that is seen in part.
  el.addEventListener('focusin', ({ target }) => target.scrollIntoView({ block: 'nearest', inline: 'nearest' }));
  const update = (link, { state, label, n }) => {
    const chosen = ctx.query.getAll('state');
    const isThis = state === 'all' ? chosen.length === 0 : chosen.length === 1 && chosen[0] === state;
    link.href = location.pathname + withQuery(location.search, { after: null, state: state === 'all' ? null : state });
    if (isThis) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
    fill(link, state !== 'all' && mark(state), label, isExact(ctx) && h('span.ink3', { title: n === undefined ? null : count(n) }, n === undefined ? '' : short(n)));
  };
  const make = (item) => {
    const link = h('a');
    update(link, item);
    return link;
  };
  return (depth) => {
    const chosen = ctx.query.getAll('state');
    const counted = depth && isExact(ctx) ? (n) => n ?? 0 : () => undefined;
    // What is not known yet moves nothing when it is.
    const there = STATES.filter((state) => chosen.includes(state) || (depth ? depth[state] > 0 : !isExact(ctx)));
    const all = Object.values(depth ?? {}).reduce((a, b) => a + b, 0);
    const entries = there.map((state) => ({ state, label: SHORT[state] ?? stateWord(state), n: counted(depth?.[state]) }));
    keyed(el, order([{ state: 'all', label: 'All', n: counted(all) }, ...entries]), ({ state }) => state, make, update);
  };
}

const sumOf = (all) => {
  const sum = {};
  for (const depth of all) for (const [state, n] of Object.entries(depth)) sum[state] = (sum[state] ?? 0) + n;
  return sum;
};

/** How many of the lanes that are looked at are in which state: as the rail's numbers say, or one by one where there are too many lanes for them. */
export async function depths(ctx, ms) {
  const lanes = ctx.query.getAll('lane');
  const isMeant = ({ lane_id: lane }) => lanes.length === 0 || lanes.includes(lane);
  const said = await recount(ms);
  if (said && !said.more_lanes) return sumOf(said.lanes.filter(isMeant).map(({ depth }) => depth));
  const { items } = await get('/lanes', { namespace: ctx.ns, limit: 1_000 }, ctx);
  return sumOf(items.filter(isMeant).map(({ depth }) => depth));
}

/** Whether an event tells of an execution that would stand on the first page. */
export function isNew(ctx, line) {
  if (!line.subject.execution || !only(ctx, TOLD)) return false;
  const has = (name, value) => !ctx.query.has(name) || ctx.query.getAll(name).includes(value);
  const whats = ctx.query.getAll('state').flatMap((state) => ENTERED[state] ?? []);
  return (
    (whats.length > 0 ? whats : ['created']).includes(line.what) &&
    has('lane', line.lane_id) &&
    has('kind', line.kind) &&
    has('flow', line.flow_id)
  );
}

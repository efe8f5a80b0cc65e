// The figures of the overview.

import { h } from '../core/dom.js';
import { costOf, count, isMoney, percentFigure, rateFigure } from '../core/format.js';
import { age, hour } from '../core/time.js';
import { open } from './depth-bar.js';
import { isLate } from './lane-rows.js';
import { spark } from './spark.js';

const plus = (a, b) => a.map((n, i) => n + b[i]);
const OUTCOMES = ['completed', 'failed', 'cancelled', 'expired', 'skipped'];
/** How many ended, at each point of a series. */
export const ended = (column) => OUTCOMES.map((name) => column[name]).reduce(plus);

function tile(label, { figure, unit, says, curve, desk }) {
  return h(
    'section.card.tile',
    { class: desk ? 'desk-only' : '' },
    h('h2', label),
    h('p.fig', figure, unit && h('small', unit)),
    curve,
    h('p.meta.cut', says),
  );
}

/** Which share of what ended failed, at each point of a series. */
function failedOf(column) {
  const all = ended(column);
  return all.map((n, i) => (n > 0 ? (column.failed[i] + column.expired[i]) / n : 0));
}

/** `said`: the numbers now; `series`: all of it and each lane over time; `charged`: budgets over the last hour. */
export function tiles(said, series, charged) {
  const { per_second: rates, lanes } = said;
  const all = series?.find(({ of }) => of === 'all');
  const done = rates.completed + rates.failed;
  const waits = lanes.filter((lane) => lane.oldest_eligible_at != null).sort((a, b) => a.oldest_eligible_at - b.oldest_eligible_at)[0];
  const { active = 0, ...rest } = said.states;
  const waiting = open(rest);
  const shares = all && failedOf(all).slice(0, -1);
  const peak = shares && Math.max(0, ...shares);
  return [
    tile('Throughput', {
      figure: rateFigure(done),
      unit: ' /s',
      says: 'ended, mean of 1 min',
      curve: all && spark(ended(all).slice(0, -1)),
    }),
    tile('Running', {
      figure: count(active),
      says: `${said.slots == null ? '' : `${count(said.slots)} slots, `}${count(said.workers.live)} worker${said.workers.live === 1 ? '' : 's'}`,
      curve: all && spark(all.running),
    }),
    tile('Waiting', {
      figure: count(waiting),
      says: waits ? ['lane ', h('b', waits.lane_id), ', oldest ', age(waits.oldest_eligible_at)] : 'nothing waits for a worker',
      curve: all && spark(all.waiting, { hue: waits && isLate(waits) ? 'amber' : 'blue' }),
    }),
    tile('Failure rate', {
      figure: done > 0 ? percentFigure(rates.failed / done) : '–',
      unit: done > 0 ? ' %' : '',
      says: peak > 0 ? `peak ${percentFigure(peak)} % at ${hour(all.from + shares.indexOf(peak) * all.step)}` : 'none failed',
      curve: shares && spark(shares, { hue: 'red' }),
    }),
    spent(charged),
  ];
}

/** What was charged to budgets in the last hour, in money. */
function spent(charged) {
  const sums = new Map();
  const columns = [];
  let n = 0;
  for (const { dimensions } of charged ?? []) {
    let sum = 0;
    for (const [name, { used }] of Object.entries(dimensions ?? {})) {
      if (!isMoney(name)) continue;
      const own = used.reduce((a, b) => a + b, 0);
      sums.set(name, (sums.get(name) ?? 0) + own);
      columns.push(used);
      sum += own;
    }
    if (sum > 0) n += 1;
  }
  const says =
    columns.length === 0
      ? 'no budget counts money'
      : n === 0
        ? 'nothing was charged'
        : `charged to ${count(n)} budget${n === 1 ? '' : 's'}`;
  const figure = costOf(Object.fromEntries(sums)) ?? '–';
  return tile('Spent this hour', { desk: true, figure, says, curve: n > 0 && spark(columns.reduce(plus).slice(0, -1), { hue: 'teal' }) });
}

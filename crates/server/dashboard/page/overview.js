// The overview: who is needed, then how it goes.

import { fill, h } from '../core/dom.js';
import { get } from '../core/api.js';
import { count, rate, rateFigure, tail } from '../core/format.js';
import { v1 } from '../core/root.js';
import { to } from '../core/router.js';
import { age, now } from '../core/time.js';
import { newest, quiet } from '../ui/again.js';
import { attention } from '../ui/attention.js';
import { causes } from '../ui/causes.js';
import { open } from '../ui/depth-bar.js';
import { dataTable } from '../ui/data-table.js';
import { empty, part, problemCard } from '../ui/empty.js';
import { happenings, rolled } from '../ui/happened.js';
import { head } from '../ui/head.js';
import { laneColumns } from '../ui/lane-rows.js';
import { inPlace, places } from '../ui/places.js';
import { mark } from '../ui/state-mark.js';
import { ranges } from '../ui/tabs.js';
import { ended, tiles } from '../ui/tiles.js';

const RANGES = { '15m': ['15 m', 15], '1h': ['1 h', 60], '24h': ['24 h', 1_440] };
const MINUTE_MS = 60_000;
// As many as one call answers.
const SPARK_LANES = 49;
const BUDGETS = 50;

const failure = (view) =>
  h(
    'a.item.failure',
    { href: to(`/executions/${encodeURIComponent(view.execution_id)}`) },
    mark('failed', 'Failed'),
    h(
      'span.grow',
      h('span.row', h('b.grow.cut', view.execution_kind), h('span.ink3.long.num', age(view.completed_at))),
      h(
        'span.cut.ink2.meta',
        { title: view.failure?.reason },
        view.failure ? `${view.failure.category}: ${view.failure.reason}` : tail(view.execution_id),
      ),
    ),
  );

export async function page(ctx) {
  ctx.title('Overview');
  const { now: range, choice } = ranges(ctx, RANGES, '1h');
  const needs = h('section.card.list', { 'aria-label': 'What needs somebody' });
  const figures = h('div.tiles');
  const held = h('div.list');
  const heldSum = h('span.ink2.grow.num');
  const failures = h('div.list');
  const more = h('div');
  const chartAt = h('div.card-body.chart-at');
  let curves = new Map();
  let said = null;
  let series = null;
  // As they were read last: of everything and its lanes, and of budgets.
  let [curve, spent] = [null, null];
  let isOld = false;
  let charged = null;
  let budgets = null;
  let drawn = null;
  const lanes = dataTable({
    ctx,
    label: 'Lanes',
    columns: laneColumns(
      () => curves,
      () => Math.max(1, ...said.lanes.map((lane) => open(lane.depth))),
    ),
    key: (lane) => lane.lane_id,
    href: (lane) => to(`/lanes/${encodeURIComponent(lane.lane_id)}`),
    empty: () => empty({ says: 'No lanes yet. A lane is there as soon as something is submitted to it.', command: `curl -d '{"name":"Ana"}' ${v1('/submit/demo.greet')}` }),
  });
  const legend = h('span.row.meta.desk-only', h('i.key-box.h-blue'), 'all', h('i.key-box.h-red'), 'failed');
  const order = inPlace((lane) => lane.lane_id);
  const own = (el) => ({ el, rows: () => el.children });
  const room = places(ctx, [own(needs), own(held), { el: lanes.el, rows: () => lanes.el.querySelectorAll('tr[data-key]') }]);
  ctx.root.append(head({ title: 'Overview', beside: [room.button], acts: [choice] }));
  // Comes with the first numbers, so that nothing moves.
  const content = h(
    'div.page.stack',
    needs,
    figures,
    h(
      'div.cols',
      h(
        'div.stack',
        h('section.card', h('div.card-head', h('h2', 'Ended per second'), legend), chartAt),
        h('section.card', lanes.el, more),
      ),
      h(
        'section.card',
        h('div.card-head', h('h2', 'Held back'), heldSum),
        held,
        h('div.card-head.later', h('h2', 'Latest failures'), h('a.ink2', { href: to('/executions', { state: 'failed' }) }, 'all')),
        failures,
      ),
    ),
  );

  function draw() {
    if (!said) return;
    if (!content.isConnected) ctx.root.append(content);
    fill(needs, attention(said));
    fill(figures, tiles(said, series, charged));
    fill(held, causes(said.causes));
    const sum = said.causes.reduce((all, { n }) => all + n, 0);
    const rest = { ...said.states, active: 0 };
    heldSum.textContent = sum > 0 ? `${count(sum)} of ${count(Math.max(sum, open(rest)))}` : '';
    lanes.rows(order(said.lanes.map((lane) => ({ ...lane }))));
    const others = said.more_lanes;
    fill(
      more,
      others && h('p.item.ink2', `${count(others.lanes)} more lanes: ${count(open(others.depth))} open, ${rate(others.throughput)}`),
    );
    room.settle();
  }

  async function chart() {
    const all = series?.find(({ of }) => of === 'all');
    if (!all) return;
    if (!drawn) {
      const { areaChart } = await import('../ui/area-chart.js');
      drawn ??= areaChart({ label: 'Ended per second', height: 150 });
    }
    if (!drawn.el.isConnected) fill(chartAt, drawn.el);
    const seconds = all.step / 1_000;
    const per = (column) => column.slice(0, -1).map((n) => n / seconds);
    const worst = (i) => series.filter(({ of }) => of.startsWith('lane:')).sort((a, b) => b.failed[i] - a.failed[i])[0];
    drawn.draw({
      from: all.from,
      to: all.from + all.step * (all.failed.length - 1),
      step: all.step,
      format: rateFigure,
      lines: [{ label: 'ended', hue: 'blue', values: per(ended(all)) }],
      bars: { label: 'failed', hue: 'red', values: per(all.failed) },
      more: (i) => (worst(i)?.failed[i] > 0 ? [[worst(i).of.slice(5), `${rateFigure(worst(i).failed[i] / seconds)} failed`, 'red']] : []),
    });
  }

  function ask() {
    const [, minutes] = range();
    const names = (said?.lanes ?? []).slice(0, SPARK_LANES).map((lane) => `lane:${lane.lane_id}`);
    const step = minutes > 60 ? 20 * MINUTE_MS : MINUTE_MS;
    return get('/series', { namespace: ctx.ns, of: ['all', ...names], from: now() - minutes * MINUTE_MS, step_ms: step }, ctx);
  }

  async function take() {
    charged = spent && rolled(spent, now()).series;
    if (!curve) return draw();
    const reply = rolled(curve, now());
    series = reply.series.map((one) => ({ ...one, from: reply.from, step: reply.step_ms }));
    curves = new Map(series.filter(({ of }) => of.startsWith('lane:')).map((one) => [one.of.slice(5), ended(one).slice(0, -1)]));
    draw();
    await chart();
  }

  const load = newest(ask, (reply) => {
    curve = reply;
    return take();
  });

  async function readSpent() {
    budgets ??= (await get('/budgets', { namespace: ctx.ns, limit: BUDGETS }, ctx)).items.map((budget) => `budget:${budget.budget_id}`);
    if (budgets.length > 0) spent = await get('/series', { namespace: ctx.ns, of: budgets }, ctx);
    await take();
  }

  const readFailures = () =>
    part(
      failures,
      () => get('/executions', { namespace: ctx.ns, state: 'failed', limit: 5 }, ctx),
      ({ items }) => (items.length > 0 ? items.map(failure) : h('p.item.ink2', 'None failed.')),
    );
  const readSeries = () => load().catch((problem) => problem.name === 'AbortError' || fill(chartAt, problemCard(problem, readSeries)));

  const happened = happenings();
  let [minute, failed] = [null, null];
  ctx.onQuery(readSeries);
  await ctx.overview((next) => {
    said = next;
    draw();
    const isFirst = failed === null;
    isOld = happened(next) || isOld;
    if (isFirst || next.minute?.at !== minute) {
      if (isOld) {
        isOld = false;
        readSeries();
        readSpent().catch(quiet);
      } else take().catch(quiet);
    }
    if ((next.states.failed ?? 0) !== failed) readFailures();
    [minute, failed] = [next.minute?.at, next.states.failed ?? 0];
  });
}

// One lane: how deep it is and was, what its queues require, and who could take them.

import { act, get, p } from '../core/api.js';
import { $, fill, h } from '../core/dom.js';
import { count, duration, rate } from '../core/format.js';
import { to } from '../core/router.js';
import { age, now } from '../core/time.js';
import { actButton } from './act.js';
import { after, newest } from './again.js';
import { areaChart } from './area-chart.js';
import { compact } from './axis.js';
import { empty, part } from './empty.js';
import { depthBar, inWords, open } from './depth-bar.js';
import { head } from './head.js';
import { icon } from './icons.js';
import { isLate } from './lane-rows.js';
import { menu } from './menu.js';
import { mark } from './state-mark.js';
import { ranges } from './tabs.js';

const HOUR_MS = 3_600_000;
const RANGES = { '1h': ['1 h', 1, 60_000], '6h': ['6 h', 6, 60_000], '24h': ['24 h', 24, 300_000] };

const SAYS = {
  active: ['teal', 'completed', 'Takes work and hands it out.'],
  paused: ['amber', 'waiting', 'Paused: it takes work and hands none out.'],
  draining: ['amber', 'waiting', 'Draining: it hands out what it has and takes nothing new.'],
  disabled: ['red', 'cancelled', 'Disabled: it takes nothing and hands nothing out. What runs may end.'],
};

/** In words: whether it hands out, how much waits and runs, and whether anybody could take it. */
function sentence(lane) {
  const { active = 0, ...rest } = lane.depth;
  const waiting = open(rest);
  const unfit = lane.queues.reduce((sum, { length, fitting }) => (fitting ? sum : sum + length.n), 0);
  const [hue, state, lead] = lane.state === 'active' && unfit > 0 && lane.workers > 0 ? ['amber', 'rate_limited', `No live worker takes ${unfit < waiting ? `${count(unfit)} of what waits` : 'what waits'}.`] : lane.state === 'active' && lane.workers === 0 && waiting > 0 ? ['amber', 'rate_limited', 'No live worker serves this lane.'] : SAYS[lane.state];
  return h(`div.banner.h-${hue}`, mark(state), h('div',
    h('p', h('b', lead), ` ${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}, ${count(active)} ${active === 1 ? 'runs' : 'run'}${lane.throughput > 0 ? `, ${rate(lane.throughput)} end` : ''}.`),
    h('p.ink2', `${count(lane.workers)} live ${lane.workers === 1 ? 'worker serves' : 'workers serve'} it.`, lane.oldest_eligible_at && [' The oldest has waited for ', h('span', { class: isLate(lane) ? 'hue strong' : '' }, age(lane.oldest_eligible_at, (long) => `${long}.`))])));
}

/** What may be done in the state it is in; `latest()` is the lane as it was read last. */
function acts(ctx, name, latest, done) {
  const { state: current } = latest();
  const set = (state, label, busy, ask) => actButton({
    op: 'set_lane_state', label, busy, icon: { paused: 'pause', active: 'play' }[state], ask,
    run: (key) => act('PUT', p`/lanes/${name}/state`, { namespace: ctx.ns, state }, { key }), done,
  });
  const says = (waiting, running) => () => {
    const { active = 0, ...others } = latest().depth;
    return h('p', `Submissions to it are refused. ${count(open(others))} wait and ${waiting}, ${count(active)} run and ${running}.`);
  };
  const rest = [
    current !== 'draining' && set('draining', 'Drain…', 'Draining…', { title: `Drain ${name}?`, label: 'Drain', body: says('are still handed out', 'go on') }),
    current !== 'disabled' && set('disabled', 'Disable…', 'Disabling…', { title: `Disable ${name}?`, label: 'Disable', body: says('stay where they are', 'may end') }),
  ].filter(Boolean);
  return [
    current !== 'active' && set('active', 'Resume', 'Resuming…'), current !== 'paused' && set('paused', 'Pause', 'Pausing…'),
    rest.length > 0 && menu(h('button.btn.icon', { type: 'button', 'aria-label': 'More' }, icon('more')), () => rest.map((one) => ({ label: one.textContent, hue: 'red', run: () => one.click() }))),
  ].filter(Boolean);
}

const names = (list) => list.map((name) => h('span.tag', name));

function queues({ queues: list, more_queues: more }) {
  if (!list.length) return empty({ says: 'Nothing waits for a worker.' });
  const row = ({ requires, budgets, quota, length, best_at: best, fits, fitting }) => h('tr',
    h('th', { scope: 'row', 'data-phone': 'title' }, h('span.caps', requires.length ? names(requires) : h('span.ink2', 'nothing in particular'), budgets.map((id) => h('a.tag', { href: to(p`/budgets/${id}`) }, 'budget')), quota && h('a.tag', { href: to(p`/quotas/${quota}`) }, 'quota'))),
    h('td.num', { 'data-phone': 'top' }, count(length.n), length.at_least && '+'),
    h('td.num', { 'data-phone': 'end' }, age(best)),
    h('td', { 'data-phone': 'line' }, fitting ? h('span.caps', fits.map((id) => h('a.tag', { href: to(p`/workers/${id}`) }, id)), fitting > fits.length && h('span.ink3', `and ${count(fitting - fits.length)} more`)) : h('span.tag.h-amber', 'no live worker fits')));
  return [h('div.table', h('table.grid', h('thead', h('tr', h('th', 'Requires'), h('th.num', 'Waiting'), h('th.num', 'Next since'), h('th', 'Live workers that fit'))), h('tbody', list.map(row)))), more > 0 && h('p.card-body.meta', `and ${count(more)} more queues`)];
}

/** Fills `root` with a lane; answers how to read it again. */
export function laneView(ctx, root, name) {
  const top = h('div');
  const banner = h('div');
  const bar = h('div.lane-bar');
  const depth = areaChart({ label: `Depth of ${name}`, height: 180 });
  const oldest = areaChart({ label: `Oldest that waits in ${name}`, height: 120 });
  const waits = h('div');
  const problem = h('div');
  const { now: range, choice } = ranges(ctx, RANGES, '1h');
  const body = h('div.page.stack', banner, bar, h('section.card', h('div.card-head', h('h2', 'Waiting and running'), choice), depth.el), h('section.card', h('div.card-head', h('h2', 'Age of the oldest that waits')), oldest.el, problem),
    h('section.card', h('div.card-head', h('h2', 'Queues, by what they require'), h('a.ink2', { href: to('/executions', { lane: name }) }, 'all of the lane')), waits));

  let lane = null;

  const read = newest(() => get(p`/lanes/${name}`, { namespace: ctx.ns }, ctx), (next) => {
    const before = lane?.state;
    lane = next;
    if (lane.state !== before) {
      const done = after(() => read().then(() => $('h1', top).focus()));
      fill(top, head({ crumbs: [{ label: 'Lanes', href: to('/lanes') }], title: name, acts: acts(ctx, name, () => lane, done) }));
    }
    fill(banner, sentence(lane));
    fill(bar, depthBar(lane.depth, open(lane.depth)), h('span.meta', inWords(lane.depth)));
    fill(waits, queues(lane));
    if (!body.isConnected) root.append(top, body);
  });

  const series = () => {
    const [, hours, step] = range();
    return get('/series', { of: `lane:${name}`, namespace: ctx.ns, from: Math.round(now() - hours * HOUR_MS + step), step_ms: step }, ctx);
  };
  const curves = () => part(problem, series, ({ from, step_ms: step, series: [one] }) => {
    const common = { from, step, to: from + step * Math.max(1, one.waiting.length - 1) };
    depth.draw({ ...common, least: 2, lines: [{ label: 'waiting', hue: 'amber', values: one.waiting }, { label: 'running', hue: 'blue', values: one.running }], bars: { label: 'failed', hue: 'red', values: one.failed } });
    oldest.draw({ ...common, format: duration, least: 2_000, axis: (ms) => (ms < 120_000 ? `${compact(ms / 1_000)} s` : `${compact(ms / 60_000)} m`), lines: [{ label: 'oldest', hue: 'amber', values: one.oldest_ms }] });
    return null;
  }, 0);

  return { read, curves };
}

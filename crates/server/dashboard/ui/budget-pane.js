// One budget: why it is closed, what was used of it over time, and by whom.

import { act, get, p } from '../core/api.js';
import { fill, h, text } from '../core/dom.js';
import { amount, count, duration, isMoney, percent, short, tail, usage } from '../core/format.js';
import { at, clock, hour, left, now } from '../core/time.js';
import { actButton } from './act.js';
import { after } from './again.js';
import { areaChart } from './area-chart.js';
import { linesOf } from './budget-line.js';
import { copy, part } from './empty.js';
import { icon } from './icons.js';
import { limitsButton } from './limits-sheet.js';
import { menu } from './menu.js';
import { mark } from './state-mark.js';
import { ranges, seg } from './tabs.js';

const HOUR_MS = 3_600_000;
const RANGES = { '1h': ['1 h', 1, 60_000], '6h': ['6 h', 6, 60_000], '24h': ['24 h', 24, 300_000] };
const BURN_MS = 600_000;

export const nameOf = (budget) => budget.scope || tail(budget.budget_id);

export const shareOf = ({ usage, soft, hard }) => ((hard ?? soft) > 0 ? usage / (hard ?? soft) : 0);

/** The dimension to look at: the one that closed it, or the fullest. */
export function mainOf({ state, dimensions }) {
  if (state.closed) return state.closed.dimension;
  return Object.keys(dimensions).sort((a, b) => shareOf(dimensions[b]) - shareOf(dimensions[a]))[0];
}

const waiters = ({ n = 0, at_least: more } = {}) => `${count(n)}${more ? '+' : ''} ${n === 1 ? 'execution waits' : 'executions wait'}`;

/** In words: whether it is closed and since when, who waits, and when it opens. */
function says(budget) {
  const { state, dimensions, waiting, next_reset_at: reset, closed_since: since } = budget;
  const name = mainOf(budget);
  const { usage: used = 0, soft, hard } = dimensions[name] ?? {};
  const of = (limit) => `${amount(name, used)} of ${usage(name, limit)}`;
  if (state.closed) {
    return banner('amber', 'rate_limited', hard === 0 ? `Nothing may be spent: the hard limit of ${name} is 0.` : ['Closed', since && [' since ', at(since)], `: ${of(hard)}.`],
      waiting?.n ? `${waiters(waiting)} for it and ${waiting.n === 1 ? 'goes on where it' : 'go on where they'} stopped.` : 'Nobody waits for it.',
      [budget.on_hard_limit === 'block' ? 'Nothing that runs is cancelled. ' : 'What runs is told to stop. ', reset ? left(reset, (long) => `Opens by itself in ${long}, or now with a raise.`) : 'Opens with a raise or a reset.']);
  }
  if (!name) return banner('grey', 'waiting', 'Open.', 'Nothing was used of it.');
  const goes = hard === undefined ? 'There is no hard limit.' : `Work goes on up to ${usage(name, hard)}.`;
  return used > soft ? banner('amber', 'rate_limited', `Above the soft limit: ${of(soft)}.`, goes) : banner('teal', 'completed', 'Open.', hard === undefined ? `${usage(name, used)} used. ${goes}` : `${of(hard)} used.`);
}

const banner = (hue, state, lead, then, more) => h(`div.banner.h-${hue}`, mark(state), h('div', h('p', h('b', lead), ' ', then), more && h('p.ink2', more)));

function picture(budget, name, { from, step_ms: step }, column) {
  const { usage: used, soft, hard } = budget.dimensions[name];
  const { lines, resets } = linesOf({
    used: column?.used ?? [], from, step, now: now(), current: used, created: budget.created_at, period: budget.reset_interval_ms, next: budget.next_reset_at,
  });
  const ahead = budget.next_reset_at && budget.next_reset_at - now() < (now() - from) / 3 ? budget.next_reset_at - now() : 0;
  const closed = budget.state.closed?.dimension === name;
  return {
    from, step, to: now() + Math.max(ahead * 1.04, (now() - from) / 14),
    format: (n) => (isMoney(name) ? amount(name, n) : short(n)),
    ...(isMoney(name) && { axis: (n) => amount(name, n) }),
    lines: lines.map((values, i) => ({ label: i === lines.length - 1 ? name : `${name} before`, hue: 'blue', values, faint: i < lines.length - 1 })),
    levels: [hard !== undefined && { value: hard, label: `hard ${amount(name, hard)}`, hue: 'red' }, soft !== undefined && { value: soft, label: `soft ${amount(name, soft)}`, hue: 'amber', dashed: true }].filter(Boolean),
    spans: closed && budget.closed_since ? [{ from: Math.max(from, budget.closed_since), to: now(), label: 'closed', hue: 'red' }] : [],
    marks: [...resets.map((moment) => ({ at: moment, label: `reset ${hour(moment)}`, hue: 'grey' })), { at: now(), label: 'now', hue: 'grey', solid: true },
      ...(ahead ? [{ at: budget.next_reset_at, label: `${closed ? 'opens' : 'resets'} ${hour(budget.next_reset_at)}`, hue: 'teal' }] : [])],
  };
}

/** How much is used in a minute, over the last ten of them before it closed, and beside the mean of all. */
export function burnOf({ from, step_ms: step }, column, until) {
  const used = column?.used ?? [];
  const end = Math.min(used.length, Math.ceil((until - from) / step));
  const recent = used.slice(Math.max(0, end - Math.ceil(BURN_MS / step)), end);
  const per = (list) => (list.length ? (list.reduce((sum, n) => sum + n, 0) * 60_000) / (list.length * step) : 0);
  const all = used.slice(used.findIndex((n) => n > 0));
  return { now: per(recent), mean: per(all) };
}

const fact = (label, figure, says) => h('div', h('span.meta', label), h('b.fact-fig', figure), h('span.meta', says));

function facts(budget, name, answer, column) {
  const burn = burnOf(answer, column, budget.closed_since ?? now());
  const { last_breach: breach, reset_interval_ms: period, next_reset_at: reset } = budget;
  return h('div.card.budget-facts',
    fact(budget.closed_since ? 'Burn, last 10 min before' : 'Burn, last 10 min', `${amount(name, Math.round(burn.now))} /min`, burn.mean > 0 ? `${(burn.now / burn.mean).toFixed(1)} × the mean` : 'nothing was used'),
    fact('Reports above hard', count(budget.hard_breaches), breach ? `last ${clock(breach.at)}` : 'never'),
    fact('Period', period ? duration(period) : 'none', reset ? ['next reset ', at(reset)] : 'resets only by hand'),
    fact('At the limit', budget.on_hard_limit === 'block' ? 'block' : 'stop', budget.on_hard_limit === 'block' ? 'running work goes on' : 'running work is stopped'));
}

function kinds(name, column) {
  const sums = Object.entries(column?.by_kind ?? {}).map(([kind, list]) => [kind, list.reduce((sum, n) => sum + n, 0)]).filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
  const all = sums.reduce((sum, [, n]) => sum + n, 0);
  if (!all) return null;
  const row = ([kind, n]) => {
    const bar = h('i.line-of');
    bar.style.width = `${(n / sums[0][1]) * 100}%`;
    return h('tr', h('th', { scope: 'row', title: kind, 'data-phone': 'title' }, kind), h('td', { 'data-phone': 'line' }, bar), h('td.num', { 'data-phone': 'top' }, amount(name, n)), h('td.num.ink2', { 'data-phone': 'end' }, percent(n / all)));
  };
  return h('section.card.table', h('table.grid', h('thead', h('tr', h('th', 'Kind'), h('th'), h('th.num', name[0].toUpperCase() + name.slice(1)), h('th.num', 'Share'))), h('tbody', sums.slice(0, 12).map(row))));
}

/** `changed()` when an act changed it. */
export function budgetPane(ctx, first, changed) {
  let budget = first;
  let name = mainOf(first);
  const title = h('h2.pane-title');
  const top = h('div');
  const chart = areaChart({ label: `Use of ${nameOf(first)}`, height: 220 });
  const heading = h('h2');
  const { now: range, choice } = ranges(ctx, RANGES, now() - first.created_at < HOUR_MS ? '1h' : '24h');
  const below = h('div.stack.pane-rest');
  const dimensions = h('span');
  const done = after(changed);
  const acts = h('span.row',
    actButton({ op: 'reset_budget', label: 'Reset…', busy: 'Resetting…', done,
      ask: { title: `Start usage of ${nameOf(first)} again from zero?`, label: 'Reset', hue: 'red', body: () => h('p', `${waiters(budget.waiting)} for it. Every dimension starts again at zero; the rhythm of periodic resets stays.`) },
      run: (key) => act('POST', p`/budgets/${budget.budget_id}/reset`, {}, { key }) }),
    limitsButton(() => budget, { label: 'Raise the limit…', hue: 'primary', name: nameOf(first), names: () => [name ?? 'cents'], done }));
  const remove = actButton({ op: 'delete_budget', label: 'Delete', done,
    ask: { title: `Delete the budget ${nameOf(first)}?`, label: 'Delete', hue: 'red', body: () => h('p', `What is attached to it is no longer limited by it: ${waiters(budget.waiting)} and may start.`) },
    run: (key) => act('DELETE', p`/budgets/${budget.budget_id}`, undefined, { key }) });
  const all = limitsButton(() => budget, { label: 'Limits', name: nameOf(first), names: () => Object.keys(budget.dimensions), done });
  const more = menu(h('button.btn.icon', { type: 'button', 'aria-label': 'More' }, icon('more')), () => [
    { label: 'Copy id', icon: 'copy', run: () => copy(budget.budget_id) },
    ...(all ? [{ label: 'Limits…', run: () => all.click() }] : []), ...(remove ? [{ label: 'Delete…', hue: 'red', run: () => remove.click() }] : []),
  ]);
  const el = h('div.pane-body.stack',
    h('div.row.pane-top', title, h('span.mono.ink2.cut', { title: first.budget_id }, tail(first.budget_id)), h('span.grow'), acts, more),
    top, h('section.card', h('div.card-head', heading, dimensions, choice), chart.el), below);

  function draw() {
    text(title, nameOf(budget));
    fill(top, says(budget));
    text(heading, name ? `${name[0].toUpperCase()}${name.slice(1)} used` : 'Use');
    const names = Object.keys(budget.dimensions);
    fill(dimensions, names.length > 1 && names.length < 6 && seg(names.map((id) => ({ id, label: id })), name, (id) => ((name = id), draw(), load())));
  }

  async function read() {
    const [, hours, step] = range();
    return get('/series', { of: `budget:${budget.budget_id}`, namespace: ctx.ns, from: Math.round(now() - hours * HOUR_MS + step), step_ms: step }, ctx);
  }

  function load() {
    if (!name) return;
    part(below, read, (answer) => {
      const column = answer.series[0]?.dimensions?.[name];
      chart.draw(picture(budget, name, answer, column));
      return [facts(budget, name, answer, column), kinds(name, column)];
    });
  }

  draw();
  load();
  return {
    el, load,
    update(next) {
      budget = next;
      name = budget.dimensions[name] ? name : mainOf(next);
      draw();
    },
  };
}

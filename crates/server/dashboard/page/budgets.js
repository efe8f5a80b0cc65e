// Budgets: what may be spent, what was, and who waits for more.

import { act, get, p } from '../core/api.js';
import { h } from '../core/dom.js';
import { amount, duration, percent } from '../core/format.js';
import { v1 } from '../core/root.js';
import { left, now } from '../core/time.js';
import { actButton } from '../ui/act.js';
import { after, again, newest } from '../ui/again.js';
import { budgetPane, burnOf, mainOf, nameOf, shareOf } from '../ui/budget-pane.js';
import { empty } from '../ui/empty.js';
import { limitFields } from '../ui/limits-sheet.js';
import { splitPage } from '../ui/split.js';
import { usageBar, usageHue } from '../ui/usage-bar.js';

const PAGE = 200;
const SERIES = 50;
const CURVE_MS = 60_000;
const HOUR_MS = 3_600_000;
const PERIODS = [['never by itself', ''], ['every hour', HOUR_MS], ['every 12 hours', 12 * HOUR_MS], ['every day', 24 * HOUR_MS], ['every 7 days', 168 * HOUR_MS], ['every 30 days', 720 * HOUR_MS]];

const fullest = (budget) => shareOf(budget.dimensions[mainOf(budget)] ?? { usage: 0 });

const isClosed = ({ state }) => Boolean(state.closed?.limit);

/** Closed first, then by the share that is used; those with a limit of nothing are meant so. */
const worst = (a, b) => Number(isClosed(b)) - Number(isClosed(a)) || fullest(b) - fullest(a) || nameOf(a).localeCompare(nameOf(b));

function word({ state, waiting }, { usage, soft }) {
  if (state.closed) return state.closed.limit === 0 ? 'Nothing may be spent' : `Closed${waiting?.n ? ` · ${waiting.n}${waiting.at_least ? '+' : ''} wait` : ''}`;
  return soft !== undefined && usage > soft ? 'Above the soft limit' : 'Open';
}

/** What is next: when it is full, when it starts again, or how much is used. */
function outlook(budget, name, { usage, hard }, burn) {
  if (!budget.state.closed && hard > usage && burn > 0) {
    const full = ((hard - usage) / burn) * 60_000;
    if (full < (budget.next_reset_at ?? Infinity) - now() && full < 24 * HOUR_MS) return `full in about ${duration(full)}`;
  }
  if (budget.next_reset_at) return ['resets in ', left(budget.next_reset_at)];
  if (hard === 0) return 'hard limit 0';
  return hard === undefined ? 'no hard limit' : `${percent(usage / hard)} of ${amount(name, hard)}`;
}

function row(budget, burns) {
  const name = mainOf(budget);
  if (!name) return [h('div.row', h('b.grow.cut', nameOf(budget))), h('p.meta', 'Nothing was used of it.')];
  const view = budget.dimensions[name];
  const hue = usageHue(view.usage, view);
  return [
    h('div.row', h('b.cut', nameOf(budget)), h('span.ink2', name), h('span.grow'), h('span', amount(name, view.usage), h('span.ink2', ' of ', (view.hard ?? view.soft) === undefined ? 'no limit' : amount(name, view.hard ?? view.soft)))),
    usageBar(view.usage, view),
    h('div.row.meta', h(`span.h-${hue}`, { class: hue === 'red' || hue === 'amber' ? 'hue strong' : '' }, word(budget, view)), h('span.grow'), h('span.ink3', outlook(budget, name, view, burns.get(`budget:${budget.budget_id}`)?.[name]))),
  ];
}

function newButton(ctx, done) {
  let form = null;
  const button = actButton({
    op: 'create_budget', label: 'New', icon: 'plus',
    ask: {
      title: 'New budget', label: 'Create', hue: 'primary', busy: 'Creating…',
      body() {
        const input = (props) => h('input', { maxlength: '256', ...props });
        const select = (options) => h('select', options.map(([label, value]) => h('option', { value: String(value) }, label)));
        form = { scope: input({ placeholder: 'acme-llm' }), dimension: input({ value: 'cents' }), period: select(PERIODS), stop: select([['block: running work goes on', 'block'], ['stop: running work is stopped', 'cancel_active']]), fields: limitFields('Limits', {}) };
        const field = (label, node) => h('label.field', h('span.ink2', label), node);
        return [field('What it is for', form.scope), field('What is counted', form.dimension), form.fields.el, field('Starts again from zero', form.period), field('At the hard limit', form.stop)];
      },
    },
    run: (key) => act('POST', '/budgets', {
      namespace: ctx.ns, scope: form.scope.value.trim(), dimensions: { [form.dimension.value.trim()]: form.fields.limits() },
      on_hard_limit: form.stop.value, ...(form.period.value && { reset_interval_ms: Number(form.period.value) }),
    }, { key }),
    done() {
      done();
      return 'Budget created';
    },
  });
  return button;
}

export async function page(ctx) {
  let burns = new Map();
  let budgets = [];
  let curvesAt = 0;
  const split = splitPage(ctx, {
    title: 'Budgets', path: '/budgets', acts: [newButton(ctx, () => after(read)())].filter(Boolean),
    key: ({ budget_id }) => budget_id, name: nameOf, row: (budget) => row(budget, burns), urgent: isClosed,
    pane: (budget) => budgetPane(ctx, budget, read), find: (id) => get(p`/budgets/${id}`, {}, ctx),
    none: () => empty({ says: 'A budget says how much may be spent, and work attached to it waits when it is used up. There is none yet.', command: `curl '${v1('/budgets')}' -H 'Content-Type: application/json' -d '{"scope":"research","dimensions":{"cents":{"hard":25000}}}'` }),
  });

  const read = newest(() => get('/budgets', { namespace: ctx.ns, limit: PAGE }, ctx), ({ items }) => {
    budgets = items.filter(({ state }) => state !== 'deleted').sort(worst);
    return split.show(budgets);
  });

  async function curves() {
    if (!budgets.length || now() - curvesAt < CURVE_MS) return;
    const isFirst = curvesAt === 0;
    curvesAt = now();
    const answer = await get('/series', { of: budgets.slice(0, SERIES).map(({ budget_id }) => `budget:${budget_id}`), namespace: ctx.ns }, ctx);
    burns = new Map(answer.series.map(({ of, dimensions = {} }) => [of, Object.fromEntries(Object.entries(dimensions).map(([name, column]) => [name, burnOf(answer, column, now()).now]))]));
    await split.show(budgets);
    // The pane has read its own as it opened.
    if (!isFirst) split.pane()?.load?.();
  }

  again(ctx, () => read().then(curves));
  await read();
  await curves();
}

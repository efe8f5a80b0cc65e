// Worker processes: who is there, what they run, and one of them with what it has.

import { act, get, p } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { count, tail } from '../core/format.js';
import { to } from '../core/router.js';
import { age, asAgo, at, now } from '../core/time.js';
import { actButton } from '../ui/act.js';
import { after, again, newest, quiet } from '../ui/again.js';
import { dataTable } from '../ui/data-table.js';
import { empty } from '../ui/empty.js';
import { filterBar, names as known } from '../ui/filter-bar.js';
import { head } from '../ui/head.js';
import { inPlace } from '../ui/places.js';
import { stateText, stateWord } from '../ui/state-mark.js';

const PAGE = 1000;
const SHOWN = 50;

/** Whether it has not been heard of for more than half of the time after which it counts as gone. */
const isLate = ({ seen_at, ttl_ms }) => now() - seen_at > ttl_ms / 2;

const load = ({ running, slots }) => (running === undefined && slots === undefined ? '–' : slots === undefined ? count(running) : `${count(running ?? 0)} of ${count(slots)}`);

const names = (list) => h('span.caps', list.map((name) => h('span.tag', name)));
const laneLinks = (list) => h('span.caps', list.map((name) => h('a.tag', { href: to(p`/lanes/${name}`) }, name)));

function meter({ running = 0, slots }) {
  if (!slots) return '';
  const bar = h('i');
  bar.style.width = `${Math.min(100, (100 * running) / slots)}%`;
  return h('div.meter.h-blue', { 'aria-hidden': 'true' }, bar);
}

const columns = [
  { id: 'instance', head: 'Worker', phone: 'title', cell: (worker) => [worker.worker_instance_id, !worker.worker_instance_id.startsWith(worker.worker_id) && h('span.ink3', ' ', worker.worker_id)] },
  { id: 'state', head: '', width: '90px', cell: (worker) => (worker.drain ? h('span.tag.h-amber', 'draining') : '') },
  { id: 'meter', head: 'Running', width: '110px', cell: meter },
  { id: 'load', head: '', num: true, width: '90px', phone: 'top', cell: load },
  { id: 'lanes', head: 'Lanes', width: '17%', phone: 'line', cell: (worker) => names(worker.lanes) },
  { id: 'caps', head: 'Offers', width: '14%', cell: (worker) => names(worker.capabilities) },
  { id: 'version', head: 'Version', width: '90px', cell: (worker) => h('span.mono', worker.version ?? '') },
  { id: 'seen', head: 'Last seen', num: true, width: '90px', phone: 'end', cell: (worker) => h('span', { class: isLate(worker) ? 'hue h-amber strong' : '' }, age(worker.seen_at)) },
];

const byName = (a, b) => a.worker_id.localeCompare(b.worker_id) || a.worker_instance_id.localeCompare(b.worker_instance_id);

async function all(ctx) {
  ctx.title('Workers');
  const lanes = () => ctx.query.getAll('lane');
  const table = dataTable({
    ctx, columns, label: 'Workers', key: ({ worker_instance_id: id }) => id, href: ({ worker_instance_id: id }) => to(p`/workers/${id}`),
    empty: () => (lanes().length > 0 ? empty({ says: `No live worker serves ${lanes().join(' or ')}.`, filter: { label: 'Any lane', href: to('/workers') } }) : empty({ says: 'No worker is there: work waits until one is. A worker registers as it starts.', command: 'cargo run --example worker' })),
  });
  const order = inPlace(({ worker_instance_id: id }) => id);
  const sum = h('span.meta');
  const bar = filterBar({ ctx, fields: [{ param: 'lane', label: 'lane', options: known('lane') }], forget: [] });
  fill(ctx.root, head({ title: 'Workers', beside: [sum] }), bar.el, table.el);
  table.loading(4);
  const read = newest(() => get('/workers', { namespace: ctx.ns, limit: PAGE }, ctx), ({ items: all, next }) => {
    const items = lanes().length > 0 ? all.filter((worker) => worker.lanes.some((name) => lanes().includes(name))) : all;
    table.rows(order(items.sort(byName)));
    const running = items.reduce((total, worker) => total + (worker.running ?? 0), 0);
    const slots = items.reduce((total, worker) => total + (worker.slots ?? 0), 0);
    sum.textContent = items.length ? `${count(items.length)}${next ? '+' : ''} live${slots ? ` · ${count(running)} of ${count(slots)} slots run` : ''}` : '';
  });
  ctx.onQuery(() => {
    bar.show();
    return read().catch(quiet);
  });
  again(ctx, read);
  await read();
}

function drain(ctx, worker, done) {
  const path = p`/workers/${worker.worker_instance_id}/drain`;
  if (worker.drain) return actButton({ op: 'undrain_worker', label: 'Give work again', busy: 'Telling…', icon: 'play', run: (key) => act('DELETE', `${path}?namespace=${encodeURIComponent(ctx.ns)}`, undefined, { key }), done });
  return actButton({
    op: 'drain_worker', label: 'Drain…', busy: 'Draining…', icon: 'pause', done,
    ask: { title: `Drain ${worker.worker_instance_id}?`, label: 'Drain', hue: 'red', reason: 'needed', body: h('p', `It finishes what it has${worker.running === undefined ? '' : ` (${count(worker.running)})`} and is handed nothing more.`) },
    run: (key, reason) => act('POST', path, { namespace: ctx.ns, reason }, { key }),
  });
}

const runs = [
  { id: 'state', head: 'State', width: '170px', phone: 'mark', cell: (view) => stateText(view.public_state, stateWord(view)) },
  { id: 'kind', head: 'Execution', phone: 'title', cell: (view) => [view.execution_kind, ' ', h('span.mono', tail(view.execution_id))] },
  { id: 'lane', head: 'Lane', width: '140px', phone: 'line', cell: (view) => view.lane_id },
  { id: 'started', head: 'Started', num: true, width: '110px', phone: 'end', cell: (view) => at(view.started_at) },
];

async function one(ctx, id) {
  ctx.title(id);
  let drawn = null;
  const top = h('div');
  const facts = h('dl.fields.card.card-body');
  const table = dataTable({ ctx, columns: runs, label: `Executions of ${id}`, key: (view) => view.execution_id, href: (view) => to(p`/executions/${view.execution_id}`), empty: () => empty({ says: 'It has taken nothing that is still kept.' }) });
  const body = h('div.page.stack', facts, h('section.card', h('div.card-head', h('h2', 'Its executions'), h('a.ink2', { href: to('/executions', { worker: id }) }, 'all')), table.el));

  const ask = () => Promise.all([get('/workers', { namespace: ctx.ns, limit: PAGE }, ctx), get('/executions', { worker: id, namespace: ctx.ns, limit: SHOWN }, ctx)]);
  const read = newest(ask, ([{ items }, { items: views }]) => {
    const worker = items.find(({ worker_instance_id }) => worker_instance_id === id);
    const is = `${!worker} ${worker?.drain?.since}`;
    if (is !== drawn) fill(top, head({ crumbs: [{ label: 'Workers', href: to('/workers') }], title: id, beside: [worker?.drain && h('span.tag.h-amber', 'draining'), !worker && h('span.tag', 'not live')], acts: [worker && drain(ctx, worker, after(read))].filter(Boolean) }));
    drawn = is;
    const rows = worker ? [
      ['Worker', worker.worker_id], ['Runs', load(worker)], ['Lanes', laneLinks(worker.lanes)], ['Offers', worker.capabilities.length ? names(worker.capabilities) : 'nothing in particular'],
      ['Version', worker.version ?? 'not said'], ['Registered', at(worker.registered_at)], ['Last seen', age(worker.seen_at, asAgo)],
      ...(worker.drain ? [['Drained', [at(worker.drain.since), ': ', worker.drain.reason]]] : []),
    ] : [['', 'No live worker has this name. What it ran and left is below.']];
    fill(facts, rows.map(([name, value]) => h('div', h('dt', name), h('dd', value))));
    table.rows(views);
  });
  again(ctx, read);
  await read();
  ctx.root.append(top, body);
}

export async function page(ctx) {
  if (ctx.params.instance === undefined) await all(ctx);
  else await one(ctx, ctx.params.instance);
}

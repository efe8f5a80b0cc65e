// Executions: one filter, one page of rows that stay where they are.

import { fill, h } from '../core/dom.js';
import { get } from '../core/api.js';
import { count } from '../core/format.js';
import { may } from '../core/role.js';
import { setQuery, to } from '../core/router.js';
import { v1 } from '../core/root.js';
import { clock } from '../core/time.js';
import { asked, withQuery } from '../core/url.js';
import { rereader } from '../ui/again.js';
import { dataTable } from '../ui/data-table.js';
import { empty, problemCard } from '../ui/empty.js';
import { depths, FIELDS, isExact, isNew, only, strip } from '../ui/execution-filter.js';
import { columns, href, key } from '../ui/execution-rows.js';
import { filterBar } from '../ui/filter-bar.js';
import { head } from '../ui/head.js';
import { toast } from '../ui/toast.js';
import { views } from '../ui/views.js';

const PAGE = 50;
const IDS_MAX = 100;
const COUNT_MS = 2_500;
const SKELETON_MS = 150;

/** The same filter without one of its parts, for each of them. */
function ways() {
  const names = new Set(new URLSearchParams(location.search).keys());
  const parts = [...names].filter((name) => name.startsWith('tag.') || FIELDS.some(({ param }) => param === name));
  const without = (name) => ({
    href: location.pathname + withQuery(location.search, { [name]: null, view: null, after: null }),
    label: `Without ${FIELDS.find(({ param }) => param === name)?.label ?? name.replace('tag.', '')}`,
  });
  return parts.map(without);
}

export async function page(ctx) {
  ctx.title('Executions');
  const viewsAt = h('span.views');
  const fresh = h('button.btn.small.h-blue.hue.fresh', { type: 'button', hidden: true });
  const bar = filterBar({ ctx, fields: FIELDS, tags: true });
  const states = h('nav.strip', { 'aria-label': 'States' });
  const showStates = strip(ctx, states);
  const pager = h('div.pager');
  const table = dataTable({
    ctx,
    columns,
    key,
    href,
    select: may('cancel_execution'),
    label: 'Executions',
    empty: () =>
      only(ctx, ['ns'])
        ? empty({
            says: 'No executions yet. What is submitted is listed here.',
            command: `curl -d '{"name":"Ana"}' ${v1('/submit/demo.greet')}`,
          })
        : empty({ says: 'Nothing matches.', filter: ways() }),
  });
  ctx.root.append(head({ title: 'Executions', beside: [viewsAt], acts: [fresh] }), bar.el, states, table.el, pager);

  let shown = [];
  let news = new Set();
  let next = null;
  let older = 0;
  let depth = null;
  let asking = 0;

  const isFirst = () => !ctx.query.has('after') && !ctx.query.has('order');

  const tellNew = () => {
    fresh.hidden = news.size === 0;
    fresh.textContent = `${count(news.size)} new · show`;
  };

  const reread = rereader(async (ids) => {
    const mine = asking;
    const { items } = await get('/executions', { id: ids, limit: IDS_MAX }, ctx);
    // A page that was asked for since knows better.
    if (mine === asking) table.patch(items);
  }, IDS_MAX, ctx.signal);

  async function recount() {
    if (!isExact(ctx)) return;
    depth = await depths(ctx, COUNT_MS).catch(() => depth);
    showStates(depth);
  }

  let soon = null;
  /** What happened is in the numbers a moment later, and what happens until then with it. */
  const recountSoon = () => (soon ??= setTimeout(() => ((soon = null), recount()), COUNT_MS));
  ctx.signal.addEventListener('abort', () => clearTimeout(soon), { once: true });

  const heard = ({ lines, skipped }) => {
    const ids = new Set(shown.map(key));
    const changed = new Set(skipped > 0 ? ids : []);
    for (const line of lines) {
      const id = line.subject.execution;
      if (ids.has(id)) changed.add(id);
      else if (isFirst() && isNew(ctx, line)) news.add(id);
    }
    reread(changed);
    tellNew();
    recountSoon();
  };

  const move = (changes, by) => {
    older += by;
    setQuery(changes);
  };

  async function load() {
    const mine = (asking += 1);
    news = new Set();
    tellNew();
    showStates(depth);
    if (shown.length > 0) table.dim(true);
    const waits = setTimeout(() => shown.length === 0 && table.loading(12), SKELETON_MS);
    try {
      const query = asked(location.search);
      const reply = await get('/executions', { namespace: ctx.ns, limit: PAGE, ...query }, ctx);
      if (mine !== asking) return;
      shown = reply.items;
      next = reply.next;
      table.rows(shown);
      // What happened meanwhile may be among them.
      for (const item of shown) news.delete(key(item));
      tellNew();
      foot(reply);
    } catch (problem) {
      if (problem.name === 'AbortError' || mine !== asking) return;
      if (!problem.code) throw problem;
      shown = [];
      table.rows([]);
      table.loading(0);
      fill(pager, problemCard(problem, load));
    } finally {
      clearTimeout(waits);
    }
  }

  const newer = () => (older > 0 ? ((older -= 1), history.back()) : setQuery({ after: null }));
  const further = () => move({ after: next }, 1);

  function foot({ looked_at: looked, reached_at: reached }) {
    const isShort = next && shown.length < PAGE;
    fill(
      pager,
      isShort && h('span.ink2', `Looked at ${count(looked)}${reached ? `, back to ${clock(reached)}` : ''}: ${count(shown.length)} found`),
      h('span.grow'),
      ctx.query.has('after') && h('button.btn', { type: 'button', onclick: newer }, 'Newer'),
      next && h('button.btn', { type: 'button', onclick: further }, isShort ? 'Look further' : 'Older'),
    );
  }

  ctx.keys({
    O: ['Older', () => next && further()],
    N: ['Newer', () => ctx.query.has('after') && newer()],
  });
  fresh.addEventListener('click', load);

  let acts = null;
  table.onselect(async (selected) => {
    if (selected.size === 0 || acts) return;
    acts = import('../ui/bulk.js');
    try {
      ctx.root.append((await acts).selectionBar(ctx, table, load));
    } catch {
      acts = null;
      toast('Not connected: what can be done with a selection is not loaded.', { hue: 'amber' });
    }
  });

  let listened = null;
  const listen = () => {
    const one = (name) => (ctx.query.getAll(name).length === 1 ? ctx.query.get(name) : undefined);
    const wanted = { lane: one('lane'), kind: one('kind'), flow: one('flow') };
    if (JSON.stringify(wanted) === listened) return;
    listened = JSON.stringify(wanted);
    ctx.live(wanted, heard, load);
  };
  let showViews = () => {};
  const filter = () => withQuery(location.search, { after: null });
  let filtered = filter();
  ctx.onQuery(async (state) => {
    if (filtered !== filter()) table.clear();
    filtered = filter();
    listen();
    bar.show();
    showViews();
    recount();
    await load();
    scrollTo(0, state?.y ?? 0);
  });
  listen();
  recount();
  views(ctx, viewsAt).then(
    (show) => (showViews = show),
    () => {},
  );
  await load();
}

// The flows there are, newest first.

import { get, p } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { count, duration, tail } from '../core/format.js';
import { setQuery, to } from '../core/router.js';
import { age, clock } from '../core/time.js';
import { newest, rereader } from '../ui/again.js';
import { stateBar } from '../ui/depth-bar.js';
import { dataTable } from '../ui/data-table.js';
import { empty, problemCard } from '../ui/empty.js';
import { head } from '../ui/head.js';
import { stateText, stateWord } from '../ui/state-mark.js';
import { filterBar } from '../ui/filter-bar.js';

const PAGE = 50;
const STATES = ['open', 'running', 'blocked', 'completed', 'failed', 'cancelled'];

const filters = [
  { param: 'state', label: 'State', closed: true, words: stateWord, options: () => STATES.map((value) => ({ value, label: stateWord(value) })) },
  { param: 'kind', label: 'Kind', one: true },
];

const tagsOf = ({ tags }) => Object.entries(tags).map(([key, value]) => h('span.tag', `${key}=${value}`));

const columns = [
  { id: 'state', head: 'State', width: '120px', phone: 'mark', cell: ({ state }) => stateText(state) },
  { id: 'kind', head: 'Flow', phone: 'title', cell: (flow) => [flow.flow_kind, ' ', h('span.mono', tail(flow.flow_id))] },
  { id: 'tags', head: '', cell: (flow) => h('span.row.gap4', tagsOf(flow)) },
  { id: 'members', head: 'Members', width: '220px', phone: 'line', cell: ({ counts }) => stateBar(counts.states) },
  { id: 'count', head: '', num: true, width: '130px', phone: 'end', cell: ({ counts }) => (counts.open ? `${count(counts.members - counts.open)} of ${count(counts.members)}` : count(counts.members)) },
  { id: 'age', head: 'Created', num: true, width: '90px', phone: 'top', sort: 'descending', cell: ({ created_at }) => age(created_at) },
  { id: 'took', head: 'Took', num: true, width: '90px', cell: ({ created_at, ended_at }) => (ended_at === undefined ? '' : duration(ended_at - created_at)) },
];

const command = (ns) => `curl ${location.origin}/v1/flows/graph -H 'Content-Type: application/json' -d '{"flow_kind":"hello","namespace":"${ns}","members":[{"key":"a","execution_kind":"demo.greet"}]}'`;

export async function page(ctx) {
  ctx.title('Flows');
  const table = dataTable({
    ctx, columns, label: 'Flows', key: ({ flow_id }) => flow_id, href: ({ flow_id }) => to(`/flows/${flow_id}`),
    empty: () => (filtered() ? empty({ says: 'Nothing matches.', filter: { label: 'Drop all filters', href: to('/flows') } }) : empty({ says: 'Graphs of executions that wait for each other are listed here.', command: command(ctx.ns) })),
  });
  const news = h('button.btn.small', { type: 'button', hidden: true, onclick: () => load() });
  const note = h('span.meta');
  const older = h('button.btn', { type: 'button', hidden: true, onclick: () => setQuery({ after: next }) }, 'Older');
  const first = h('button.btn', { type: 'button', hidden: true, onclick: () => setQuery({ after: null }) }, 'Newest');
  const ways = filterBar({ ctx, fields: filters });
  const pager = h('div.pager', { hidden: true }, first, older, h('span.grow'), note);
  const trouble = h('div');
  ctx.root.append(head({ title: 'Flows', beside: [news] }), ways.el, table.el, trouble, pager);

  let next = null;
  let shown = [];
  let unseen = 0;
  const filtered = () => ['state', 'kind'].some((name) => ctx.query.has(name));

  const ask = () => get('/flows', { namespace: ctx.ns, limit: PAGE, cursor: ctx.query.get('after'), kind: ctx.query.get('kind'), state: ctx.query.getAll('state') }, ctx);
  const read = newest(ask, (page) => {
    fill(trouble);
    shown = page.items;
    next = page.next;
    table.rows(shown);
    older.hidden = !next;
    older.textContent = next && shown.length < PAGE ? 'Look further' : 'Older';
    first.hidden = !ctx.query.has('after');
    note.textContent = next && shown.length < PAGE && page.looked_at ? `looked at ${count(page.looked_at)}, back to ${clock(page.reached_at)}: ${count(shown.length)} found` : '';
    pager.hidden = false;
    unseen = 0;
    news.hidden = true;
  });

  async function load() {
    ways.show();
    if (shown.length) table.dim(true);
    else table.loading(5);
    try {
      await read();
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      if (!problem.code) throw problem;
      shown = [];
      table.rows([]);
      table.loading(0);
      pager.hidden = true;
      fill(trouble, problemCard(problem, load));
    }
  }

  /** Rows on screen are read again; rows that would be new are counted. */
  const touched = rereader(async (ids) => {
    const gone = (problem) => {
      if (problem.status !== 404) throw problem;
    };
    const fresh = await Promise.all(ids.map((id) => get(p`/flows/${id}`, {}, ctx).catch(gone)));
    table.patch(fresh.filter(Boolean));
  }, PAGE, ctx.signal);

  ctx.live({}, ({ lines, skipped, back }) => {
    const here = new Set(shown.map(({ flow_id }) => flow_id));
    const known = new Set(skipped || back ? here : []);
    for (const { subject, flow_id, what } of lines) {
      const id = flow_id ?? subject.flow;
      if (id && here.has(id)) known.add(id);
      else if (what === 'flow_created' && !filtered()) unseen += 1;
    }
    touched(known);
    news.hidden = unseen === 0;
    news.textContent = `${count(unseen)} new · show`;
  }, load);
  ctx.onQuery(load);
  await load();
}

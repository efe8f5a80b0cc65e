// Filters under a name, kept on the server.

import { fill, h } from '../core/dom.js';
import { act, get, p } from '../core/api.js';
import { may, me } from '../core/role.js';
import { go, to } from '../core/router.js';
import { viewName, withQuery } from '../core/url.js';
import { icon } from './icons.js';
import { menu } from './menu.js';

const TRIES = 5;

/** Keeps a view under a name of its own; somebody else may have one that cannot be seen here. */
async function put(view, items, key) {
  const taken = items.filter(({ title }) => title !== view.title).map(({ name }) => name);
  for (let tried = 1; ; tried += 1) {
    const name = viewName(view.title, taken);
    try {
      return await act('PUT', p`/views/${name}`, view, { key: `${key}-${tried}` });
    } catch (problem) {
      if (problem.code !== 'already_exists' || tried === TRIES) throw problem;
      taken.push(name);
    }
  }
}

async function keep(ctx, items) {
  const { confirm } = await import('./act.js');
  const title = h('input', { maxlength: '80', required: true, id: 'view-title' });
  const shared = h('input', { type: 'checkbox' });
  const query = withQuery(location.search, { ns: null, view: null, after: null });
  return confirm({
    title: 'Keep this filter',
    label: 'Keep',
    hue: 'primary',
    body: [
      h('div.field', h('label', { for: 'view-title' }, 'Name'), title),
      h('p.ink2.mono', query || 'no filter'),
      may('set_lane_state') && h('label.row', shared, 'for everybody'),
    ],
    run: (key) => put({ namespace: ctx.ns, title: title.value.trim(), query, shared: shared.checked }, items, key),
  });
}

/** Fills `place` with the views there are; answers what shows again which one is looked at. */
export async function views(ctx, place) {
  if (!may('list_views')) return () => {};
  let items = [];
  const load = async () => {
    items = (await get('/views', { namespace: ctx.ns }, ctx)).items;
    show();
  };
  const address = (view) =>
    to('/executions').split('?')[0] + withQuery(view.query, { ns: new URLSearchParams(location.search).get('ns'), view: view.name });
  const drop = async (view) => {
    const { refused } = await import('./act.js');
    await act('DELETE', p`/views/${view.name}?namespace=${ctx.ns}`).catch(refused);
    await load();
  };
  const mine = () => items.filter((view) => may('list_keys') || (view.shared ? may('set_lane_state') : view.owner === me.get().key_name));
  const more = () => [
    {
      label: 'Keep this filter…',
      icon: 'plus',
      run: async () => {
        const view = await keep(ctx, items);
        if (!view) return;
        await load();
        go(address(view));
      },
    },
    ...mine().map((view) => ({ label: `Forget ${view.title}`, icon: 'close', run: () => drop(view) })),
  ];
  function show() {
    const now = ctx.query.get('view');
    const tab = (href, label, is) => h('a', { href, 'aria-current': is ? 'true' : null }, label);
    const add = may('put_view') && menu(h('button', { type: 'button', 'aria-label': 'Views' }, icon('plus')), more);
    fill(
      place,
      (items.length > 0 || add) &&
        h(
          'nav.seg.desk-only',
          { 'aria-label': 'Views' },
          tab(to('/executions'), 'Everything', !now),
          items.map((view) => tab(address(view), view.title, view.name === now)),
          add,
        ),
    );
  }
  await load();
  return show;
}

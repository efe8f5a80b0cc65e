// A list beside what is chosen in it. On a phone one of the two; a list whose first asks for somebody shows that on top.

import { fill, h, keyed } from '../core/dom.js';
import { go, to } from '../core/router.js';
import { chosen } from './chosen.js';
import { problemCard } from './empty.js';
import { head } from './head.js';
import { inPlace } from './places.js';

/**
 * `key(item)`, `name(item)`; `row(item)` makes what stands in the list; `pane(item)` → {el, update(item)} what stands beside it;
 * `find(id)` reads one that is not in the list; `none()` stands where nothing is; `urgent(item)`. `show(items)` draws them.
 */
export function splitPage(ctx, { title, path, acts = [], key, name, row, pane, find, none, urgent }) {
  let { params } = ctx;
  let items = [];
  let open = null;
  const order = inPlace(key);
  const list = h('nav.list', { 'aria-label': title });
  const bar = h('div.phone-bar');
  const place = h('div');
  const rest = h('div');
  const split = h('div.split', { 'data-show': 'list' }, h('div.pane-list', head({ title, acts }), list, rest), h('div.pane', bar, place));
  ctx.root.append(split);

  const range = () => ({ range: ctx.query.get('range') });
  const href = (item) => to(`${path}/${encodeURIComponent(key(item))}`, range());
  const make = (item) => h('a.split-row', { href: href(item), 'data-key': key(item) }, row(item));

  async function other() {
    const was = open?.key === params.id;
    const item = await find(params.id).catch((problem) => {
      if (problem.status !== 404 || !was) throw problem;
    });
    // What was here a moment ago is gone: back to the list.
    if (!item) go(to(path, range()), { replace: true });
    else if (!ctx.signal.aborted && key(item) === params.id) beside(item);
  }

  function beside(item) {
    split.dataset.show = params.id !== undefined ? 'pane' : item && urgent(item) ? 'both' : 'list';
    fill(bar, params.id !== undefined && item && head({ crumbs: [{ label: title, href: to(path, range()) }], title: name(item) }));
    ctx.title(item && params.id !== undefined ? name(item) : title);
    for (const link of list.children) {
      if (item && link.dataset.key === key(item)) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
    if (open && item && open.key === key(item)) return open.update(item);
    open = item ? { key: key(item), ...pane(item) } : null;
    fill(place, open?.el);
  }

  function draw() {
    keyed(list, items, key, make, (el, item) => {
      el.href = href(item);
      fill(el, row(item));
    });
    fill(rest, items.length === 0 && none());
    const item = chosen(items, key, params.id, open?.key);
    if (item || params.id === undefined) beside(item);
    else return other();
  }

  const move = (by) => {
    const onto = items[items.findIndex((item) => key(item) === open?.key) + by];
    if (onto) go(href(onto), { replace: params.id !== undefined });
  };
  ctx.keys({ j: ['Next', () => move(1)], k: ['Before', () => move(-1)], Down: [null, () => move(1)], Up: [null, () => move(-1)] });
  async function moved() {
    try {
      await draw();
    } catch (problem) {
      if (problem.name === 'AbortError') return;
      open = null;
      fill(place, problemCard(problem, moved));
    }
  }
  ctx.onQuery(async () => {
    await moved();
    open?.load?.();
  });
  ctx.onParams((next) => {
    params = next;
    moved();
  });

  return {
    show(next) {
      items = order(next);
      return draw();
    },
    /** The item that is shown beside the list. */
    get shown() { return open?.key; },
    pane: () => open,
  };
}

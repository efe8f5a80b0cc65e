// Choosing one view of several.

import { h } from '../core/dom.js';
import { count } from '../core/format.js';
import { setQuery } from '../core/router.js';

function choice(shape, items, chosen, picked) {
  const buttons = items.map(({ id, label, count: n }) =>
    h('button', { type: 'button', role: 'tab', onclick: () => pick(id) }, label, n != null && h('span.ink3', ` ${count(n)}`)),
  );
  const el = h(`div.${shape}`, { role: 'tablist' }, buttons);
  const place = () => items.findIndex(({ id }) => id === chosen);
  el.select = (id) => {
    chosen = id;
    buttons.forEach((button, i) => {
      button.setAttribute('aria-selected', String(i === place()));
      button.tabIndex = i === Math.max(0, place()) ? 0 : -1;
    });
  };
  const pick = (id) => {
    el.select(id);
    picked(id);
  };
  el.step = (by) => pick(items[(place() + by + items.length) % items.length].id);
  el.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    el.step(by);
    buttons[place()].focus();
  });
  el.select(chosen);
  return el;
}

/** Tabs over a pane: `[{id, label, count?}]`. `select(id)` shows another one as chosen, `step(1)` chooses the next. */
export const tabs = (items, current, picked) => choice('tabs', items, current, picked);

/** A switch of a few words. */
export const seg = (items, current, picked) => choice('seg', items, current, picked);

/** How much of the past is shown, in the address: of `{id: [label, …]}` one is `usual`. `now()` is what the address says, `choice` a switch that shows it. */
export function ranges(ctx, all, usual) {
  const id = () => (Object.hasOwn(all, ctx.query.get('range')) ? ctx.query.get('range') : usual);
  const items = Object.entries(all).map(([id, [label]]) => ({ id, label }));
  const el = seg(items, id(), (id) => setQuery({ range: id === usual ? null : id }, { replace: true }));
  return {
    choice: el,
    now() {
      el.select(id());
      return all[id()];
    },
  };
}

// Parts of a page keep their places while somebody looks: what there is more of waits behind a button.

import { h } from '../core/dom.js';
import { count } from '../core/format.js';

/** Orders items: those that were there stay in their order, and what is new comes behind them. */
export function inPlace(keyOf) {
  let known = new Map();
  return (items) => {
    const at = (item) => known.get(keyOf(item)) ?? known.size;
    const all = items.toSorted((a, b) => at(a) - at(b));
    known = new Map(all.map((item, i) => [keyOf(item), i]));
    return all;
  };
}

/**
 * Keeps the heights of `parts`, each `{el, rows()}`, from when they are first drawn. `settle()` is called after each drawing: rows that have no
 * place then are counted on `button`, which makes room for them.
 */
export function places(ctx, parts) {
  const button = h('button.btn.small.h-blue.hue.fresh', { type: 'button', hidden: true });
  const heights = new Map();

  function settle() {
    let waiting = 0;
    for (const { el, rows } of parts) {
      if (!heights.has(el)) heights.set(el, el.offsetHeight);
      el.style.height = `${heights.get(el)}px`;
      const end = el.getBoundingClientRect().bottom + 1;
      let left = 0;
      for (const row of rows()) {
        row.inert = row.getBoundingClientRect().bottom > end;
        if (row.inert) left += 1;
      }
      el.classList.toggle('cut-off', left > 0);
      waiting += left;
    }
    button.hidden = waiting === 0;
    button.textContent = `${count(waiting)} new · show`;
  }

  function anew() {
    if (heights.size === 0) return;
    heights.clear();
    for (const { el } of parts) el.style.height = '';
    settle();
  }

  button.addEventListener('click', anew);
  // Lines break elsewhere in a window of another width.
  addEventListener('resize', anew, { signal: ctx.signal });
  return { button, settle };
}

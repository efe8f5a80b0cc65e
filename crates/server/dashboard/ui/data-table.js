// Rows of a list: they stay where they are while they change, and are reached by keys.

import { fill, h, keyed } from '../core/dom.js';
import { signal } from '../core/store.js';
import { go } from '../core/router.js';
import { copy, skeleton } from './empty.js';

const SELECTED_MAX = 1_000;

function headOf(column) {
  const props = {
    scope: 'col',
    class: column.num ? 'num' : '',
    'data-phone': column.phone ?? 'none',
    'data-wide': column.wide,
    'data-desk': column.desk,
    'aria-sort': column.sort,
  };
  const el = h('th', props, column.head);
  if (column.width) el.style.width = column.width;
  return el;
}

/** See core/main.js for `ctx`; columns are `{id, head, num, cell(item), width, phone, wide, desk, sort, flash}`;
 * `phone` says where it stands on a phone, `wide` that it needs a wide window, `desk: 'none'` that it is for phones alone. */
export function dataTable({ ctx, columns, key, href, select = false, label, empty }) {
  const selected = new Map();
  const changed = signal(selected);
  const main = columns.find((column) => column.phone === 'title') ?? columns[0];
  let items = [];
  let last = null;

  const cellOf = (column, item) => {
    const inside = column.cell(item);
    const link = column === main && href ? h('a.row-link', { href: href(item) }, inside) : inside;
    const props = {
      class: column.num ? 'num' : '',
      'data-phone': column.phone ?? 'none',
      'data-wide': column.wide,
      'data-desk': column.desk,
      scope: column === main ? 'row' : null,
    };
    return h(column === main ? 'th' : 'td', props, link);
  };

  const boxOf = (id) => {
    const box = h('input', { type: 'checkbox', 'aria-label': 'Select', checked: selected.has(id) });
    return h('td.pick', { 'data-phone': 'none' }, box);
  };

  const rowOf = (item) => {
    const id = key(item);
    const row = h('tr', { 'data-key': id, 'aria-selected': select ? String(selected.has(id)) : null });
    row.append(...(select ? [boxOf(id)] : []), ...columns.map((column) => cellOf(column, item)));
    row.item = item;
    return row;
  };

  const update = (row, item) => {
    if (row.item === item) return;
    row.item = item;
    if (selected.has(row.dataset.key)) selected.set(row.dataset.key, item);
    columns.forEach((column, i) => {
      const before = row.children[i + (select ? 1 : 0)];
      const after = cellOf(column, item);
      if (before.isEqualNode(after)) return;
      const differs = column.flash && before.textContent !== after.textContent;
      // The link stays the same element: whoever is at it stays there.
      const link = before.querySelector(':scope > .row-link');
      if (link) {
        link.href = after.firstChild.href;
        link.replaceChildren(...after.firstChild.childNodes);
      } else before.replaceChildren(...after.childNodes);
      if (differs) flash(before);
    });
  };

  const body = h('tbody');
  const all = h('input', { type: 'checkbox', 'aria-label': 'Select all of this page', onchange: () => pickAll(all.checked) });
  const table = h(
    'table.grid',
    { 'aria-label': label },
    h('thead', h('tr', select && h('th.pick', { 'data-phone': 'none' }, all), columns.map(headOf))),
    body,
  );
  const rest = h('div');
  const el = h('div.table', table, rest);

  const rows = () => [...body.children];
  const at = () => document.activeElement?.closest('tr[data-key]');
  const focusRow = (row) => (row?.querySelector('.row-link') ?? row?.querySelector('button, input'))?.focus();
  const move = (by) => focusRow(at() ? rows()[rows().indexOf(at()) + by] : rows()[0]);

  const pick = (row, on) => {
    const id = row.dataset.key;
    if (on && selected.size < SELECTED_MAX) selected.set(id, row.item);
    else selected.delete(id);
    row.setAttribute('aria-selected', String(selected.has(id)));
    row.querySelector('.pick input').checked = selected.has(id);
  };
  const settle = () => {
    all.checked = items.length > 0 && items.every((item) => selected.has(key(item)));
    changed.set(selected);
  };
  const pickAll = (on) => {
    for (const row of rows()) pick(row, on);
    settle();
  };
  const toggle = (row, range) => {
    if (!row) return;
    const on = !selected.has(row.dataset.key);
    const from = range && last ? rows().indexOf(last) : -1;
    const to = rows().indexOf(row);
    for (const one of from < 0 ? [row] : rows().slice(Math.min(from, to), Math.max(from, to) + 1)) pick(one, on);
    last = row;
    settle();
  };

  body.addEventListener('click', (event) => {
    const row = event.target.closest('tr[data-key]');
    if (!row || event.target.closest('a, button')) return;
    if (event.target.closest('.pick')) {
      if (!event.target.matches('input')) event.preventDefault();
      toggle(row, event.shiftKey);
    } else if (href && !String(getSelection())) go(href(row.item));
  });
  ctx.keys({
    j: ['Next row', () => move(1)],
    k: ['Row before', () => move(-1)],
    Down: [null, () => move(1)],
    Up: [null, () => move(-1)],
    y: ['Copy the id', () => at() && copy(at().dataset.key)],
    ...(select && {
      x: ['Select', () => toggle(at())],
      X: ['Select up to here', () => toggle(at(), true)],
      '*': ['Select all of this page', () => pickAll(true)],
      Esc: ['Select none', () => clear()],
    }),
  });
  const clear = () => {
    selected.clear();
    pickAll(false);
  };

  return {
    el,
    selected,
    clear,
    onselect: (fn) => changed.on(fn, ctx.signal),
    focus: (id) => focusRow(rows().find((row) => row.dataset.key === id)),
    dim: (on) => el.classList.toggle('dim', on),
    // Without its head, so that nothing moves when there turns out to be nothing.
    loading(n) {
      table.hidden = items.length === 0;
      fill(rest, n > 0 && skeleton(n));
    },
    rows(next) {
      items = next;
      keyed(body, next, key, rowOf, update);
      el.classList.remove('dim');
      fill(rest, next.length === 0 && empty?.());
      table.hidden = next.length === 0 && Boolean(empty);
      settle();
    },
    patch(some) {
      const fresh = new Map(some.map((item) => [key(item), item]));
      items = items.map((item) => fresh.get(key(item)) ?? item);
      keyed(body, items, key, rowOf, update);
    },
  };
}

/** Shows once that a value is another one. */
export function flash(el) {
  el.classList.remove('flash');
  requestAnimationFrame(() => el.classList.add('flash'));
}

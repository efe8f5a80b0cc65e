// A filter as chips: it writes the address and nothing else.

import { fill, h, keyed, plain, text } from '../core/dom.js';
import { get } from '../core/api.js';
import { may } from '../core/role.js';
import { namespace, setQuery } from '../core/router.js';
import { clock } from '../core/time.js';
import { icon } from './icons.js';
import { menu, popup } from './menu.js';

/** Names the server knows, for a menu; none where it cannot say. */
export const names = (of) => async () =>
  may('names') ? (await get('/names', { of, namespace: namespace() })).items.map((value) => ({ value, label: value })) : [];

const AGOS = [['15 m ago', 15], ['1 h ago', 60], ['24 h ago', 1_440], ['7 d ago', 10_080]];

/** A field that is a moment. */
export const moment = {
  one: true,
  closed: true,
  words: (ms) => (Number(ms) ? clock(Number(ms)) : ms),
  options: () => AGOS.map(([label, m]) => ({ value: String(Date.now() - m * 60_000), label })),
};

/** Lets somebody choose values of a field, or type one; `done(values)` when the menu closes on another choice. */
function choose(anchor, field, chosen, done) {
  const picked = new Set(chosen);
  const list = h('div.menu');
  const input = h('input', { type: 'search', placeholder: field.hint ?? field.label, 'aria-label': field.label, maxlength: '256' });
  const settle = () => {
    close();
    done([...picked]);
  };
  const option = ({ value, label }) => {
    const box = h('span.tick', picked.has(value) && icon('check'));
    const flip = () => {
      if (!picked.delete(value)) picked.add(value);
      if (field.one) for (const other of picked) if (other !== value) picked.delete(other);
      if (field.one) settle();
      fill(box, picked.has(value) && icon('check'));
    };
    return h('button', { type: 'button', onclick: flip }, box, h('span.grow.cut', label));
  };
  const submit = (event) => {
    event.preventDefault();
    if (input.value.trim()) picked.add(input.value.trim());
    settle();
  };
  const form = h('form.stack', { onsubmit: submit }, !field.closed && input, list, h('button.btn.small', 'Apply'));
  const close = popup(anchor, form);
  (field.closed ? form.lastChild : input).focus();
  Promise.resolve(field.options?.() ?? []).then(
    (options) => {
      const own = chosen.filter((value) => !options.some((one) => one.value === value)).map((value) => ({ value, label: value }));
      const all = [...own, ...options];
      const show = () => fill(list, all.filter(({ label }) => label.includes(input.value)).map(option));
      input.addEventListener('input', show);
      show();
      if (field.closed && form.contains(document.activeElement)) list.querySelector('button')?.focus();
    },
    () => {},
  );
}

/** Tags are parameters of their own, one for each key. */
function tagFields(query) {
  const names = new Set([...query.keys()].filter((name) => name.startsWith('tag.')));
  return [...names].map((param) => ({ param, label: param.slice(4) }));
}

/**
 * `fields: [{param, label, options?, one?, closed?, quiet?}]`, a quiet one is there if the address has it; `tags` offers tags, too. `changed` names parameters that a new filter
 * makes meaningless, as the place in a list.
 */
export function filterBar({ ctx, fields, tags = false, forget = ['after'] }) {
  const el = h('div.chips');
  const gone = Object.fromEntries(forget.map((name) => [name, null]));
  const write = (param, values) => setQuery({ ...gone, [param]: values });
  const chip = (field) => {
    const said = h('b.cut');
    const values = () => ctx.query.getAll(field.param);
    const change = () => choose(button, field, values(), (chosen) => write(field.param, chosen));
    const button = h('button.chip', { type: 'button', onclick: change }, field.label, said);
    const drop = () => {
      add.focus();
      write(field.param, []);
    };
    const el = h('span.chip-group', button, h('button.chip', { type: 'button', 'aria-label': `Drop ${field.label}`, onclick: drop }, icon('close')));
    el.show = () => {
      const labels = values().map((value) => field.words?.(value) ?? value).join(', ');
      button.title = plain(labels);
      text(said, labels);
    };
    el.show();
    return el;
  };
  const addTag = () => ({
    label: 'tag',
    hint: 'key=value',
    one: true,
    add: ([text]) => text?.includes('=') && write(`tag.${text.slice(0, text.indexOf('='))}`, [text.slice(text.indexOf('=') + 1)]),
  });
  const add = h('button.chip.add', { type: 'button' }, icon('plus'), 'filter', h('kbd.desk-only', 'F'));
  menu(add, () =>
    [...fields.filter(({ param, quiet }) => !quiet && !ctx.query.has(param)), ...(tags ? [addTag()] : [])].map((field) => ({
      label: field.label,
      run: () => choose(add, field, [], (chosen) => (field.add ? field.add(chosen) : write(field.param, chosen))),
    })),
  );
  ctx.keys({ f: ['Filter', () => add.click()] });
  const rest = h('span.grow');
  // Chips that stay are the same elements, so that whoever uses one keeps the focus.
  const show = () => {
    const chips = [...fields.filter(({ param }) => ctx.query.has(param)), ...tagFields(ctx.query)];
    keyed(el, [...chips, add, rest], (item) => item.param ?? item, (item) => (item.param ? chip(item) : item), (el) => el.show?.());
  };
  show();
  return { el, show, beside: (node) => fill(rest, node) };
}

// Elements are made here and nowhere else, and text gets in as text alone.

const SVG = 'http://www.w3.org/2000/svg';
// Control characters but tab and line ends, and everything that turns the direction of writing.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text in which nothing is hidden: what has no shape is shown as its number. */
export function plain(value) {
  const text = String(value);
  return text.replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

function put(el, name, value) {
  if (value == null || value === false) return;
  if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
  else if (name === 'class') el.classList.add(...String(value).split(' ').filter(Boolean));
  else if (name === 'value' || name === 'checked') el[name] = value;
  else el.setAttribute(name, value === true ? '' : plain(value));
}

function add(el, children) {
  for (const child of children) {
    if (child == null || child === false) continue;
    if (Array.isArray(child)) add(el, child);
    else el.append(child instanceof Node ? child : plain(child));
  }
}

function build(make, what, props, children) {
  const [tag, ...classes] = what.split('.');
  const el = make(tag);
  if (classes.length > 0) el.classList.add(...classes);
  const bare = props == null || typeof props !== 'object' || props instanceof Node || Array.isArray(props);
  if (!bare) for (const [name, value] of Object.entries(props)) put(el, name, value);
  add(el, bare ? [props, ...children] : children);
  return el;
}

/** `h('a.btn.small', {href}, 'Open')`: an element with its classes; the properties may be left out. */
export const h = (what, props, ...children) => build((tag) => document.createElement(tag), what, props, children);

/** The same for SVG. */
export const s = (what, props, ...children) => build((tag) => document.createElementNS(SVG, tag), what, props, children);

/** Replaces what is inside. */
export function fill(el, ...children) {
  el.replaceChildren();
  add(el, children);
  return el;
}

/** Sets the text if it is another one, so that a selection in it survives. */
export function text(el, value) {
  const shown = plain(value ?? '');
  if (el.textContent !== shown) el.textContent = shown;
  return el;
}

export const $ = (selector, root = document) => root.querySelector(selector);

/** Where in a list the most numbers stand that rise; those below nothing are no numbers. */
export function rising(list) {
  const ends = [];
  const before = [];
  list.forEach((n, i) => {
    if (n < 0) return;
    const length = ends.findLastIndex((end) => list[end] < n) + 1;
    before[i] = ends[length - 1];
    ends[length] = i;
  });
  const found = new Set();
  for (let i = ends.at(-1); i !== undefined; i = before[i]) found.add(i);
  return found;
}

/** Elements by key: those that stay are the same elements, in the order of the items. No more are moved than must be: what moves loses the focus. */
export function keyed(parent, items, keyOf, make, update) {
  const before = parent.keyedBy ?? new Map();
  const after = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const el = before.get(key);
    if (el) update?.(el, item);
    after.set(key, el ?? make(item));
    before.delete(key);
  }
  for (const el of before.values()) el.remove();
  parent.keyedBy = after;
  const places = new Map([...parent.childNodes].map((el, i) => [el, i]));
  const all = [...after.values()];
  const stays = rising(all.map((el) => places.get(el) ?? -1));
  let place = parent.firstChild;
  all.forEach((el, i) => {
    if (el === place || stays.has(i)) place = el.nextSibling;
    else parent.insertBefore(el, place);
  });
}

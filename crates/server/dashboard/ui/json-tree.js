// JSON as a tree that is made as far as it is opened. Numbers stand as in the source, and keys in its order, also those given twice.

import { h, plain } from '../core/dom.js';
import { bytes, count } from '../core/format.js';

const PAGE = 100;
const STRING = 2_048;

/** A number as it stands in the source. */
class Figure {
  constructor(text) {
    this.text = text;
  }
}

/** An object as `[key, value]` entries. */
class Entries {
  constructor(list) {
    this.list = list;
  }
}

/** Reads one JSON document; throws a SyntaxError where it is none. */
export function readJson(source) {
  let at = 0;
  const token = /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;
  const fail = () => {
    throw new SyntaxError(`not JSON at ${at}`);
  };
  const next = () => {
    token.lastIndex = at;
    const found = token.exec(source) ?? fail();
    at = token.lastIndex;
    return found;
  };
  const list = (close, item) => {
    const items = [];
    let before = at;
    if (next()[1] === close) return items;
    at = before;
    for (;;) {
      items.push(item());
      const [, mark] = next();
      if (mark === close) return items;
      if (mark !== ',') fail();
    }
  };
  const value = (depth) => {
    const [, mark, string, figure, word] = next();
    if (string) return JSON.parse(string);
    if (figure) return new Figure(figure);
    if (word) return JSON.parse(word);
    if (depth > 500) fail();
    if (mark === '[') return list(']', () => value(depth + 1));
    if (mark !== '{') return fail();
    return new Entries(list('}', () => {
      const [, , key] = next();
      if (!key || next()[1] !== ':') fail();
      return [JSON.parse(key), value(depth + 1)];
    }));
  };
  const whole = value(0);
  if (source.slice(at).trim() !== '') fail();
  return whole;
}

const children = (value) => (value instanceof Entries ? value.list : Array.isArray(value) ? value.map((item, i) => [i, item]) : null);

function leaf(value) {
  if (value instanceof Figure) return h('span.j-num', value.text);
  if (typeof value !== 'string') return h('span.j-word', String(value));
  const shown = h('span.j-str', `"${value.slice(0, STRING)}${value.length > STRING ? '…' : '"'}`);
  if (value.length <= STRING) return shown;
  const all = h('button.btn.small.ghost', { onclick: () => {
    shown.textContent = plain(`"${value}"`);
    all.remove();
  } }, `all of it, ${bytes(value.length)}`);
  return [shown, ' ', all];
}

/** What a closed branch says of itself: `{4} name, total …`. */
function gist(value, inside) {
  if (!(value instanceof Entries)) return `[${count(inside.length)}]`;
  const keys = inside.slice(0, 4).map(([key]) => key).join(', ');
  return `{${inside.length}} ${keys.length > 60 ? `${keys.slice(0, 60)}…` : keys}${inside.length > 4 ? ', …' : ''}`;
}

function branch(name, value, inside, open) {
  const body = h('ul.j-list');
  const fold = h('details', { open }, h('summary', name, h('span.ink3', gist(value, inside))), body);
  const more = (from) => {
    body.append(...inside.slice(from, from + PAGE).map(([key, child]) => h('li', node(key, child))));
    if (inside.length <= from + PAGE) return;
    const rest = h('li', h('button.btn.small.ghost', { onclick: () => {
      rest.remove();
      more(from + PAGE);
    } }, `${count(Math.min(PAGE, inside.length - from - PAGE))} more of ${count(inside.length - from - PAGE)}`));
    body.append(rest);
  };
  if (open) more(0);
  else fold.addEventListener('toggle', () => body.firstChild ?? more(0), { once: true });
  return fold;
}

function node(key, value, open = false) {
  const name = key === undefined ? null : h('span.j-key', `${key}: `);
  const inside = children(value);
  return inside?.length ? branch(name, value, inside, open) : [name, inside ? (value instanceof Entries ? '{}' : '[]') : leaf(value)];
}

/** A tree of a document that `readJson` gave; its first branch is open. */
export const jsonTree = (value) => h('div.json', node(undefined, value, true));

/** A flat object as `[key, text]`, for a list of fields; null for everything else. */
export function flatFields(value) {
  const entries = value instanceof Entries && value.list.length <= 40 ? value.list : null;
  if (!entries || entries.some(([, child]) => children(child) || (typeof child === 'string' && child.length > STRING))) return null;
  return entries.map(([key, child]) => [key, child instanceof Figure ? child.text : String(child)]);
}

/** What stands under a key of an object. */
export const member = (value, key) => (value instanceof Entries ? value.list.find(([name]) => name === key)?.[1] : undefined);

/** The document as text, a line for each value. */
export function writeJson(value, indent = '') {
  const deeper = `${indent}  `;
  const block = (open, lines, close) => (lines.length ? `${open}\n${lines.map((line) => deeper + line).join(',\n')}\n${indent}${close}` : open + close);
  if (value instanceof Figure) return value.text;
  if (value instanceof Entries) return block('{', value.list.map(([key, child]) => `${JSON.stringify(key)}: ${writeJson(child, deeper)}`), '}');
  return Array.isArray(value) ? block('[', value.map((child) => writeJson(child, deeper)), ']') : JSON.stringify(value);
}

// Bytes of a user, shown and never run: JSON as a tree, text as text, everything else in hex.

import { fill, h, plain } from '../core/dom.js';
import { bytes } from '../core/format.js';
import { copyButton } from './empty.js';
import { icon } from './icons.js';
import { jsonTree, readJson } from './json-tree.js';
import { seg } from './tabs.js';

const TREE = 1_048_576;
const TEXT = 262_144;
const HEX = 4_096;

function hexOf(data) {
  const lines = [];
  for (let at = 0; at < Math.min(data.length, HEX); at += 16) {
    const row = [...data.subarray(at, at + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ').padEnd(48);
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${digits} ${letters}`);
  }
  return lines.join('\n');
}

/** The text, if the bytes are one that people can read. */
function textOf(data) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(data);
    return text.includes('\u0000') ? null : text;
  } catch {
    return null;
  }
}

function treeOf(text, data, type) {
  if (text === null || data.length > TREE || !/json/.test(type)) return null;
  try {
    return readJson(text);
  } catch {
    return null;
  }
}

/** Text by pages of 256 KiB. */
function textPages(text) {
  const body = h('pre.bytes');
  const el = h('div', body);
  let shown = 0;
  const more = () => {
    body.append(plain(text.slice(shown, shown + TEXT)));
    shown += TEXT;
    el.lastChild.remove();
    el.append(body, shown < text.length ? h('button.btn.small', { onclick: more }, `more, ${bytes(text.length - shown)} left`) : '');
  };
  more();
  return el;
}

function search(pane) {
  const field = h('input.small', { type: 'search', placeholder: 'Search here', 'aria-label': 'Search in what is shown' });
  field.addEventListener('input', () => {
    const wanted = field.value.toLowerCase();
    const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    while (wanted && walker.nextNode()) {
      const at = walker.currentNode.data.toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + wanted.length);
      walker.currentNode.parentElement.scrollIntoView({ block: 'nearest' });
      if (globalThis.Highlight) CSS.highlights.set('found', new Highlight(range));
      return;
    }
    globalThis.CSS?.highlights?.delete('found');
  });
  return field;
}

/** Saves bytes under a name, whatever they are: nothing here is ever opened. */
function save(data, name) {
  const url = URL.createObjectURL(new Blob([data], { type: 'application/octet-stream' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** What `data` says; `type` is what the server calls it, `name` a file's name to save it under. */
export function bytesView(data, type = '', name = 'payload') {
  const text = textOf(data);
  const tree = treeOf(text, data, type);
  const ways = [tree !== null && 'Tree', text !== null && 'Text', 'Hex'].filter(Boolean);
  const pane = h('div.bytes-pane', { tabindex: 0 });
  const show = (way) => fill(pane, way === 'Tree' ? jsonTree(tree) : way === 'Text' ? textPages(text) : h('pre.bytes', hexOf(data)));
  show(ways[0]);
  const field = search(pane);
  pane.addEventListener('keydown', (event) => {
    if (event.key !== '/') return;
    event.preventDefault();
    event.stopPropagation();
    field.focus();
  });
  const choose = ways.length > 1 ? seg(ways.map((way) => ({ id: way, label: way })), ways[0], show) : null;
  const raw = h('button.btn.small', { onclick: () => save(data, name) }, icon('down'), 'Raw');
  const bar = h('div.row.wrap', choose, h('span.meta', bytes(data.length)), h('span.grow'), copyButton(text ?? hexOf(data)), raw, field);
  return h('div.bytes-view', bar, pane);
}

/** The same for an answer of the API that is bytes. */
export async function responseView(response, name) {
  return bytesView(new Uint8Array(await response.arrayBuffer()), response.headers.get('content-type') ?? '', name);
}

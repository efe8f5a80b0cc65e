// A row of the timeline: a step with its bars, how long it took, and what it cost.

import { h, plain, text } from '../core/dom.js';
import { amount, duration } from '../core/format.js';
import { clock } from '../core/time.js';
import { mark } from '../ui/state-mark.js';
import { bar, place } from './axis.js';

const SHAPES = { wait: 'suspended', sleep: 'delayed', spawn: 'waiting_children' };
const STATES = { done: 'completed', failed: 'failed', active: 'active', started: 'active', lost: 'expired', waiting: 'suspended' };
const WORDS = {
  active: 'under way',
  started: 'begun',
  lost: 'lost with its worker',
  wait: 'waited, no lease held',
  sleep: 'slept, no lease held',
  spawn: 'spawned another execution',
};

/** Puts marks into a cell, keeping the elements that are there: each `{x, width?, cls, text?, title?}`. */
export function marks(cell, list) {
  while (cell.childElementCount > list.length) cell.lastChild.remove();
  list.forEach(({ x, width, cls, text: said = '', title = '' }, i) => {
    const el = cell.children[i] ?? cell.appendChild(h('i'));
    if (el.className !== cls) el.className = cls;
    // What is moved so does not count as moving by itself: time goes on.
    el.style.transform = `translateX(${x}px)`;
    el.style.width = width === undefined ? '' : `${width}px`;
    text(el, said);
    if (el.title !== plain(title)) el.title = plain(title);
  });
}

/** Which symbol a row has. */
function symbol(row) {
  if (row.kind === 'wait' || row.kind === 'sleep') return SHAPES[row.kind];
  if (row.kind === 'spawn') return row.step?.child?.public_state ?? SHAPES.spawn;
  return STATES[row.state] ?? 'waiting';
}

/** Who ended a wait, as its signal says: "approved by ana". */
function answered(row, signals) {
  const bar = row.bars.at(-1);
  if (row.kind !== 'wait' || bar.open) return '';
  if (bar.by && bar.by !== 'signals') return bar.by === 'operator' ? 'resumed by an operator' : 'timed out';
  const found = signals.findLast(({ at, detail }) => at <= bar.to && at >= bar.from && detail.includes(` at ${row.key}, from `));
  return found ? found.detail.replace(` at ${row.key}, from `, ' by ') : '';
}

function barMarks(row, { scale, unit, signals }) {
  const bars = row.bars.map((part) => ({ ...bar(scale, part.from, part.to),
    cls: `tl-bar ${part.state}${row.usage[unit] ? ' paid' : ''}`,
    title: `${WORDS[part.state] ?? part.state}, ${clock(part.from)}, ${duration(part.to - part.from)}` }));
  const rings = row.rings.map((at) => ({ x: place(scale, at), cls: 'tl-ring', title: `answered from the journal at ${clock(at)}` }));
  const said = answered(row, signals);
  const last = bars.at(-1);
  const free = Math.min(scale.width, ...rings.map(({ x }) => x).filter((x) => x > last.x)) - last.x - last.width;
  const beside = said && free > said.length * 6.2 ? [{ x: last.x + last.width + 6, cls: 'tl-said', text: said }] : [];
  return [...bars, ...beside, ...rings];
}

/** What a cell says to who hears it. */
function heard(row, unit) {
  const [first] = row.bars;
  const cost = unit && row.usage[unit] ? `, cost ${amount(unit, row.usage[unit])}` : '';
  const again = row.rings.length ? `, answered from the journal ${row.rings.length === 1 ? 'once' : `${row.rings.length} times`}` : '';
  const lost = row.bars.some((part) => part.state === 'lost') ? ', lost with its worker once' : '';
  return `began ${clock(first.from)}, took ${duration(row.took)}${cost}${again}${lost}`;
}

/** The table row of a step; `tr.show(about, row)` brings it up to date. */
export function stepRow(about, row) {
  const sign = h('span');
  const name = h('button.tl-step.mono', { type: 'button' });
  const axis = h('td.tl-axis');
  const took = h('td.num');
  const meter = h('i');
  const cost = h('b');
  const tr = h('tr', h('th', { scope: 'row' }, h('div.tl-name', sign, name)), axis, took, h('td.tl-cost', h('span.tl-meter', meter), cost));
  let shown = '';
  let now = { about, row };
  tr.addEventListener('click', () => now.about.pick(now.row));
  tr.show = (about, row) => {
    now = { about, row };
    const shape = symbol(row);
    if (shown !== shape) sign.replaceChildren(mark(shape, shape.replaceAll('_', ' ')));
    shown = shape;
    text(name, row.of ? `${row.open ? '▾' : '▸'} ${row.key} ×${row.of}` : row.key);
    name.title = plain(row.key);
    marks(axis, barMarks(row, about));
    axis.setAttribute('aria-label', plain(heard(row, about.unit)));
    text(took, row.kind === 'spawn' ? '' : row.state === 'started' && row.took === 0 ? '…' : row.state === 'lost' ? '–' : duration(row.took));
    took.classList.toggle('h-violet', row.kind === 'wait');
    const spent = row.usage[about.unit] ?? 0;
    meter.style.width = spent ? `${Math.max(4, (100 * spent) / about.dearest)}%` : '0';
    text(cost, spent ? amount(about.unit, spent) : row.state === 'active' ? '…' : '');
    tr.classList.toggle('active', row.state === 'active');
    tr.classList.toggle('inside', Boolean(row.inside));
    tr.classList.toggle('again', about.again !== null && row.seq !== undefined && row.seq >= about.again);
    tr.setAttribute('aria-selected', String(!row.of && row.key === about.selected));
  };
  tr.show(about, row);
  return tr;
}

/** Room for rows that are not in view. */
export function spacer(row) {
  const tr = h('tr', { 'aria-hidden': 'true' }, h('td', { colspan: 4 }));
  tr.show = (_, { room }) => {
    tr.firstChild.style.height = `${room}px`;
  };
  tr.show(null, row);
  return tr;
}

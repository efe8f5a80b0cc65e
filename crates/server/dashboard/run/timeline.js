// The timeline of a run: attempts and steps over an axis that folds long gaps.

import { fill, h, keyed, s, text } from '../core/dom.js';
import { count, duration, isMoney } from '../core/format.js';
import { clock } from '../core/time.js';
import { seg } from '../ui/tabs.js';
import { axis, place, ticks, total, union } from './axis.js';
import { attemptMarks, backdrop, headings } from './backdrop.js';
import { foldRows } from './intervals.js';
import { marks, spacer, stepRow } from './steps.js';

const ROW = 30;
const LONG = 80;
const LEAST = 5;
const MOST = 11;
const SPARE = 3;
/** How far the clock shown is ahead of UTC. */
const ahead = (at) => (document.documentElement.dataset.theme?.split(' ').includes('utc') ? 0 : -new Date(at).getTimezoneOffset() * 60_000);

/** The dimensions that steps cost, money first. */
function unitsOf(rows) {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row.usage)))];
  return [...all.filter(isMoney), ...all.filter((dimension) => !isMoney(dimension))].slice(0, 4);
}

/**
 * The card with the timeline. `show(data)` takes what `intervals` gives; `select(key)` marks a row; `again(seq)` those that a replay
 * would run again (null: none). `onpick(row)` is told which step was clicked, `onscale(folded)` which scale is wanted.
 */
export function timeline({ onpick, onscale, signal }) {
  const back = s('svg.tl-back', { 'aria-hidden': 'true' });
  const heads = h('div.tl-heads');
  const lane = h('div.tl-axis');
  const body = h('tbody');
  const gist = h('span.meta.grow.cut.desk-only');
  const units = h('span.desk-only');
  const costHead = h('th.num.tl-cost', { scope: 'col' });
  const table = h('table.tl-table',
    h('caption.unseen', 'Steps with when they began, how long they took and what they cost'),
    h('thead',
      h('tr', h('th.tl-name', { scope: 'col' }, h('span.unseen', 'Step')), h('th', { scope: 'col' }, heads), h('th.num.tl-took', { scope: 'col' }, 'took'), costHead),
      h('tr.tl-attempts', h('th', { scope: 'row' }, 'Attempts'), h('td', lane), h('td'), h('td.tl-cost'))),
    body);
  const scroll = h('div.tl-scroll', { tabindex: -1 }, back, table);
  const scaleSeg = seg([{ id: 'folded', label: 'Gaps folded' }, { id: 'true', label: 'True scale' }], 'folded', (id) => onscale(id === 'folded'));
  const legend = h('div.tl-legend.meta');
  const el = h('section.card.tl', { 'aria-label': 'Timeline' },
    h('div.card-head.wrap', h('h2', 'Timeline'), gist, h('span.grow.phone-only'), h('span.desk-only', scaleSeg), units, h('span.ink2.phone-only', 'gaps folded')),
    scroll, legend);

  const state = { data: null, folded: true, unit: null, units: '', open: new Set(), selected: null, again: null, rows: null };
  let rows = [];
  let dearest = 0;
  // How many rows were drawn last; nothing was yet.
  let known = 0;

  function rescale(folded) {
    if (state.folded === folded) return;
    state.folded = folded;
    scaleSeg.select(folded ? 'folded' : 'true');
    draw();
  }

  function pick(row) {
    if (row.of) {
      if (!state.open.delete(row.key)) state.open.add(row.key);
      take();
      draw();
    } else onpick(row);
  }

  /** What follows from the rows alone, which time does not change. */
  function take() {
    if (state.rows !== state.data.rows) chooseUnits(state.data.rows);
    state.rows = state.data.rows;
    rows = foldRows(state.rows, 200, state.open);
    dearest = state.rows.reduce((most, row) => Math.max(most, row.usage[state.unit] ?? 0), 0);
    keys(rows);
  }

  function chooseUnits(rows) {
    const found = unitsOf(rows);
    if (!found.includes(state.unit)) state.unit = found[0] ?? null;
    el.classList.toggle('no-cost', found.length === 0);
    text(costHead, !state.unit || isMoney(state.unit) ? 'cost' : state.unit);
    if (state.units === found.join()) return;
    state.units = found.join();
    const label = (dimension) => (isMoney(dimension) ? (dimension.startsWith('eur') ? '€' : '$') : dimension);
    fill(units, found.length > 1 && seg(found.map((id) => ({ id, label: label(id) })), state.unit, (unit) => {
      state.unit = unit;
      take();
      draw();
    }));
  }

  /** Rows in view, with room kept for those above and below. */
  function windowOf(rows) {
    el.classList.toggle('long', rows.length > LONG);
    if (rows.length <= LONG) return { first: 0, shown: rows };
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 10);
    return { first, shown: rows.slice(first, first + Math.ceil(scroll.clientHeight / ROW) + 20) };
  }

  function draw() {
    const { data } = state;
    const width = heads.clientWidth;
    if (!data || width === 0) return;
    const scale = axis({ ...data, width, fold: state.folded, gap: innerWidth < 760 ? 40 : 46 });
    if (state.rows !== data.rows) take();
    const about = { scale, unit: state.unit, dearest, selected: state.selected, again: state.again, signals: data.signals, pick };
    const wasAtEnd = known === 0 ? !data.ended : scroll.scrollHeight > scroll.clientHeight && scroll.scrollTop + scroll.clientHeight > scroll.scrollHeight - ROW / 2;
    // How many have a place where something stands below; those that come scroll.
    if (known === 0) el.style.setProperty('--rows', Math.min(MOST, Math.max(LEAST, rows.length + (data.ended ? 0 : SPARE))));
    const { first, shown } = windowOf(rows);
    const room = (n, key) => ({ key, room: Math.max(0, n) * ROW });
    const below = rows.length - first - shown.length;
    const items = shown.length === rows.length ? shown : [room(first, '\u0000above'), ...shown, room(below, '\u0000below')];
    const made = (row) => (row.room === undefined ? stepRow(about, row) : spacer(row));
    keyed(body, items, (row) => `${row.of ?? ''}${row.key}`, made, (tr, row) => tr.show(about, row));
    el.classList.toggle('over', scroll.scrollHeight > scroll.clientHeight);
    if (wasAtEnd && known !== rows.length) scroll.scrollTop = scroll.scrollHeight;
    known = rows.length || -1;
    marks(lane, attemptMarks(data, scale));
    const marksAt = ticks(scale, ahead(data.from));
    headings(heads, scale, marksAt, data.waits);
    back.style.left = `${heads.offsetLeft}px`;
    back.style.top = `${heads.offsetHeight}px`;
    backdrop(back, scale, marksAt, Math.max(0, table.offsetHeight - heads.offsetHeight), data.ended ? null : place(scale, data.to));
    const worked = duration(total(union(data.rows.length ? data.worked : data.busy)));
    const late = data.late === null ? '' : ` · history begins ${clock(data.late)}`;
    const steps = data.rows.length === 1 ? '1 step' : `${data.rows.length ? count(data.rows.length) : 'no'} steps`;
    gist.textContent = `${steps}, ${worked} of work in ${duration(data.to - data.from)}${late}`;
  }

  /** The legend has what is there. */
  function keys(rows) {
    const has = (test) => rows.some(test);
    const entries = [
      has((row) => row.rings.length > 0) && ['ring', 'answered from the journal'],
      has((row) => row.bars.some((bar) => bar.state === 'lost')) && ['swatch lost', 'lost with its worker'],
      has((row) => row.bars.some((bar) => bar.state === 'wait')) && ['swatch wait', 'no lease held'],
    ].filter(Boolean);
    const names = entries.map(([cls]) => cls).join();
    if (legend.dataset.has !== names) fill(legend, entries.map(([cls, text]) => h('span', h('i', { class: `tl-key ${cls}` }), text)));
    legend.dataset.has = names;
  }

  const resized = new ResizeObserver(draw);
  resized.observe(scroll);
  signal.addEventListener('abort', () => resized.disconnect(), { once: true });
  scroll.addEventListener('scroll', () => el.classList.contains('long') && requestAnimationFrame(draw), { passive: true });
  const set = (name) => (value) => {
    state[name] = value;
    draw();
  };
  return { el, show: set('data'), select: set('selected'), again: set('again'), rescale, toggle: () => onscale(!state.folded) };
}

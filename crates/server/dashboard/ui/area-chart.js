// Numbers over time, with what limited them and what happened. Pointer or arrows read a moment; the same numbers are there as a table.

import { fill, h, s } from '../core/dom.js';
import { short } from '../core/format.js';
import { hour } from '../core/time.js';
import { ceiling, compact, moments } from './axis.js';
import { area, line, stretches } from './spark.js';

const FOOT = 22;
const HEAD = 16;
const BARS = 44;
const NARROW = 480;

/**
 * `draw(data)` shows: `from`, `step`, `to` (ms) · `lines` [{label, hue, values, faint?}] · `bars` {label, hue, values} on a scale of their own below ·
 * `levels` [{value, label, hue, dashed?}] · `marks` [{at, label, hue, solid?}] · `spans` [{from, to, label, hue}] · `format(n)`, `axis(n)`, `least` that the axis reaches · `more(i)` rows for the reader [[label, text]].
 */
export function areaChart({ label, height = 200 }) {
  const svg = s('svg', { role: 'img', 'aria-label': label, height });
  const tip = h('div.chart-tip', { hidden: true });
  const plot = h('div.chart-plot', { tabindex: 0, role: 'group', 'aria-label': `${label}: arrows read it` }, svg, tip);
  const table = h('div.chart-table');
  const asTable = h('details', h('summary.meta', 'as table'), table);
  const el = h('figure.chart', plot, asTable);
  let data = null;
  let scale = null;
  let at = null;

  function paint() {
    const width = plot.clientWidth;
    if (!data || !width) return;
    scale = measure(data, width, height);
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('width', width);
    fill(svg, picture(data, scale), s('g.reader'));
    read(at);
    if (asTable.open) fill(table, asRows(data));
  }

  function read(i) {
    at = i;
    tip.hidden = i == null;
    const reader = svg.lastChild;
    fill(reader);
    if (i == null) return;
    const x = scale.x(data.from + i * data.step);
    const spots = data.lines.filter(({ values }) => values[i] != null);
    fill(reader, s('path.hair', { d: `M${x} ${HEAD}V${scale.end}` }),
      spots.map(({ hue, values }) => s(`circle.h-${hue}`, { cx: x, cy: scale.y(values[i]), r: 4 })));
    fill(tip, h('b', hour(data.from + i * data.step)), rowsAt(data, i).map(([name, value, hue]) => h(`span.h-${hue ?? 'grey'}`, h('span', name), h('span.hue', value))));
    tip.style.left = `${Math.max(4, x > scale.width / 2 ? x - tip.offsetWidth - 10 : x + 10)}px`;
  }

  const last = () => Math.max(...data.lines.map(({ values }) => values.length), data.bars?.values.length ?? 0) - 1;
  const within = (i) => Math.min(last(), Math.max(0, i));
  plot.addEventListener('pointermove', (event) => {
    if (scale) read(within(Math.round((scale.time(event.clientX - plot.getBoundingClientRect().left) - data.from) / data.step)));
  });
  for (const gone of ['pointerleave', 'blur']) plot.addEventListener(gone, () => scale && read(null));
  plot.addEventListener('keydown', (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way || !scale) return;
    event.preventDefault();
    read(within((at ?? last() + 1) + way));
  });
  asTable.addEventListener('toggle', () => fill(table, asTable.open && data && asRows(data)));
  let known = 0;
  new ResizeObserver(() => {
    if (plot.clientWidth !== known) paint();
    known = plot.clientWidth;
  }).observe(plot);
  return { el, draw(next) { data = { levels: [], marks: [], spans: [], least: 0, format: short, axis: compact, ...next }; paint(); } };
}

function measure(data, width, height) {
  const left = width < NARROW ? 0 : 42;
  const floor = height - FOOT - (data.bars ? BARS : 0);
  const values = [...data.lines.flatMap(({ values }) => values), ...data.levels.map(({ value }) => value)];
  const highest = values.reduce((most, value) => Math.max(most, value ?? 0), 0);
  const rule = ceiling(Math.max(highest, data.least));
  // Room for the words over a limit.
  const most = data.levels.length ? Math.max(highest * 1.16, 1) : rule;
  const x = (time) => Math.round((left + ((time - data.from) / (data.to - data.from)) * (width - left - 4)) * 10) / 10;
  return {
    width, left, floor, rule, x, end: height - FOOT,
    y: (value) => Math.round((floor - (value / most) * (floor - HEAD)) * 10) / 10,
    time: (at) => data.from + ((at - left) / (width - left - 4)) * (data.to - data.from),
  };
}

function picture(data, { width, left, floor, rule, x, y, end }) {
  const put = (points) => points.map(([at, value]) => [x(data.from + at * data.step), value]);
  const grid = [0, rule / 2, rule].filter((value) => y(value) >= HEAD).map((value) => [
    s('path.rule', { d: `M${left}  ${y(value)}H${width}` }),
    left > 0 && s('text.axis', { x: left - 8, y: y(value) + 4, 'text-anchor': 'end' }, data.axis(value)),
  ]);
  const lines = data.lines.map(({ hue, values, faint }) => {
    const parts = stretches(values, values.length - 1 || 1, y).map(put);
    return s(`g.h-${hue}${faint ? '.faint' : ''}`, parts.map((points) => (points.length > 1 ? [s('path.under', { d: area(points, floor) }), s('path.over', { d: line(points) })] : s('circle.alone', { cx: points[0][0], cy: points[0][1], r: 2 }))));
  });
  const spans = data.spans.map(({ from, to, label, hue }) => s(`g.h-${hue}`, s('rect.span', { x: x(from), y: HEAD, width: Math.max(1, x(to) - x(from)), height: floor - HEAD }),
    label && x(to) - x(from) > 40 && s('text.strong', { x: (x(from) + x(to)) / 2, y: (floor + HEAD) / 2, 'text-anchor': 'middle' }, label)));
  const levels = data.levels.map(({ value, label, hue, dashed }) => s(`g.h-${hue}`,
    s(`path.level${dashed ? '.dashed' : ''}`, { d: `M${left} ${y(value)}H${width}` }), s('text.strong', { x: left + 6, y: y(value) - 6 }, label)));
  const marks = data.marks.map(({ at, label, hue, solid }) => {
    const ahead = x(at) > width - 70;
    return s(`g.h-${hue}`, s(`path.moment${solid ? '.solid' : ''}`, { d: `M${x(at)} ${solid ? HEAD : 0}V${floor}` }),
      s('text', { x: x(at) + (ahead ? -5 : 5), y: solid ? floor - 8 : 9, 'text-anchor': ahead ? 'end' : null }, label));
  });
  const ticks = moments(data.from, data.to, Math.max(2, Math.floor((width - left) / 90))).map((at) => {
    const near = Math.min(width - 16, Math.max(left + 16, x(at)));
    return s('text.axis', { x: near, y: end + 16, 'text-anchor': 'middle' }, hour(at));
  });
  return [grid, spans, lines, levels, marks, data.bars && columns(data, x, left, floor), ticks];
}

/** What is small beside the lines has its own scale under them. */
function columns({ bars, from, step, format }, x, left, floor) {
  const most = Math.max(...bars.values, 0);
  const wide = Math.max(1, x(from + step) - x(from) - 1.5);
  const d = bars.values.map((value, i) => {
    const tall = most > 0 ? Math.max(value > 0 ? 1.5 : 0, (value / most) * (BARS - 14)) : 0;
    return tall ? `M${x(from + i * step) - wide / 2} ${floor + BARS - 4}v${-tall}h${wide}v${tall}z` : '';
  }).join('');
  return s(`g.h-${bars.hue}`, s('path.bars', { d }), left > 0 && most > 0 && s('text.hue', { x: left - 8, y: floor + 18, 'text-anchor': 'end' }, format(most)));
}

function rowsAt(data, i) {
  const all = [...data.lines, ...(data.bars ? [data.bars] : [])].filter(({ values }) => values[i] != null);
  return [...all.map(({ label, values, hue }) => [label, data.format(values[i]), hue]), ...(data.more?.(i) ?? [])];
}

function asRows(data) {
  const all = [...data.lines, ...(data.bars ? [data.bars] : [])];
  const length = Math.max(0, ...all.map(({ values }) => values.length));
  return h('table.grid', h('thead', h('tr', h('th', 'Time'), all.map(({ label }) => h('th.num', label)))),
    h('tbody', Array.from({ length }, (_, i) => h('tr', h('th', { scope: 'row' }, hour(data.from + i * data.step)),
      all.map(({ values }) => h('td.num', values[i] == null ? '–' : data.format(values[i])))))));
}

// What stands behind and over the bars of the timeline: the axis, folded gaps, attempts and signals.

import { fill, s } from '../core/dom.js';
import { duration } from '../core/format.js';
import { clock } from '../core/time.js';
import { bar, place } from './axis.js';
import { marks } from './steps.js';

/** The hue and the words of what time was spent on while nothing ran. */
const WAITS = {
  suspended: ['violet', 'suspended'],
  lost: ['red', 'lost'],
  blocked: ['amber', 'held by a limit'],
  held: ['amber', 'held by an operator'],
  delayed: ['grey', 'delayed'],
  children: ['grey', 'waited for upstream'],
};

/** A zig-zag edge from top to bottom. */
function zigzag(x, height) {
  const points = Array.from({ length: Math.ceil(height / 4) + 1 }, (_, i) => `${x + (i % 2 ? 1.5 : -1.5)},${Math.min(height, i * 4)}`);
  return `M${points.join('L')}`;
}

/** What is behind the bars: lines at the ticks, folded gaps, and now. */
export function backdrop(svg, scale, marksAt, height, now) {
  const folded = scale.segments.filter((segment) => segment.folded);
  svg.setAttribute('width', scale.width);
  svg.setAttribute('height', height);
  fill(
    svg,
    s('path.tl-line', { d: marksAt.filter(({ bare }) => !bare).map(({ x }) => `M${x} 0V${height}`).join('') }),
    folded.map(({ x0, x1 }) => s('rect.tl-gap', { x: x0, width: x1 - x0, height })),
    s('path.tl-edge', { d: folded.map(({ x0, x1 }) => zigzag(x0, height) + zigzag(x1, height)).join('') }),
    now !== null && [s('path.tl-now', { d: `M${now} 0V${height}` }), s('circle.tl-dot', { cx: now, cy: 1, r: 3 })],
  );
}

/** The words over the axis: ticks, and how long each folded gap was, in the colour of what it was spent on. */
export function headings(el, scale, marksAt, waits) {
  const gaps = scale.segments.filter((segment) => segment.folded).map(({ from, to, x0, x1 }) => {
    const spent = waits.find((wait) => wait.from < to && wait.to > from && wait.to - wait.from > (to - from) / 2);
    const [hue, word] = WAITS[spent?.kind] ?? ['grey', 'nothing ran'];
    const long = duration(to - from);
    return { x: (x0 + x1) / 2, cls: `tl-tick tl-long h-${hue}`, text: long.split(' ').slice(0, 2).join(' '), title: `${long}, ${word}` };
  });
  marks(el, [...marksAt.map(({ x, label }) => ({ x, cls: 'tl-tick', text: label })), ...gaps]);
}

/** The boxes of the attempts' row, the time lost between them, and signals. */
export function attemptMarks(data, scale) {
  const lease = ({ from, to, attempt, worker, end }) => {
    const { x, width } = bar(scale, from, to);
    const text = width > 24 + 6.4 * worker.length ? `${attempt} · ${worker}` : width > 20 ? `${attempt}` : '';
    const how = end ? `, ${end.replaceAll('_', ' ')}` : '';
    return { x, width, cls: 'tl-lease', text, title: `attempt ${attempt} on ${worker}, ${clock(from)}, ${duration(to - from)}${how}` };
  };
  const gone = ({ from, to }) => {
    const { x, width } = bar(scale, from, to);
    return { x, width, cls: 'tl-lease lost', text: width > 26 ? 'lost' : '', title: `lost at ${clock(from)}, taken over after ${duration(to - from)}` };
  };
  const signal = ({ at, detail }) => ({ x: place(scale, at), cls: 'tl-signal', title: `${clock(at)} ${detail}` });
  return [...data.leases.map(lease), ...data.waits.filter((wait) => wait.kind === 'lost').map(gone), ...data.signals.map(signal)];
}

// How a number went, without axes.

import { s } from '../core/dom.js';

/** Points of a line, from left to right over `width`; a new part begins after each null. */
export function stretches(values, width, y) {
  const step = width / Math.max(1, values.length - 1);
  const parts = [];
  let part = null;
  values.forEach((value, i) => {
    if (value == null) part = null;
    else if (part) part.push([i * step, y(value)]);
    else parts.push((part = [[i * step, y(value)]]));
  });
  return parts;
}

const round = (n) => Math.round(n * 10) / 10;

/** A line through points, as a path. */
export const line = (points) => points.map(([x, y], i) => `${i ? 'L' : 'M'}${round(x)} ${round(y)}`).join('');

/** What lies under that line, down to `floor`. */
export const area = (points, floor) => `${line(points)}V${round(floor)}H${round(points[0][0])}Z`;

/** A line of `values` (null: not known) in a hue, on its wash, with a dot at its end. `label` says it in words. */
export function spark(values, { hue = 'blue', width = 76, height = 28, label } = {}) {
  const most = Math.max(...values, 0);
  // From zero, so that small waves do not look like storms.
  const y = (value) => height - 3 - (most > 0 ? (value / most) * (height - 8) : 0);
  const parts = stretches(values, width - 4, y);
  const end = parts.at(-1)?.at(-1);
  return s(`svg.spark.h-${hue}`, { width, height, viewBox: `0 0 ${width} ${height}`, role: label ? 'img' : null, 'aria-label': label, 'aria-hidden': !label },
    parts.map((points) => [s('path.under', { d: area(points, height) }), s('path.over', { d: line(points) })]),
    end && values.at(-1) != null && s('circle', { cx: round(end[0]), cy: round(end[1]), r: 2 }));
}

// Round numbers for the axes of charts. Nothing here touches the page.

import { count } from '../core/format.js';

const NICE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 240, 360, 720].map((minutes) => minutes * MINUTE_MS);

/** The least round number that is not below `most`. */
export function ceiling(most) {
  if (!(most > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(most / 2));
  return 2 * unit * NICE.find((nice) => 2 * unit * nice >= most * 0.9999);
}

/** Moments between two, at most `count` of them, at round times of the day of the reader. */
export function moments(from, to, count, east = -new Date(from).getTimezoneOffset() * MINUTE_MS) {
  const step = STEPS.find((step) => (to - from) / step <= count) ?? Math.ceil((to - from) / count / DAY_MS) * DAY_MS;
  const list = [];
  for (let at = Math.ceil((from + east) / step) * step - east; at <= to; at += step) list.push(at);
  return list;
}

/** A round number in few letters: 500, 40 k, 1.2 M */
export function compact(n) {
  const [unit, name] = n >= 1e9 ? [1e9, ' G'] : n >= 1e6 ? [1e6, ' M'] : n >= 1e4 ? [1e3, ' k'] : [1, ''];
  return `${count(Number((n / unit).toPrecision(3)))}${name}`;
}

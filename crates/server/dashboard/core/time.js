// Moments and ages, by the clock of the server. What shows one keeps itself right while it is on the page.

import { duration, wholly } from './format.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

let began = Date.now() - performance.now();

/** What the server's clock says; the clock of this machine may be set anew meanwhile. */
export const now = () => Math.floor(began + performance.now());

/** The server said `time`, in answer to what was asked at `asked` by the clock here. */
export function sync(time, asked = Date.now()) {
  began = time + (Date.now() - asked) / 2 - performance.now();
}

const pad = (n) => String(n).padStart(2, '0');

/** The parts of a moment, in the zone `utc` says. */
function parts(ms, utc) {
  const d = new Date(ms);
  return utc
    ? [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()]
    : [d.getFullYear(), d.getMonth(), d.getDate(), d.getHours(), d.getMinutes(), d.getSeconds()];
}

const isUtc = () => globalThis.document?.documentElement.dataset.theme?.split(' ').includes('utc') ?? false;

/** 14:02:41, on another day 13 Nov 09:58, in another year 13 Nov 2025 */
export function clock(ms, { utc = isUtc(), today = now() } = {}) {
  if (ms == null) return '–';
  const [year, month, day, h, m, s] = parts(ms, utc);
  const [thisYear, thisMonth, thisDay] = parts(today, utc);
  if (year !== thisYear) return `${day} ${MONTHS[month]} ${year}`;
  if (month === thisMonth && day === thisDay) return `${pad(h)}:${pad(m)}:${pad(s)}`;
  return `${day} ${MONTHS[month]} ${pad(h)}:${pad(m)}`;
}

/** 14:02, for axes and where there is little room. */
export function hour(ms, utc = isUtc()) {
  const [, , , h, m] = parts(ms, utc);
  return `${pad(h)}:${pad(m)}`;
}

/** The moment in full, with its zone. */
export function iso(ms, utc = isUtc()) {
  if (utc) return new Date(ms).toISOString();
  const east = -new Date(ms).getTimezoneOffset();
  const zone = `${east < 0 ? '-' : '+'}${pad(Math.floor(Math.abs(east) / 60))}:${pad(Math.abs(east) % 60)}`;
  return new Date(ms + east * 60_000).toISOString().replace('Z', zone);
}

/** How long ago, in words. */
export const ago = (ms) => `${wholly(now() - ms)} ago`;

const shown = new Set();

function tick() {
  if (!document.hidden) for (const el of shown) el.show();
}

class Moment extends (globalThis.HTMLElement ?? Object) {
  connectedCallback() {
    // What stands in a link or a row is not a stop of its own: that leads to where the time is.
    if (this.explained && !this.closest('a, button, summary, tr')) this.tabIndex = 0;
    this.show();
    shown.add(this);
  }

  disconnectedCallback() {
    shown.delete(this);
  }

  show() {
    const text = this.says();
    if (this.textContent !== text) this.textContent = text;
  }
}

if (globalThis.document) {
  customElements.define('ff-time', Moment);
  setInterval(tick, 1_000);
  document.addEventListener('visibilitychange', tick);
  document.addEventListener('ff-theme', tick);
}

function moment(ms, says) {
  const el = document.createElement('ff-time');
  el.says = says;
  el.explained = ms != null;
  if (el.explained) {
    const explain = () => (el.title = `${iso(ms)} · ${ms > now() ? `in ${wholly(ms - now())}` : ago(ms)}`);
    el.addEventListener('pointerenter', explain);
    el.addEventListener('focus', explain);
  }
  return el;
}

/** The time of day of a moment. */
export const at = (ms) => moment(ms, () => clock(ms));

const bare = (long) => long;
/** Behind what grows nothing stands: what is said after a time is said with it, and moves for nothing. */
export const asAgo = (long) => `${long} ago`;

/** How long ago it was, counting. */
export const age = (ms, words = bare) => moment(ms, () => (ms == null ? '–' : words(wholly(now() - ms))));

/** How long until it is, counting down to nothing. */
export const left = (ms, words = bare) => moment(ms, () => (ms == null ? '–' : words(wholly(ms - now()))));

/** How long something took, or has taken so far while there is no end. */
export const since = (from, to, words = bare) => moment(from, () => (from == null ? '–' : words(to == null ? wholly(now() - from) : duration(to - from))));

// Numbers in words. Nothing here touches the page.

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/** 1,934 */
export function count(n) {
  if (n == null) return '–';
  const text = String(n);
  return /^\d+$/.test(text) ? grouped(text) : text;
}

/** 1,934 and, from a million on, 2.47 M */
export function short(n) {
  if (n == null || n < 1e6) return count(n);
  const [unit, name] = n < 1e9 ? [1e6, 'M'] : [1e9, 'G'];
  return `${digits(n / unit)} ${name}`;
}

/** Three digits that matter, as 2.47, 24.7, 247. */
function digits(n) {
  const places = n < 10 ? 2 : n < 100 ? 1 : 0;
  return places > 0 ? n.toFixed(places) : grouped(Math.round(n));
}

/** 184 /s, 2.1 /s */
export const rate = (n) => `${rateFigure(n)} /s`;

export function rateFigure(n) {
  if (n == null) return '–';
  if (n === 0) return '0';
  if (n < 0.1) return n.toPrecision(1);
  return n < 100 ? trimmed(n.toFixed(1)) : grouped(Math.round(n));
}

const trimmed = (text) => text.replace(/\.0$/, '');

/** A share of one: 0.8 %, 24 % */
export const percent = (share) => `${percentFigure(share)} %`;

export function percentFigure(share) {
  const n = share * 100;
  if (!Number.isFinite(n)) return '–';
  return n < 10 ? n.toFixed(1) : String(Math.round(n));
}

/** A length in milliseconds, in two units at most: 640 ms, 3.1 s, 48 s, 2 m 14 s, 3 h 12 m; `fine`: tenths up to a minute. */
export function duration(ms, fine = false) {
  if (ms == null) return '–';
  if (ms < 0) return `−${duration(-ms, fine)}`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < (fine ? 59_950 : 9_950)) return `${trimmed((ms / 1_000).toFixed(1))} s`;
  return spoken(Math.round(ms / 1_000));
}

/** A length that goes on growing, in whole seconds, and from ten minutes on in whole minutes. */
export function wholly(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return spoken(seconds < 600 ? seconds : seconds - (seconds % 60));
}

function spoken(seconds) {
  const [d, h, m, s] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  if (d > 0) return two(`${d} d`, h, 'h');
  if (h > 0) return two(`${h} h`, m, 'm');
  return m > 0 ? two(`${m} m`, s, 's') : `${s} s`;
}

const two = (first, n, unit) => (n > 0 ? `${first} ${unit === 's' ? String(n).padStart(2, '0') : n} ${unit}` : first);

/** 14.2 KB */
export function bytes(n) {
  if (n == null) return '–';
  const units = ['KB', 'MB', 'GB', 'TB'];
  if (n < 1_000) return `${n} bytes`;
  let size = n / 1_000;
  let unit = 0;
  while (size >= 999.5 && unit < units.length - 1) {
    size /= 1_000;
    unit += 1;
  }
  return `${size < 100 ? trimmed(size.toFixed(1)) : Math.round(size)} ${units[unit]}`;
}

/** What a dimension counts in: a sign and how many of it make one; null: things. */
function currency(dimension) {
  if (dimension === 'usd_micros') return ['$', 1e6];
  if (dimension === 'eur_micros') return ['€', 1e6];
  return /(^|_)cents$/.test(dimension) ? ['$', 100] : null;
}

export const isMoney = (dimension) => currency(dimension) !== null;

function money([sign, unit], n) {
  const whole = n / unit;
  if (n === 0 || whole >= 0.01) {
    const [before, after] = whole.toFixed(2).split('.');
    return `${sign}${grouped(before)}.${after}`;
  }
  return `${sign}${whole.toFixed(2 - Math.floor(Math.log10(whole)))}`;
}

/** $0.61, 48,120 */
export function amount(dimension, n) {
  const unit = currency(dimension);
  return unit ? money(unit, n) : count(n);
}

/** $0.61, 48,120 tokens */
export const usage = (dimension, n) => (isMoney(dimension) ? amount(dimension, n) : `${count(n)} ${dimension}`);

/** What a usage cost, one sum for each currency; null when none of it is money. */
export function costOf(used) {
  const sums = new Map();
  for (const [dimension, n] of Object.entries(used ?? {})) {
    const unit = currency(dimension);
    if (unit) sums.set(unit[0], (sums.get(unit[0]) ?? 0) + (n / unit[1]) * 1e6);
  }
  const texts = [...sums].map(([sign, micros]) => money([sign, 1e6], micros));
  return texts.length > 0 ? texts.join(' + ') : null;
}

/** The last eight digits of an id: the first ones of a v7 are the same for a whole minute. */
export const tail = (id) => String(id).replaceAll('-', '').slice(-8);

/** As much of a name as a sentence has room for. */
export const brief = (name, most = 48) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

/** What somebody is told, with ids as they are shown everywhere. */
export const withTails = (text) => text.replace(/(?:\{[^}\s]*\}:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, tail);

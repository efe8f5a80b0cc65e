// How a person wants it to look, as words of one cookie: the server writes them into the page, so nothing flashes.

import { ROOT } from './root.js';

const YEAR_S = 31_536_000;

const words = () => new Set((document.documentElement.dataset.theme ?? '').split(' ').filter(Boolean));

export const wants = (word) => words().has(word);

/** Turns one word on or off. */
export function want(word, on) {
  const all = words();
  if (word === 'dark' || word === 'light') for (const other of ['dark', 'light']) all.delete(other);
  if (on) all.add(word);
  else all.delete(word);
  document.documentElement.dataset.theme = [...all].join(' ');
  document.cookie = `ff_theme=${[...all].join('.')}; Path=${ROOT.pathname}; SameSite=Lax; Max-Age=${YEAR_S}`;
  document.dispatchEvent(new Event('ff-theme'));
}

export const isDark = () => wants('dark') || (!wants('light') && matchMedia('(prefers-color-scheme: dark)').matches);

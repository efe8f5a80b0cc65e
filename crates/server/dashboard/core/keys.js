// Keys of one stroke, or two after `g`. What was bound last is asked first; a page's are gone with it.

import { wants } from './theme.js';

const SECOND_MS = 1_200;

const bound = [];
let first = null;
let over = null;

/** `{'j': ['Next row', run], 'g o': […]}` until `until` is aborted. */
export function keys(map, until) {
  bound.unshift(map);
  until?.addEventListener('abort', () => bound.splice(bound.indexOf(map), 1), { once: true });
}

/** Every key there is now with what it does. */
export function listed() {
  const all = new Map();
  for (const map of bound) for (const [key, [label]] of Object.entries(map)) if (label && !all.has(key)) all.set(key, label);
  return all;
}

const named = { ArrowDown: 'Down', ArrowUp: 'Up', ArrowLeft: 'Left', ArrowRight: 'Right', Escape: 'Esc' };

/** Whether keys belong to a field, or to a sheet or menu that lies over the page: one that was closed is in it for a moment longer. */
function isWriting(target) {
  return target.matches?.('input:not([type=checkbox]), textarea, select, [contenteditable]') || document.querySelector('dialog[open], .popup:popover-open');
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
  const key = named[event.key] ?? event.key;
  if (wants('nokeys') && key.length === 1 && key !== '?') return;
  if (key === 'Enter' && event.target.closest?.('a, button, summary')) return;
  const whole = first ? `${first} ${key}` : key;
  first = null;
  for (const map of bound) {
    if (!Object.hasOwn(map, whole)) continue;
    event.preventDefault();
    map[whole][1](event);
    return;
  }
  if (key === 'g') {
    first = key;
    // One from before would end this one too early.
    clearTimeout(over);
    over = setTimeout(() => (first = null), SECOND_MS);
  }
});

// What stands where there is nothing: yet, at all, or because something failed.

import { $, fill, h } from '../core/dom.js';
import { icon } from './icons.js';
import { mark } from './state-mark.js';
import { toast } from './toast.js';

const SKELETON_MS = 150;

/** As it was done before there was a clipboard, which a page has over TLS and on its own machine alone. */
function copySelected(text) {
  const before = document.activeElement;
  const field = h('textarea.unseen', { value: text });
  ($('dialog[open]') ?? document.body).append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  before?.focus();
  return done;
}

/** Takes a text along; where the browser does not let a page do that, it says so. */
export async function copy(text, said = 'Copied') {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copySelected(text)) said = 'This browser lets no page copy: select the text instead.';
  }
  toast(said);
}

export function copyButton(text, label = 'Copy') {
  return h('button.btn.icon.ghost', { onclick: () => copy(text), 'aria-label': label, title: label, type: 'button' }, icon('copy'));
}

/**
 * One sentence about what would be here, and a command to get it, or links to what there is without a
 * part of the filter: `{href, label}`, one or several.
 */
export function empty({ says, command, filter = [] }) {
  return h(
    'div.empty',
    h('p', says),
    command && h('p.row', h('code', command), copyButton(command)),
    [filter].flat().length > 0 &&
      h(
        'p.row.wrap',
        [filter].flat().map(({ href, label }) => h('a.btn', { href }, label)),
      ),
  );
}

/** What was refused or broke, in a card of its own. */
export function problemCard(problem, again) {
  return h(
    'div.card.problem.h-red',
    { role: 'alert' },
    h('h2.row', mark('failed'), problem.title ?? 'This part of the page broke'),
    h('p', problem.detail ?? problem.message),
    h(
      'p.row.wrap',
      again && h('button.btn', { onclick: again, type: 'button' }, 'Try again'),
      problem.help && h('a', { href: problem.help, target: '_blank' }, problem.code),
      problem.request_id && h('span.meta.mono', problem.request_id),
    ),
  );
}

/** Rows of the final height, until there are real ones. */
export const skeleton = (rows = 5) =>
  h(
    'div.skeleton',
    { 'aria-hidden': 'true' },
    Array.from({ length: rows }, () => h('div', h('i'))),
  );

/** Shows in `el` what a promise brings, or why it brought nothing; `make()` makes the promise, and another when tried again. */
export async function part(el, make, render, rows = 3) {
  const timer = setTimeout(() => el.childElementCount > 0 || fill(el, skeleton(rows)), SKELETON_MS);
  // What was asked for since is what is shown.
  const mine = (el.asked = Symbol());
  try {
    const value = await make();
    clearTimeout(timer);
    if (el.asked === mine) fill(el, render(value));
  } catch (problem) {
    clearTimeout(timer);
    if (problem.name === 'AbortError' || el.asked !== mine) return;
    if (!problem.code) console.error(problem);
    fill(
      el,
      problemCard(problem, () => part(el, make, render, rows)),
    );
  }
}

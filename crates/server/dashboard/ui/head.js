// The head of a page; on a phone it is the bar on top.

import { h } from '../core/dom.js';
import { to } from '../core/router.js';
import { icon, logo } from './icons.js';
import { searchSheet } from './search.js';

/** `below`: the head of a part of a page that has one of its own. */
export function head({ crumbs = [], title, beside = [], acts = [], below = false }) {
  const up = crumbs.at(-1);
  const way = crumbs.flatMap((crumb) => [h('a.crumb.desk-only', { href: crumb.href }, crumb.label), h('span.ink3.desk-only', '/')]);
  return h(
    'header.head',
    up
      ? h('a.btn.icon.ghost.phone-only', { href: up.href, 'aria-label': `Back to ${up.label}` }, icon('back'))
      : h('a.phone-only.home', { href: to('/'), 'aria-label': 'Overview' }, logo()),
    way,
    h(below ? 'h2.title' : 'h1', { tabindex: '-1' }, title),
    beside,
    h('span.grow'),
    acts,
    !up && h('button.btn.icon.ghost.phone-only', { type: 'button', 'aria-label': 'Search', onclick: searchSheet }, icon('search')),
  );
}

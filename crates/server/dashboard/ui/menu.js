// Menus under their button.

import { h } from '../core/dom.js';
import { icon } from './icons.js';

/** Tab stays in what lies over the page: from its last stop to its first. */
function around(el, event) {
  const stops = [...el.querySelectorAll('a[href], button:not(:disabled), input')].filter(({ tabIndex }) => tabIndex >= 0);
  const [end, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  if (document.activeElement !== end) return;
  event.preventDefault();
  other?.focus();
}

/** Shows a node under what it belongs to, until something else is pressed; answers how to close it. */
export function popup(anchor, node) {
  const el = h('div.popup', { popover: 'auto' }, node);
  document.body.append(el);
  el.addEventListener('toggle', (event) => {
    if (event.newState !== 'closed') return;
    const hadFocus = el.contains(document.activeElement) || document.activeElement === document.body;
    el.remove();
    anchor.setAttribute('aria-expanded', 'false');
    if (hadFocus) anchor.focus();
  });
  el.addEventListener('keydown', (event) => event.key === 'Tab' && around(el, event));
  el.showPopover();
  anchor.setAttribute('aria-expanded', 'true');
  const [box, own] = [anchor.getBoundingClientRect(), el.getBoundingClientRect()];
  const below = box.bottom + 4 + own.height <= innerHeight;
  el.style.left = `${Math.max(8, Math.min(box.left, innerWidth - own.width - 8))}px`;
  el.style.top = `${below ? box.bottom + 4 : Math.max(8, box.top - own.height - 4)}px`;
  return () => el.hidePopover();
}

function entry(item, close) {
  if (item.sep) return h('hr');
  if (item.head) return h('h3', item.label);
  const inside = [
    item.checked !== undefined && h('span.tick', item.checked && icon('check')),
    item.icon && icon(item.icon),
    h('span.grow', item.label),
    item.hint && h('span.ink3', item.hint),
  ];
  const props = { role: 'menuitem', class: item.hue ? `hue h-${item.hue}` : '', tabindex: '-1' };
  const run = () => {
    close();
    item.run?.();
  };
  return item.href
    ? h('a', { ...props, href: item.href, onclick: close }, inside)
    : h('button', { ...props, type: 'button', onclick: run, disabled: item.disabled, title: item.why }, inside);
}

/** Makes a button open a menu of what `items()` says then. */
export function menu(button, items) {
  button.setAttribute('aria-haspopup', 'menu');
  button.setAttribute('aria-expanded', 'false');
  button.addEventListener('click', async () => {
    let close = () => {};
    const list = h(
      'div.menu',
      { role: 'menu' },
      (await items()).map((item) => entry(item, () => close())),
    );
    const all = () => [...list.querySelectorAll('[role=menuitem]:not(:disabled)')];
    list.addEventListener('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = all().indexOf(document.activeElement);
      all()
        .at((at + step) % all().length)
        ?.focus();
    });
    close = popup(button, list);
    all()[0]?.focus({ focusVisible: false });
  });
  return button;
}

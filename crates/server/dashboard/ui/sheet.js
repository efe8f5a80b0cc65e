// A sheet over the page. The browser keeps the focus in it, closes it with Esc, and gives the focus back.

import { h } from '../core/dom.js';
import { icon } from './icons.js';

let named = 0;

export function sheet({ title, body, foot = [], wide = false, onclose = () => {} }) {
  const id = `sheet-${(named += 1)}`;
  const close = () => el.close();
  const outside = (event) => event.target === el && close();
  const el = h(
    'dialog.sheet',
    { 'aria-labelledby': id, class: wide ? 'wide' : '', onclick: outside },
    h(
      'div.sheet-in',
      h(
        'header.row',
        h('h2.grow', { id }, title),
        h('button.btn.icon.ghost', { onclick: close, 'aria-label': 'Close', type: 'button' }, icon('close')),
      ),
      h('div.sheet-body', body),
      foot.length > 0 && h('footer.row', foot),
    ),
  );
  el.addEventListener('close', () => {
    el.remove();
    onclose();
  });
  document.body.append(el);
  el.showModal();
  return { el, close };
}

// What was done, said once: on the page for a while, and to who listens to it.

import { $, h, plain } from '../core/dom.js';

const STAYS_MS = 5_000;
const AT_MOST = 3;

/** Says it in the one region that is read aloud. */
export function say(text) {
  $('#said').textContent = plain(text);
}

/** Shows a sentence for a while; `act` is a button beside it. */
export function toast(text, { hue = 'grey', act } = {}) {
  const leave = () => el.remove();
  const pressed = () => {
    leave();
    act.run();
  };
  const el = h(`div.toast.h-${hue}`, h('span.grow', text), act && h('button.btn.small', { onclick: pressed, type: 'button' }, act.label));
  const all = $('#toasts');
  all.append(el);
  // Shown again, so that it lies over a sheet that was opened since.
  if (all.matches(':popover-open')) all.hidePopover();
  all.showPopover();
  while (all.childElementCount > AT_MOST) all.firstChild.remove();
  setTimeout(leave, hue === 'red' ? STAYS_MS * 2 : STAYS_MS);
  say(text);
}

// How much of a limit is used.

import { h } from '../core/dom.js';
import { percent } from '../core/format.js';

/** The colour of a use: closed, above the soft limit, or neither. */
export function usageHue(used, { soft, hard }) {
  if (hard != null && used >= hard) return hard === 0 ? 'grey' : 'red';
  return soft != null && used > soft ? 'amber' : 'blue';
}

/** A bar up to the hard limit, or else the soft one, with a tick at the soft one. */
export function usageBar(used, { soft, hard }) {
  const whole = hard ?? soft;
  const share = whole > 0 ? Math.min(1, used / whole) : 0;
  const fill = h('i');
  fill.style.width = `${share * 100}%`;
  const el = h(`div.meter.h-${usageHue(used, { soft, hard })}`, { role: 'img', 'aria-label': whole == null ? 'no limit' : `${percent(share)} used` }, fill);
  if (soft != null && hard > soft) {
    const tick = h('u');
    tick.style.left = `${(soft / hard) * 100}%`;
    el.append(tick);
  }
  return el;
}

// The sentence on top of a run, with every condition behind it.

import { fill, h } from '../core/dom.js';
import { clock, now } from '../core/time.js';
import { sentence } from '../ui/sentence.js';
import { hue, mark } from '../ui/state-mark.js';

/** The step that frames say is under way, while the lease holder has not said it itself. */
function doingOf(rows) {
  const row = rows.findLast((row) => row.state === 'active');
  return row && [{ step: row.key, started_at: row.bars.at(-1).from }];
}

/** `show(run, data)` says it anew if it has become another one, in the place that the first one took; `open()` shows the conditions, or hides them. */
export function banner(signal) {
  const el = h('section.banner.run-banner', { 'aria-label': 'Why' });
  const why = h('div', { hidden: true });
  const button = h('button.btn.why', { type: 'button', 'aria-expanded': 'false', onclick: () => open() }, 'Why?', h('kbd.desk-only', 'E'));
  let [said, state, known] = ['', '', null];

  async function open(wanted = why.hidden) {
    why.hidden = !wanted || !known.explain;
    button.setAttribute('aria-expanded', String(!why.hidden));
    const { conditions } = await import('./conditions.js');
    if (!why.hidden && known.explain) fill(why, conditions(known.explain, known.view));
  }

  function show(run, data) {
    const { view, explain, attempts, history } = run;
    const doing = view.doing ?? doingOf(data.rows);
    const { lead, then, strong, more } = sentence({ view, explain, attempts, history, journal: data.journal, doing, now: now(), clock });
    const fresh = explain !== known?.explain;
    known = { view, explain };
    if (fresh && !why.hidden) open(true);
    const next = [view.public_state, Boolean(explain), lead, then, strong, ...more].join('\n');
    if (next === said) return;
    said = next;
    el.className = `banner run-banner h-${hue(view.public_state)}`;
    const sign = state === view.public_state ? el.firstChild : mark(view.public_state);
    state = view.public_state;
    const words = h('p', h('b', lead), then && ` ${then}`, strong && [' ', h('b', strong)]);
    fill(el, sign, h('div.grow', words, more.length > 0 && h('p.meta', more.join(' · '))), explain && button);
    if (!el.style.height) keep();
  }

  function keep() {
    el.style.height = '';
    if (el.offsetHeight > 0) el.style.height = `${el.offsetHeight}px`;
  }
  addEventListener('resize', keep, { signal });

  return { nodes: [el, why], show, open };
}

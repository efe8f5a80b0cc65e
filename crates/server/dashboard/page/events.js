// Events as they happen.

import { fill, h } from '../core/dom.js';
import { count, tail } from '../core/format.js';
import { to } from '../core/router.js';
import { at } from '../core/time.js';
import { empty } from '../ui/empty.js';
import { filterBar, moment, names } from '../ui/filter-bar.js';
import { head } from '../ui/head.js';
import { mark } from '../ui/state-mark.js';

const KEPT = 2_000;
const HELD = 2_000;
/** No row is lower than this. */
const ROW = 28;

// Events that say which state something is in now; the others have no symbol.
const STATES = {
  created: 'waiting',
  claimed: 'active',
  resumed: 'resumable',
  suspended: 'suspended',
  escalated: 'suspended',
  blocked: 'rate_limited',
  delayed: 'delayed',
  retry_scheduled: 'delayed',
  waiting_children: 'waiting_children',
  completed: 'completed',
  failed: 'failed',
  lease_expired: 'failed',
  expired: 'expired',
  cancelled: 'cancelled',
  skipped: 'skipped',
  flow_ended: 'completed',
  flow_cancelled: 'cancelled',
  hard_breach: 'rate_limited',
};
const WHAT = [
  'created',
  'claimed',
  'completed',
  'failed',
  'retry_scheduled',
  'cancelled',
  'expired',
  'skipped',
  'replayed',
  'suspended',
  'signalled',
  'resumed',
  'escalated',
  'blocked',
  'unblocked',
  'delayed',
  'held',
  'unheld',
  'lease_expired',
  'lease_revoked',
  'soft_breach',
  'hard_breach',
  'flow_created',
  'flow_ended',
  'flow_cancelled',
];
const FIELDS = [
  {
    param: 'what',
    label: 'what',
    closed: true,
    words: (what) => what.replaceAll('_', ' '),
    options: () => WHAT.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
  },
  { param: 'lane', label: 'lane', one: true, options: names('lane') },
  { param: 'kind', label: 'kind', one: true, options: names('kind') },
  { param: 'execution', label: 'execution', one: true },
  { param: 'flow', label: 'flow', one: true },
  { param: 'from', label: 'from', ...moment, quiet: true },
];

/** Who did it: the kind of actor and, if it has one, its name. */
const actor = (who) => (typeof who === 'string' ? who : Object.values(who)[0]);

function row(line) {
  const { execution, flow } = line.subject;
  const [path, id] = execution ? ['/executions', execution] : ['/flows', flow];
  const el = h(
    'tr',
    h('td.num.ink2', { 'data-phone': 'top' }, at(line.at)),
    h(
      'td',
      { 'data-phone': 'line' },
      h(
        'span.state',
        STATES[line.what] && mark(STATES[line.what]),
        line.what.replaceAll('_', ' '),
        line.attempt_index != null && h('span.ink3', `attempt ${line.attempt_index}`),
      ),
    ),
    h(
      'th',
      { scope: 'row', 'data-phone': 'title' },
      h(
        'a.row-link.named',
        { href: to(`${path}/${encodeURIComponent(id)}`), title: line.kind },
        h('span.cut', line.kind),
        h('span.mono', tail(id)),
      ),
    ),
    h('td.ink2', { 'data-phone': 'end' }, line.lane_id ?? 'flow'),
    h('td.ink2', { 'data-phone': 'none' }, actor(line.actor)),
  );
  el.line = line;
  return el;
}

export function page(ctx) {
  ctx.title('Events');
  const bar = filterBar({ ctx, fields: FIELDS, forget: [] });
  const body = h('tbody');
  const table = h(
    'table.grid',
    { 'aria-label': 'Events, the newest first' },
    h(
      'thead',
      h(
        'tr',
        [
          ['Time', '104px'],
          ['What', '250px'],
          ['Of', null],
          ['Lane', '140px'],
          ['By', '190px'],
        ].map(([label, width]) => {
          const el = h('th', { scope: 'col', class: label === 'Time' ? 'num' : '' }, label);
          if (width) el.style.width = width;
          return el;
        }),
      ),
    ),
    body,
  );
  let rest = h('div');
  const button = h('button.btn.pause', { type: 'button', 'aria-pressed': 'false', onclick: () => pause(!paused && held.length === 0) });
  ctx.root.append(head({ title: 'Events', acts: [button] }), bar.el, h('div.table', table), rest);

  let paused = false;
  let held = [];
  let skipped = 0;

  /** Whether somebody reads what stands there: then nothing moves, and what is new waits behind the button. */
  const isRead = () => body.childElementCount > 0 && (scrollY > 0 || table.matches(':hover, :focus-within'));

  const tell = () => {
    const waits = paused || held.length > 0;
    fill(button, waits ? `${count(held.length)}${held.length === HELD ? '+' : ''} new · go on` : 'Pause', h('kbd.desk-only', 'P'));
    button.setAttribute('aria-pressed', String(waits));
    const nothing = body.childElementCount === 0;
    table.hidden = nothing;
    // Another one below the rows, which it would be moved by.
    const below = h(
      'div',
      nothing && empty({ says: 'Nothing has happened since this page was opened. What happens is listed here at once.' }),
      skipped > 0 && h('p.pager.ink2', `${count(skipped)} more happened too fast to be listed.`),
    );
    rest.replaceWith(below);
    rest = below;
  };
  /** Rows in view are made anew where they come to stand. */
  const show = (lines) => {
    const seen = [...body.rows].slice(0, Math.ceil(innerHeight / ROW));
    for (const el of seen) el.remove();
    body.prepend(...[...lines.slice(-KEPT).reverse(), ...seen.map(({ line }) => line)].map(row));
    while (body.childElementCount > KEPT) body.lastChild.remove();
  };
  const release = () => {
    if (held.length > 0) show(held);
    held = [];
    tell();
  };
  const pause = (on) => {
    paused = on;
    if (on) tell();
    else {
      scrollTo(0, 0);
      release();
    }
  };
  const settle = () => paused || held.length === 0 || isRead() || release();
  for (const left of ['pointerleave', 'focusout']) table.addEventListener(left, () => requestAnimationFrame(settle));
  addEventListener('scroll', settle, { passive: true, signal: ctx.signal });
  const listen = (from = ctx.query.get('from') ?? undefined) => {
    const filter = Object.fromEntries(FIELDS.map(({ param }) => [param, ctx.query.getAll(param)]));
    ctx.live(
      { ...filter, from },
      (batch) => {
        skipped += batch.skipped;
        held = [...held, ...batch.lines].slice(-HELD);
        settle();
        tell();
      },
      // What is not kept any more cannot be asked for.
      () => from && listen('oldest'),
    );
  };
  ctx.keys({ p: ['Pause, go on', () => button.click()] });
  ctx.onQuery(() => {
    bar.show();
    fill(body);
    held = [];
    skipped = 0;
    tell();
    listen();
  });
  tell();
  listen();
}

// Quotas: how many may start in a window and hold a slot at once, and who waits for room.

import { get, p } from '../core/api.js';
import { fill, h } from '../core/dom.js';
import { count, duration, tail } from '../core/format.js';
import { v1 } from '../core/root.js';
import { to } from '../core/router.js';
import { at } from '../core/time.js';
import { again, newest } from '../ui/again.js';
import { empty } from '../ui/empty.js';
import { splitPage } from '../ui/split.js';
import { mark } from '../ui/state-mark.js';
import { usageBar } from '../ui/usage-bar.js';

const PAGE = 200;
const PLACES = 60;

const nameOf = ({ quota_policy_id: id }) => tail(id);
const waitersOf = ({ waiting: { n = 0, at_least: more } = {} }) => `${count(n)}${more ? '+' : ''}`;
/** [taken, of how many, in words] of each limit it has. */
const limitsOf = (quota) => [
  [quota.requests_in_window, quota.max_requests_per_window, `in ${duration(quota.window_seconds * 1_000)}`],
  [quota.in_use, quota.max_concurrent, 'at once'],
].filter(([, most]) => most !== undefined);
const share = ([n, most]) => (most > 0 ? n / most : 1);
const fullest = (quota) => limitsOf(quota).sort((a, b) => share(b) - share(a))[0] ?? [quota.in_use, undefined];
const inWords = (quota) => limitsOf(quota).map(([, most, how]) => `${count(most)} ${how}`).join(', ') || 'no limit';
const worst = (a, b) => (b.waiting?.n ?? 0) - (a.waiting?.n ?? 0) || share(fullest(b)) - share(fullest(a)) || nameOf(a).localeCompare(nameOf(b));

function row(quota) {
  const [n, most] = fullest(quota);
  return [
    h('div.row', h('b.mono.grow', nameOf(quota)), h('span', count(n), h('span.ink2', ' of ', most === undefined ? 'no limit' : count(most)))),
    usageBar(n, { hard: most }),
    h('div.row.meta', quota.waiting?.n ? h('span.h-amber.hue.strong', `${waitersOf(quota)} wait`) : 'Nobody waits', h('span.grow'), h('span.ink3', inWords(quota))),
  ];
}

/** The places there are, or as many as can be told apart, each taken or free. */
function places([taken, all, how]) {
  const shown = Math.min(PLACES, all);
  const full = all > 0 ? Math.round((taken / all) * shown) : 0;
  return h('section.card', h('div.card-head', h('h2', how === 'at once' ? 'Slots' : 'Window'), h('span.ink2', `${count(taken)} of ${count(all)} ${how}`)),
    h('div.card-body.windows.h-blue', { 'aria-hidden': 'true' }, Array.from({ length: shown }, (_, i) => h(i < full ? 'i.taken' : 'i'))));
}

function says(quota) {
  const { waiting, refused_last_minute: refused, closed_since: since } = quota;
  const full = limitsOf(quota).some((limit) => share(limit) >= 1);
  const lead = waiting?.n ? `${waitersOf(quota)} ${waiting.n === 1 ? 'execution waits' : 'executions wait'} for room.` : full ? 'Full.' : 'There is room.';
  return h(`div.banner.h-${full || waiting?.n ? 'amber' : 'teal'}`, mark(full || waiting?.n ? 'rate_limited' : 'completed'),
    h('div', h('p', h('b', lead), ` Takes ${inWords(quota)}.`), h('p.ink2', since ? ['The oldest has waited since ', at(since), '. '] : '', refused === undefined ? '' : `${count(refused)} refused in the last minute.`)));
}

function pane(first) {
  const inside = h('div.stack');
  const update = (quota) => fill(inside, says(quota), limitsOf(quota).map(places), h('p.meta', 'Created ', at(quota.created_at), ' · ', h('a', { href: to('/executions', { cause: `quota:${quota.quota_policy_id}` }) }, 'who waits')));
  update(first);
  return { el: h('div.pane-body.stack', h('div.row.pane-top', h('h2.pane-title.mono', { title: first.quota_policy_id }, nameOf(first))), inside), update };
}

export async function page(ctx) {
  const split = splitPage(ctx, {
    title: 'Quotas', path: '/quotas', key: ({ quota_policy_id: id }) => id, name: nameOf, row, urgent: ({ waiting }) => waiting?.n > 0, pane, find: (id) => get(p`/quotas/${id}`, {}, ctx),
    none: () => empty({ says: 'A quota says how many may start in a window and how many may run at once. There is none yet.', command: `curl '${v1('/quotas')}' -H 'Content-Type: application/json' -d '{"max_requests_per_window":60,"window_seconds":60}'` }),
  });
  const read = newest(() => get('/quotas', { namespace: ctx.ns, limit: PAGE }, ctx), ({ items }) => split.show(items.filter(({ state }) => state !== 'deleted').sort(worst)));
  again(ctx, read);
  await read();
}
